/* The engines of this service: every adapter with what the configuration says about it. Built once
 * at start, immutable, shared by all threads. The catalog, the price of an agent and the choice of
 * a fallback read it; a call opens its sessions through it.
 *
 *   vendor/ adapters (tables)  +  configuration  ->  registry  ->  catalog, calls
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "engine/breaker.h"
#include "engine/embed.h"
#include "engine/llm.h"
#include "engine/stt.h"
#include "engine/tts.h"

struct arena;
struct buf;
struct catalog;
struct config;

enum engine_kind { ENGINE_STT, ENGINE_TTS, ENGINE_LLM, ENGINE_EMBED, ENGINE_KIND_COUNT };
enum { ENGINE_CALL_KINDS = ENGINE_EMBED }; /* those of which a call has one each stand first */

struct engine_voice {
    const char *id, *name, *gender; /* female, male, neutral */
    const char *languages;          /* ISO codes, space between */
    const char *description;
};

struct engine_range {
    double min, max;
};

/* What the catalog shows of an engine. Texts live as long as the registry. */
struct engine_info {
    enum engine_kind kind;
    const char *id, *label;
    const char *languages; /* ISO codes, space between; "*": any */
    bool is_multilingual;  /* may serve calls in any catalog language (language rule 3) */
    bool is_enabled;
    bool is_embedded;  /* computes on this machine: so many calls at once (voice.sessions) */
    bool is_default;   /* of its kind */
    bool is_internal;  /* for tests and benchmarks: shown only when it is on */
    int64_t cost_usd4; /* USD 0.0001 a minute */
    const char *const *models; /* LLM, TTS: first is the default; may be empty */
    size_t model_count;
    const struct engine_voice *voices; /* TTS: first is the default */
    size_t voice_count;
    struct engine_range temperature, max_tokens; /* LLM */
    double standard_temperature;
    int standard_max_tokens;
    int64_t context_tokens;            /* LLM: what a request and its answer may hold together */
    struct engine_range speed, volume; /* TTS; min == max: no control */
    const char *emotions;              /* TTS: names, space between */
};

/* The functions of one adapter: the member of its kind is set, the others are NULL. */
struct engine_ops {
    const struct stt_ops *stt;
    const struct tts_ops *tts;
    const struct llm_ops *llm;
    const struct embed_ops *embed;
};

struct engine {
    struct engine_info info;
    struct engine_ops ops;   /* all NULL: this build has no such adapter (never enabled) */
    void *state;             /* of the adapter: what it read from the configuration */
    struct breaker *breaker; /* the one thing in it that changes */
};

/* One adapter: the standard of its catalog row, and how it reads its settings. A row without
 * functions is shown, disabled. */
struct engine_adapter {
    struct engine_info info;
    struct engine_ops ops;
    /* Reads [engine.<id>] and makes the state that the sessions share; false: not configured, or
     * the machine lacks what it needs: it stays off. NULL: on whenever it has ops. */
    bool (*configure)(void *env, const struct config *config, const struct engine_info *info,
                      void **out_state);
    void (*unconfigure)(void *state);
};

struct registry;

/* env is handed to the adapters' configure(). ERR_INVALID: a bad value of an engine's setting. */
enum err registry_new(const struct config *config, const struct engine_adapter *adapters,
                      size_t count, void *env, struct registry **out, struct fault *fault) MUST_USE;
void registry_free(struct registry *registry);
DEFINE_AUTO(registry)

/* NULL: no such engine. A disabled one is found: look at info.is_enabled. Models share one name
 * space with providers: an LLM is found by its provider id. */
const struct engine *registry_find(const struct registry *registry, enum engine_kind kind,
                                   const char *id);

/* The i-th engine of a kind in the order of the catalog, NULL after the last. */
const struct engine_info *registry_at(const struct registry *registry, enum engine_kind kind,
                                      size_t index);
const struct engine_info *registry_default(const struct registry *registry, enum engine_kind kind);

/* Appends the ids of the engines that are left out now (breaker.h), spaces between. */
void registry_left_out(const struct registry *registry, int64_t now_us, struct buf *out);

/* Engines, models and voices of the catalog; texts live as long as the registry. */
void registry_catalog(const struct registry *registry, struct catalog *catalog,
                      struct arena *arena);

bool engine_speaks(const struct engine_info *info, const char *iso);
/* Is the speaker one of the engine's own? "", its default, is. */
bool engine_has_voice(const struct engine_info *info, const char *speaker);
/* The engine to use for a language when `id` will not do (off, failed, left out, or it does not
 * list the language): the default if it can, else the first enabled one that can, never `id`
 * itself; NULL: none. One that is left out (breaker.h) is taken only when there is no other. */
const struct engine_info *registry_fallback(const struct registry *registry, enum engine_kind kind,
                                            const char *iso, const char *id);
