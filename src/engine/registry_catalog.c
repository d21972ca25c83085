/* The rows of the catalog that engines fill. */
#include <string.h>

#include "base/arena.h"
#include "base/enum.h"
#include "engine/registry.h"
#include "model/catalog.h"

static struct text_list words_of(const char *text, struct arena *arena)
{
    struct text_list list = {0};
    if (strcmp(text, "*") == 0)
        return list;
    list.items = arena_new_n(arena, const char *, strlen(text) / 2 + 1);
    for (const char *at = text; *at;) {
        size_t len = strcspn(at, " ");
        if (len)
            list.items[list.count++] = arena_strndup(arena, at, len);
        at += len + strspn(at + len, " ");
    }
    return list;
}

static size_t count_of(const struct registry *registry, enum engine_kind kind)
{
    size_t count = 0;
    while (registry_at(registry, kind, count))
        count++;
    return count;
}

static void fill_stt(const struct registry *registry, struct catalog *catalog, struct arena *arena)
{
    size_t count = count_of(registry, ENGINE_STT);
    catalog->stt.items = arena_new_n(arena, struct catalog_stt, count);
    catalog->stt.count = count;
    for (size_t i = 0; i < count; i++) {
        const struct engine_info *info = registry_at(registry, ENGINE_STT, i);
        catalog->stt.items[i] = (struct catalog_stt){
            .id = info->id,
            .label = info->label,
            .languages = words_of(info->languages, arena),
            .is_multilingual = info->is_multilingual,
            .cost_per_minute_usd4 = info->cost_usd4,
            .is_default = info->is_default,
            .is_enabled = info->is_enabled,
        };
    }
}

static void fill_tts(const struct registry *registry, struct catalog *catalog, struct arena *arena)
{
    size_t count = count_of(registry, ENGINE_TTS);
    catalog->tts.items = arena_new_n(arena, struct catalog_tts, count);
    catalog->tts.count = count;
    for (size_t i = 0; i < count; i++) {
        const struct engine_info *info = registry_at(registry, ENGINE_TTS, i);
        catalog->tts.items[i] = (struct catalog_tts){
            .id = info->id,
            .label = info->label,
            .languages = words_of(info->languages, arena),
            .is_multilingual = info->is_multilingual,
            .cost_per_minute_usd4 = info->cost_usd4,
            .speed = {info->speed.min, info->speed.max},
            .volume = {info->volume.min, info->volume.max},
            .emotions = words_of(info->emotions ? info->emotions : "", arena),
            .default_speaker = info->voice_count ? info->voices[0].id : "",
            .is_default = info->is_default,
            .is_enabled = info->is_enabled,
        };
    }
}

static enum voice_gender gender_of(const char *name)
{
    int gender = enum_find(voice_gender_names, VOICE_GENDER_COUNT, name);
    return gender < 0 ? VOICE_NEUTRAL : (enum voice_gender)gender;
}

static void fill_voices(const struct registry *registry, struct catalog *catalog,
                        struct arena *arena)
{
    size_t count = 0;
    const struct engine_info *info;
    for (size_t i = 0; (info = registry_at(registry, ENGINE_TTS, i)); i++)
        count += info->is_enabled ? info->voice_count : 0;
    catalog->voices.items = arena_new_n(arena, struct catalog_voice, count);
    for (size_t i = 0; (info = registry_at(registry, ENGINE_TTS, i)); i++)
        for (size_t k = 0; info->is_enabled && k < info->voice_count; k++) {
            const struct engine_voice *voice = &info->voices[k];
            catalog->voices.items[catalog->voices.count++] = (struct catalog_voice){
                .id = voice->id,
                .provider = info->id,
                .name = voice->name,
                .gender = gender_of(voice->gender),
                .languages = words_of(voice->languages, arena),
                .description = voice->description,
            };
        }
}

static struct catalog_model model_of(const struct engine_info *info, size_t k, struct arena *arena)
{
    const char *id = info->models[k];
    bool is_alone = info->model_count == 1;
    return (struct catalog_model){
        .id = id,
        .provider = info->id,
        .label = is_alone ? info->label : arena_printf(arena, "%s %s", info->label, id),
        .temperature = {info->temperature.min, info->temperature.max},
        .max_tokens = {(int64_t)info->max_tokens.min, (int64_t)info->max_tokens.max},
        .context_tokens = info->context_tokens,
        .standard_temperature = info->standard_temperature,
        .standard_max_tokens = info->standard_max_tokens,
        .cost_per_minute_usd4 = info->cost_usd4,
        .is_default = info->is_default && k == 0,
        .is_enabled = info->is_enabled,
    };
}

static void fill_models(const struct registry *registry, struct catalog *catalog,
                        struct arena *arena)
{
    size_t count = 0;
    const struct engine_info *info;
    for (size_t i = 0; (info = registry_at(registry, ENGINE_LLM, i)); i++)
        count += info->model_count;
    catalog->models.items = arena_new_n(arena, struct catalog_model, count);
    for (size_t i = 0; (info = registry_at(registry, ENGINE_LLM, i)); i++)
        for (size_t k = 0; k < info->model_count; k++)
            catalog->models.items[catalog->models.count++] = model_of(info, k, arena);
}

void registry_catalog(const struct registry *registry, struct catalog *catalog, struct arena *arena)
{
    fill_stt(registry, catalog, arena);
    fill_tts(registry, catalog, arena);
    fill_voices(registry, catalog, arena);
    fill_models(registry, catalog, arena);
}
