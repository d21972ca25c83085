/* What the operator has switched on: languages, engines, models, voices, plans. app_parts.c
 * builds it once from the settings and the engine registry; it never changes after. Thread: any. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/field.h"
#include "model/language.h"

struct real_range {
    double min, max;
};
struct int_range {
    int64_t min, max;
};

struct catalog_language {
    const char *id, *label, *iso;
    const char *sample; /* sampleText */
    bool is_default, is_enabled;
};
struct catalog_language_list LIST_OF(struct catalog_language);

struct catalog_tts {
    const char *id, *label;
    struct text_list languages; /* iso codes; empty: all */
    bool is_multilingual;       /* <ENGINE_A> of language rule 3 */
    int64_t cost_per_minute_usd4;
    struct real_range speed, volume;
    struct text_list emotions;
    const char *default_speaker; /* not shown */
    bool is_default, is_enabled;
};
struct catalog_tts_list LIST_OF(struct catalog_tts);

struct catalog_stt {
    const char *id, *label;
    struct text_list languages; /* iso codes; empty: all */
    bool is_multilingual;       /* <ENGINE_B> */
    int64_t cost_per_minute_usd4;
    bool is_default, is_enabled;
};
struct catalog_stt_list LIST_OF(struct catalog_stt);

struct catalog_model {
    const char *id, *provider, *label;
    struct real_range temperature;
    struct int_range max_tokens;
    int64_t context_tokens;
    double standard_temperature; /* not shown */
    int64_t standard_max_tokens; /* not shown */
    int64_t cost_per_minute_usd4;
    bool is_default, is_enabled;
};
struct catalog_model_list LIST_OF(struct catalog_model);

enum voice_gender { VOICE_FEMALE, VOICE_MALE, VOICE_NEUTRAL, VOICE_GENDER_COUNT };
extern const char *const voice_gender_names[VOICE_GENDER_COUNT];

struct catalog_voice {
    const char *id, *provider, *name;
    enum voice_gender gender;
    struct text_list languages; /* iso codes */
    const char *description;
};
struct catalog_voice_list LIST_OF(struct catalog_voice);

struct catalog_system_tool {
    const char *id, *description;
};
struct catalog_system_tool_list LIST_OF(struct catalog_system_tool);

struct catalog_plan {
    const char *id, *label;
    int64_t cost_per_minute_usd4; /* the platform rate */
    int64_t max_concurrent_calls;
};
struct catalog_plan_list LIST_OF(struct catalog_plan);

struct catalog_defaults {
    const char *agent_instruction, *greeting_instruction;
};

struct catalog {
    struct catalog_language_list languages;
    struct catalog_tts_list tts;
    struct catalog_model_list models;
    struct catalog_stt_list stt;
    struct catalog_voice_list voices;
    struct catalog_system_tool_list system_tools;
    struct catalog_plan_list plans;
    struct catalog_defaults defaults;
};
extern const struct field_table catalog_table, catalog_defaults_table, catalog_voice_table;

/* The parts that need no engine: languages (disabled: comma-separated ids), system tools, plans,
 * defaults. Engines, models and voices are left empty for the registry to fill. Texts in the
 * arena. */
void catalog_init(struct catalog *catalog, const char *default_language, const char *disabled,
                  struct arena *arena);

/* Once engines and voices are filled in: sees to it that a new agent hears and speaks the default
 * language, by another default engine or speaker where the first of them cannot. asked_stt,
 * asked_tts: what the operator has made the default, which is not replaced; NULL: nothing.
 * ERR_INVALID: it cannot be, and the fault says why. */
enum err catalog_settle_defaults(struct catalog *catalog, const char *asked_stt,
                                 const char *asked_tts, struct fault *fault) MUST_USE;
/* Is every id of the comma-separated list a language? ERR_INVALID: the first that is none. */
enum err catalog_check_languages(const char *list, struct fault *fault) MUST_USE;

const struct catalog_language *catalog_language(const struct catalog *catalog, const char *id);
/* An id wins over an iso code; only enabled entries. NULL: not listed. */
const struct catalog_language *catalog_language_named(const struct catalog *catalog,
                                                      const char *name);
const struct catalog_language *catalog_default_language(const struct catalog *catalog);
const struct catalog_tts *catalog_tts(const struct catalog *catalog, const char *id);
const struct catalog_stt *catalog_stt(const struct catalog *catalog, const char *id);
const struct catalog_model *catalog_model(const struct catalog *catalog, const char *provider,
                                          const char *id);
const struct catalog_plan *catalog_plan(const struct catalog *catalog, const char *id);
/* The one marked default, else the first that is enabled, else the first; NULL: empty list. */
const struct catalog_tts *catalog_default_tts(const struct catalog *catalog);
const struct catalog_stt *catalog_default_stt(const struct catalog *catalog);
const struct catalog_model *catalog_default_model(const struct catalog *catalog,
                                                  const char *provider);
/* Does an engine's list (iso codes, empty: all) name the iso code? */
bool catalog_speaks(const struct text_list *languages, const char *iso);
