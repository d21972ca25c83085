/* What a new agent gets must be able to hold a conversation in the default language. */
#include <string.h>

#include "model/catalog.h"

enum err catalog_check_languages(const char *list, struct fault *fault)
{
    for (const char *at = list; *at;) {
        char id[32] = "";
        size_t len = strcspn(at, ", ");
        if (len < sizeof(id))
            memcpy(id, at, len);
        if (len > 0 && !language_by_id(id))
            return fault_set(fault, ERR_INVALID, "there is no language '%.*s'", (int)MIN(len, 40),
                             at);
        at += len + strspn(at + len, ", ");
    }
    return OK;
}

/* The engine that is to be the default: the present one if it can, else the first that can, unless
 * the present one was asked for. NULL: none. Where none is on, no call can be held anyhow. */
#define DEFINE_SETTLE(name, type, list)                                                            \
    static struct type *choose_##name(struct catalog *catalog, const char *iso, bool is_asked)     \
    {                                                                                              \
        struct type *first = NULL;                                                                 \
        for (size_t i = 0; i < catalog->list.count; i++) {                                         \
            struct type *entry = &catalog->list.items[i];                                          \
            bool can = entry->is_enabled && catalog_speaks(&entry->languages, iso);                \
            if (entry->is_default && (can || is_asked))                                            \
                return can ? entry : NULL;                                                         \
            if (!first && can)                                                                     \
                first = entry;                                                                     \
        }                                                                                          \
        return first;                                                                              \
    }                                                                                              \
    static bool settle_##name(struct catalog *catalog, const char *iso, bool is_asked)             \
    {                                                                                              \
        struct type *chosen = choose_##name(catalog, iso, is_asked);                               \
        bool is_any_on = false;                                                                    \
        for (size_t i = 0; i < catalog->list.count; i++) {                                         \
            struct type *entry = &catalog->list.items[i];                                          \
            is_any_on |= entry->is_enabled;                                                        \
            entry->is_default = chosen ? entry == chosen : entry->is_default;                      \
        }                                                                                          \
        return chosen || !is_any_on;                                                               \
    }
DEFINE_SETTLE(stt, catalog_stt, stt)
DEFINE_SETTLE(tts, catalog_tts, tts)

/* An engine's first voice that speaks it; one without a list of voices takes any name. */
static bool settle_speaker(struct catalog *catalog, const char *iso)
{
    bool has_voices = false;
    for (size_t i = 0; i < catalog->tts.count; i++) {
        struct catalog_tts *tts = &catalog->tts.items[i];
        if (!tts->is_default)
            continue;
        for (size_t k = 0; k < catalog->voices.count; k++) {
            const struct catalog_voice *voice = &catalog->voices.items[k];
            if (strcmp(voice->provider, tts->id) != 0)
                continue;
            has_voices = true;
            if (!catalog_speaks(&voice->languages, iso))
                continue;
            tts->default_speaker = voice->id;
            return true;
        }
    }
    return !has_voices;
}

enum err catalog_settle_defaults(struct catalog *catalog, const char *asked_stt,
                                 const char *asked_tts, struct fault *fault)
{
    static const char *const asked = "the engine that is made the default (engine.*.default)";
    const struct catalog_language *language = NULL;
    for (size_t i = 0; i < catalog->languages.count; i++)
        if (catalog->languages.items[i].is_default)
            language = &catalog->languages.items[i];
    if (!language)
        return fault_set(fault, ERR_INVALID, "catalog.default_language is no language");
    if (!language->is_enabled)
        return fault_set(fault, ERR_INVALID,
                         "catalog.default_language: '%s' is switched off (disabled_languages)",
                         language->id);
    if (!settle_stt(catalog, language->iso, asked_stt != NULL))
        return fault_set(fault, ERR_INVALID, "catalog.default_language: '%s' is not heard by %s",
                         language->id,
                         asked_stt ? asked : "any transcription engine that is switched on");
    if (!settle_tts(catalog, language->iso, asked_tts != NULL) ||
        !settle_speaker(catalog, language->iso))
        return fault_set(fault, ERR_INVALID, "catalog.default_language: '%s' is not spoken by %s",
                         language->id, asked_tts ? asked : "any voice engine that is switched on");
    return OK;
}
