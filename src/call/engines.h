/* The engines of one call: which ones the agent names, what stands in for those that are off or
 * fail, and the open sessions. Thread: the call's loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/err.h"
#include "engine/registry.h"

struct call_plan;
struct loop;

enum {
    ENGINES_TRIED_MAX = 4,
    ENGINES_HEARD_MAX = 4, /* the call's language, the agent's, English, the one changed to */
    ENGINES_ISO_SIZE = 8,
};

struct engine_choice {
    const struct engine_info *info;       /* in use */
    const char *tried[ENGINES_TRIED_MAX]; /* ids, the one in use included */
    size_t tried_count;
    bool has_failed;  /* one of them, in this call */
    bool is_replaced; /* not the one the agent names, from the start */
};

struct engines {
    const struct registry *registry;
    struct loop *loop;
    char iso[ENGINES_ISO_SIZE];                      /* of the call */
    char heard[ENGINES_HEARD_MAX][ENGINES_ISO_SIZE]; /* listened for; first the one spoken */
    size_t heard_count;
    struct engine_choice choice[ENGINE_CALL_KINDS];
    const struct engine *opened[ENGINE_CALL_KINDS];
    bool is_failing[ENGINE_CALL_KINDS]; /* the breaker knows of this call's failure */
    bool has_told[ENGINE_CALL_KINDS];   /* the engine itself said what failed, counted or not */
    struct stt *stt;
    struct llm *llm;
    struct tts *tts;
    struct stt_config stt_config;
    const char *hints[ENGINES_HEARD_MAX];
    struct tts_config tts_config;
    const char *model; /* of the LLM that the agent names */
    const char *workspace;
    const char *vocabulary, *words; /* in the agent's own words, set by the owner; may be NULL */
    bool is_ahead;                  /* what is opened is asked later: set by the owner */
    stt_event_fn *on_stt;
    llm_event_fn *on_llm;
    tts_event_fn *on_tts;
    void *arg;
};

/* Chooses; opens nothing. The plan and what it points to are borrowed for the engines' life.
 * ERR_UNSUPPORTED: no engine of a kind can serve the call's language. */
enum err engines_choose(struct engines *engines, const struct registry *registry,
                        const struct call_plan *plan, struct fault *fault) MUST_USE;
/* Opens, or closes and opens again; is_fallback: the next one that can serve the call. */
void engines_open(struct engines *engines, enum engine_kind kind, bool is_fallback);
/* The one that the agent names: its model, speaker and delivery mean something there. */
bool engine_choice_is_named(const struct engine_choice *choice);
bool engines_has_more(const struct engines *engines, enum engine_kind kind);
/* Is there a voice and a recogniser for both languages of changeLanguage? */
bool engines_can_change_language(const struct engines *engines);
/* From now on another language (changeLanguage); voice and recognition are opened again. Those
 * listened for so far stay among the hints. */
void engines_change_language(struct engines *engines, const char *iso);
void engines_close(struct engines *engines);
