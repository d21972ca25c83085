/* The catalog's fields and look-ups; which engines stand in it is the registry's business. */
#include "model/catalog.h"

#include <string.h>

const char *const voice_gender_names[VOICE_GENDER_COUNT] = {"female", "male", "neutral"};

static const struct field language_rows[] = {
    ROW_TEXT(struct catalog_language, id, "id", .about = "The value to send.", .example = "\"en\""),
    ROW_TEXT(struct catalog_language, label, "label"),
    ROW_TEXT(struct catalog_language, iso, "iso"),
    ROW_TEXT(struct catalog_language, sample, "sampleText",
             .about = "A sentence to hear a voice with."),
    ROW_BOOL(struct catalog_language, is_default, "default", .flags = FIELD_OMIT_EMPTY),
    ROW_BOOL(struct catalog_language, is_enabled, "enabled"),
};
static FIELD_TABLE(catalog_language_table, struct catalog_language, "CatalogLanguage",
                   language_rows);

static const struct field real_range_rows[] = {
    ROW_REAL(struct real_range, min, "min"),
    ROW_REAL(struct real_range, max, "max"),
};
static FIELD_TABLE(real_range_table, struct real_range, "NumberRange", real_range_rows);

static const struct field int_range_rows[] = {
    ROW_INT(struct int_range, min, "min"),
    ROW_INT(struct int_range, max, "max"),
};
static FIELD_TABLE(int_range_table, struct int_range, "IntegerRange", int_range_rows);

static const struct field tts_rows[] = {
    ROW_TEXT(struct catalog_tts, id, "id"),
    ROW_TEXT(struct catalog_tts, label, "label"),
    ROW_TEXTS(struct catalog_tts, languages, "languages",
              .about = "ISO codes that it speaks; empty: any."),
    ROW_BOOL(struct catalog_tts, is_multilingual, "multilingual",
             .about = "May speak any language of the catalog in a call."),
    ROW_MONEY(struct catalog_tts, cost_per_minute_usd4, "costPerMinute"),
    ROW_OBJECT(struct catalog_tts, speed, "speed", struct real_range, &real_range_table),
    ROW_OBJECT(struct catalog_tts, volume, "volume", struct real_range, &real_range_table),
    ROW_TEXTS(struct catalog_tts, emotions, "emotions"),
    ROW_BOOL(struct catalog_tts, is_default, "default", .flags = FIELD_OMIT_EMPTY),
    ROW_BOOL(struct catalog_tts, is_enabled, "enabled"),
};
static FIELD_TABLE(tts_table, struct catalog_tts, "CatalogTtsProvider", tts_rows);

static const struct field stt_rows[] = {
    ROW_TEXT(struct catalog_stt, id, "id"),
    ROW_TEXT(struct catalog_stt, label, "label"),
    ROW_TEXTS(struct catalog_stt, languages, "languages",
              .about = "ISO codes that it transcribes; empty: any."),
    ROW_BOOL(struct catalog_stt, is_multilingual, "multilingual",
             .about = "May listen for any language of the catalog in a call."),
    ROW_MONEY(struct catalog_stt, cost_per_minute_usd4, "costPerMinute"),
    ROW_BOOL(struct catalog_stt, is_default, "default", .flags = FIELD_OMIT_EMPTY),
    ROW_BOOL(struct catalog_stt, is_enabled, "enabled"),
};
static FIELD_TABLE(stt_table, struct catalog_stt, "CatalogSttProvider", stt_rows);

static const struct field model_rows[] = {
    ROW_TEXT(struct catalog_model, id, "id"),
    ROW_TEXT(struct catalog_model, provider, "provider"),
    ROW_TEXT(struct catalog_model, label, "label"),
    ROW_OBJECT(struct catalog_model, temperature, "temperature", struct real_range,
               &real_range_table),
    ROW_OBJECT(struct catalog_model, max_tokens, "maxTokens", struct int_range, &int_range_table),
    ROW_INT(struct catalog_model, context_tokens, "contextTokens",
            .about = "What a request and its answer may hold together; what was said first is left "
                     "out of longer ones."),
    ROW_MONEY(struct catalog_model, cost_per_minute_usd4, "costPerMinute"),
    ROW_BOOL(struct catalog_model, is_default, "default", .flags = FIELD_OMIT_EMPTY),
    ROW_BOOL(struct catalog_model, is_enabled, "enabled"),
};
static FIELD_TABLE(model_table, struct catalog_model, "CatalogModel", model_rows);

static const struct field voice_rows[] = {
    ROW_TEXT(struct catalog_voice, id, "id"),
    ROW_TEXT(struct catalog_voice, provider, "provider"),
    ROW_TEXT(struct catalog_voice, name, "name"),
    ROW_ENUM(struct catalog_voice, gender, "gender", enum voice_gender, voice_gender_names),
    ROW_TEXTS(struct catalog_voice, languages, "languages", .about = "ISO codes."),
    ROW_TEXT(struct catalog_voice, description, "description"),
};
FIELD_TABLE(catalog_voice_table, struct catalog_voice, "Voice", voice_rows);

static const struct field system_tool_rows[] = {
    ROW_TEXT(struct catalog_system_tool, id, "id"),
    ROW_TEXT(struct catalog_system_tool, description, "description"),
};
static FIELD_TABLE(system_tool_table, struct catalog_system_tool, "CatalogSystemTool",
                   system_tool_rows);

static const struct field plan_rows[] = {
    ROW_TEXT(struct catalog_plan, id, "id"),
    ROW_TEXT(struct catalog_plan, label, "label"),
    ROW_MONEY(struct catalog_plan, cost_per_minute_usd4, "costPerMinute",
              .about = "The platform's own rate; the engines' come on top."),
    ROW_INT(struct catalog_plan, max_concurrent_calls, "maxConcurrentCalls"),
};
static FIELD_TABLE(plan_table, struct catalog_plan, "CatalogPlan", plan_rows);

static const struct field catalog_rows[] = {
    ROW_OBJECTS(struct catalog, languages, "languages", struct catalog_language_list,
                &catalog_language_table),
    ROW_OBJECTS(struct catalog, tts, "ttsProviders", struct catalog_tts_list, &tts_table),
    ROW_OBJECTS(struct catalog, models, "llmModels", struct catalog_model_list, &model_table),
    ROW_OBJECTS(struct catalog, stt, "sttProviders", struct catalog_stt_list, &stt_table),
    ROW_OBJECTS(struct catalog, voices, "voices", struct catalog_voice_list, &catalog_voice_table),
    ROW_OBJECTS(struct catalog, system_tools, "systemTools", struct catalog_system_tool_list,
                &system_tool_table),
    ROW_OBJECTS(struct catalog, plans, "plans", struct catalog_plan_list, &plan_table),
};
FIELD_TABLE(catalog_table, struct catalog, "Catalog", catalog_rows);

static const struct field defaults_rows[] = {
    ROW_TEXT(struct catalog_defaults, agent_instruction, "agentInstruction"),
    ROW_TEXT(struct catalog_defaults, greeting_instruction, "greetingInstruction"),
};
FIELD_TABLE(catalog_defaults_table, struct catalog_defaults, "CatalogDefaults", defaults_rows);

static struct catalog_system_tool system_tools[] = {
    {"endCall", "The agent may hang up when the conversation is finished."},
    {"changeLanguage", "The agent may switch between Hindi and English when the caller does."},
};
/* Rates are 0.0001 USD a minute. */
static struct catalog_plan plans[] = {
    {"free", "Free", 0, 2},
    {"standard", "Standard", 200, 20},
    {"scale", "Scale", 100, 200},
};
static const struct catalog_defaults defaults = {
    .agent_instruction =
        "You are a friendly assistant who talks with people on the phone. Keep answers short and "
        "plain, ask one question at a time, and say so when you do not know something.",
    .greeting_instruction =
        "Greet the caller warmly in one short sentence and ask how you can help.",
};

/* Is `id` an entry of a comma-separated list? */
static bool is_in_list(const char *list, const char *id)
{
    size_t id_len = strlen(id);
    for (const char *p = list; *p;) {
        p += strspn(p, ", ");
        size_t len = strcspn(p, ", ");
        if (len == id_len && strncmp(p, id, len) == 0)
            return true;
        p += len;
    }
    return false;
}

void catalog_init(struct catalog *catalog, const char *default_language, const char *disabled,
                  struct arena *arena)
{
    field_defaults(&catalog_table, catalog);
    catalog->languages.items = arena_new_n(arena, struct catalog_language, language_count);
    catalog->languages.count = language_count;
    for (size_t i = 0; i < language_count; i++) {
        const struct language *language = &language_table[i];
        catalog->languages.items[i] = (struct catalog_language){
            .id = language->id,
            .label = language->label,
            .iso = language->iso,
            .sample = language->sample,
            .is_default = strcmp(language->id, default_language) == 0,
            .is_enabled = !is_in_list(disabled, language->id),
        };
    }
    catalog->system_tools =
        (struct catalog_system_tool_list){system_tools, ARRAY_LEN(system_tools)};
    catalog->plans = (struct catalog_plan_list){plans, ARRAY_LEN(plans)};
    catalog->defaults = defaults;
}

const struct catalog_language *catalog_language(const struct catalog *catalog, const char *id)
{
    for (size_t i = 0; i < catalog->languages.count; i++)
        if (strcmp(catalog->languages.items[i].id, id) == 0)
            return &catalog->languages.items[i];
    return NULL;
}

const struct catalog_language *catalog_language_named(const struct catalog *catalog,
                                                      const char *name)
{
    const struct catalog_language *found = catalog_language(catalog, name);
    for (size_t i = 0; !found && i < catalog->languages.count; i++)
        if (strcmp(catalog->languages.items[i].iso, name) == 0)
            found = &catalog->languages.items[i];
    return found && found->is_enabled ? found : NULL;
}

const struct catalog_language *catalog_default_language(const struct catalog *catalog)
{
    for (size_t i = 0; i < catalog->languages.count; i++)
        if (catalog->languages.items[i].is_default)
            return &catalog->languages.items[i];
    return catalog->languages.items;
}

#define DEFINE_FIND(name, list, type)                                                              \
    const struct type *name(const struct catalog *catalog, const char *id)                         \
    {                                                                                              \
        for (size_t i = 0; i < catalog->list.count; i++)                                           \
            if (strcmp(catalog->list.items[i].id, id) == 0)                                        \
                return &catalog->list.items[i];                                                    \
        return NULL;                                                                               \
    }
DEFINE_FIND(catalog_tts, tts, catalog_tts)
DEFINE_FIND(catalog_stt, stt, catalog_stt)
DEFINE_FIND(catalog_plan, plans, catalog_plan)

const struct catalog_model *catalog_model(const struct catalog *catalog, const char *provider,
                                          const char *id)
{
    for (size_t i = 0; i < catalog->models.count; i++)
        if (strcmp(catalog->models.items[i].id, id) == 0 &&
            strcmp(catalog->models.items[i].provider, provider) == 0)
            return &catalog->models.items[i];
    return NULL;
}

#define DEFINE_DEFAULT(name, list, type)                                                           \
    const struct type *name(const struct catalog *catalog)                                         \
    {                                                                                              \
        const struct type *enabled = NULL;                                                         \
        for (size_t i = 0; i < catalog->list.count; i++) {                                         \
            const struct type *entry = &catalog->list.items[i];                                    \
            if (entry->is_default)                                                                 \
                return entry;                                                                      \
            if (!enabled && entry->is_enabled)                                                     \
                enabled = entry;                                                                   \
        }                                                                                          \
        return enabled ? enabled : catalog->list.items;                                            \
    }
DEFINE_DEFAULT(catalog_default_tts, tts, catalog_tts)
DEFINE_DEFAULT(catalog_default_stt, stt, catalog_stt)

const struct catalog_model *catalog_default_model(const struct catalog *catalog,
                                                  const char *provider)
{
    const struct catalog_model *enabled = NULL, *first = NULL;
    for (size_t i = 0; i < catalog->models.count; i++) {
        const struct catalog_model *model = &catalog->models.items[i];
        if (*provider && strcmp(model->provider, provider) != 0)
            continue;
        if (model->is_default)
            return model;
        if (!first)
            first = model;
        if (!enabled && model->is_enabled)
            enabled = model;
    }
    return enabled ? enabled : first;
}

bool catalog_speaks(const struct text_list *languages, const char *iso)
{
    for (size_t i = 0; i < languages->count; i++)
        if (strcmp(languages->items[i], iso) == 0)
            return true;
    return languages->count == 0;
}
