/* Reads what the configuration says of each adapter over its standard row. What is common to all
 * engines (enabled, label, languages, models, voices, price, default) is read here; addresses and
 * keys are the adapter's business. */
#include "engine/registry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/mem.h"

enum { LIST_MAX = 200, USD4 = 10000, CONTEXT_MIN = 1000, CONTEXT_MAX = 10000000 };

struct registry {
    struct arena *arena; /* texts and lists */
    const struct engine_adapter *adapters;
    size_t count;
    struct engine *engines; /* one for each adapter */
};

struct reader {
    struct registry *registry;
    const struct config *config;
    const char *id;
    struct fault *fault;
};

static const char *setting(const struct reader *reader, const char *name)
{
    return config_engine(reader->config, reader->id, name);
}

static void read_text(const struct reader *reader, const char *name, const char **out)
{
    const char *value = setting(reader, name);
    if (value && *value)
        *out = arena_strdup(reader->registry->arena, value);
}

static void read_bool(const struct reader *reader, const char *name, bool *out)
{
    const char *value = setting(reader, name);
    if (value && *value)
        *out = config_is_true(value);
}

static enum err read_cost(const struct reader *reader, int64_t *out_usd4)
{
    const char *value = setting(reader, "cost_per_minute");
    if (!value || !*value)
        return OK;
    char *end;
    double usd = strtod(value, &end);
    if (*end || !(usd >= 0 && usd < 1000))
        return fault_set(reader->fault, ERR_INVALID, "engine.%s: cost_per_minute is 0 to 1000",
                         reader->id);
    *out_usd4 = llround(usd * USD4);
    return OK;
}

/* Commas and spaces divide. */
static size_t split(struct arena *arena, const char *list, const char *out[LIST_MAX])
{
    size_t count = 0;
    for (const char *at = list; *at && count < LIST_MAX;) {
        size_t skip = strspn(at, ", \t"), len = strcspn(at + skip, ", \t");
        if (len)
            out[count++] = arena_strndup(arena, at + skip, len);
        at += skip + len;
    }
    return count;
}

static const char *joined(struct arena *arena, const char *const *items, size_t count)
{
    const char *text = "";
    for (size_t i = 0; i < count; i++)
        text = arena_printf(arena, "%s%s%s", text, i ? " " : "", items[i]);
    return text;
}

static void read_languages(const struct reader *reader, struct engine_info *info)
{
    const char *value = setting(reader, "languages"), *items[LIST_MAX];
    if (value && *value)
        info->languages =
            joined(reader->registry->arena, items, split(reader->registry->arena, value, items));
}

/* The chosen model comes first, then the list, then (without a list) the standard. */
static void read_models(const struct reader *reader, struct engine_info *info)
{
    struct arena *arena = reader->registry->arena;
    const char *chosen = setting(reader, "model"), *list = setting(reader, "models");
    const char *items[LIST_MAX], **models = arena_new_n(arena, const char *, LIST_MAX + 1);
    size_t count = 0, listed = list && *list ? split(arena, list, items) : 0;
    if (chosen && *chosen)
        models[count++] = arena_strdup(arena, chosen);
    for (size_t i = 0; i < listed; i++)
        if (count == 0 || strcmp(items[i], models[0]) != 0)
            models[count++] = items[i];
    if (count == 0)
        return;
    info->models = models;
    info->model_count = count;
}

static enum err read_context(const struct reader *reader, struct engine_info *info)
{
    const char *value = setting(reader, "context_tokens");
    if (!value || !*value)
        return OK;
    char *end;
    long long tokens = strtoll(value, &end, 10);
    if (*end || tokens < CONTEXT_MIN || tokens > CONTEXT_MAX)
        return fault_set(reader->fault, ERR_INVALID, "engine.%s: context_tokens is %d to %d",
                         reader->id, CONTEXT_MIN, CONTEXT_MAX);
    info->context_tokens = tokens;
    return OK;
}

static void read_voices(const struct reader *reader, struct engine_info *info)
{
    struct arena *arena = reader->registry->arena;
    const char *chosen = setting(reader, "voice"), *list = setting(reader, "voices");
    const char *items[LIST_MAX];
    size_t listed = list && *list ? split(arena, list, items) : 0, count = 0;
    struct engine_voice *voices =
        arena_new_n(arena, struct engine_voice, listed + info->voice_count + 1);
    for (size_t i = 0; i < listed; i++)
        voices[count++] = (struct engine_voice){items[i], items[i], "neutral", info->languages, ""};
    for (size_t i = 0; listed == 0 && i < info->voice_count; i++)
        voices[count++] = info->voices[i];
    for (size_t i = 0; chosen && i < count; i++) {
        if (strcmp(voices[i].id, chosen) != 0)
            continue;
        struct engine_voice first = voices[i];
        memmove(voices + 1, voices, i * sizeof(*voices));
        voices[0] = first;
    }
    info->voices = voices;
    info->voice_count = count;
}

/* On when the adapter has what it needs, unless the operator says no; asked for, it must. */
static enum err switch_on(const struct reader *reader, const struct engine_adapter *adapter,
                          void *env, struct engine *engine)
{
    struct engine_info *info = &engine->info;
    const char *wish = setting(reader, "enabled");
    bool has_ops = engine->ops.stt || engine->ops.tts || engine->ops.llm || engine->ops.embed;
    bool is_wanted = wish && *wish ? config_is_true(wish) : !adapter->info.is_internal;
    info->is_enabled = is_wanted && has_ops;
    if (info->is_enabled && adapter->configure)
        info->is_enabled = adapter->configure(env, reader->config, info, &engine->state);
    if (wish && *wish && is_wanted && !info->is_enabled)
        return fault_set(reader->fault, ERR_INVALID, "engine.%s is switched on but %s", reader->id,
                         has_ops ? "lacks what it needs" : "this build does not have it");
    return OK;
}

static enum err read_engine(const struct reader *reader, const struct engine_adapter *adapter,
                            void *env, struct engine *engine)
{
    struct engine_info *info = &engine->info;
    *engine = (struct engine){.info = adapter->info,
                              .ops = adapter->ops,
                              .breaker = arena_new_of(reader->registry->arena, struct breaker)};
    info->is_default = false;
    read_text(reader, "label", &info->label);
    read_bool(reader, "multilingual", &info->is_multilingual);
    read_bool(reader, "default", &info->is_default);
    read_languages(reader, info);
    read_models(reader, info);
    read_voices(reader, info);
    enum err err = read_cost(reader, &info->cost_usd4);
    if (!err)
        err = read_context(reader, info);
    return err ? err : switch_on(reader, adapter, env, engine);
}

/* One default of each kind that has an enabled engine: the one asked for, else the first. */
static void choose_defaults(struct registry *registry)
{
    for (enum engine_kind kind = 0; kind < ENGINE_KIND_COUNT; kind++) {
        struct engine_info *chosen = NULL;
        for (size_t i = 0; i < registry->count; i++) {
            struct engine_info *info = &registry->engines[i].info;
            bool is_better = !chosen || (info->is_default && !chosen->is_default);
            if (info->kind == kind && info->is_enabled && is_better)
                chosen = info;
        }
        for (size_t i = 0; i < registry->count; i++)
            if (registry->engines[i].info.kind == kind)
                registry->engines[i].info.is_default = &registry->engines[i].info == chosen;
    }
}

enum err registry_new(const struct config *config, const struct engine_adapter *adapters,
                      size_t count, void *env, struct registry **out, struct fault *fault)
{
    AUTO(registry) registry = mem_new(struct registry);
    registry->arena = arena_new(0);
    const char **ids = arena_new_n(registry->arena, const char *, count);
    for (size_t i = 0; i < count; i++)
        ids[i] = adapters[i].info.id;
    enum err unknown = config_check_engines(config, ids, count, fault);
    if (unknown)
        return unknown;
    registry->adapters = adapters;
    registry->engines = arena_new_n(registry->arena, struct engine, count);
    for (size_t i = 0; i < count; i++) {
        struct reader reader = {registry, config, adapters[i].info.id, fault};
        registry->count = i + 1;
        enum err err = read_engine(&reader, &adapters[i], env, &registry->engines[i]);
        if (err)
            return err;
    }
    choose_defaults(registry);
    *out = TAKE(registry);
    return OK;
}

void registry_free(struct registry *registry)
{
    if (!registry)
        return;
    for (size_t i = 0; i < registry->count; i++)
        if (registry->engines[i].state && registry->adapters[i].unconfigure)
            registry->adapters[i].unconfigure(registry->engines[i].state);
    arena_free(registry->arena);
    mem_free(registry);
}

const struct engine *registry_find(const struct registry *registry, enum engine_kind kind,
                                   const char *id)
{
    for (size_t i = 0; i < registry->count; i++) {
        const struct engine *engine = &registry->engines[i];
        if (engine->info.kind == kind && strcmp(engine->info.id, id) == 0)
            return engine;
    }
    return NULL;
}

static bool is_shown(const struct engine_info *info)
{
    return !info->is_internal || info->is_enabled;
}

const struct engine_info *registry_at(const struct registry *registry, enum engine_kind kind,
                                      size_t index)
{
    for (size_t i = 0; i < registry->count; i++) {
        const struct engine_info *info = &registry->engines[i].info;
        if (info->kind == kind && is_shown(info) && index-- == 0)
            return info;
    }
    return NULL;
}

const struct engine_info *registry_default(const struct registry *registry, enum engine_kind kind)
{
    for (size_t i = 0; i < registry->count; i++)
        if (registry->engines[i].info.kind == kind && registry->engines[i].info.is_default)
            return &registry->engines[i].info;
    return NULL;
}

bool engine_has_voice(const struct engine_info *info, const char *speaker)
{
    for (size_t i = 0; i < info->voice_count; i++)
        if (strcmp(info->voices[i].id, speaker) == 0)
            return true;
    return *speaker == '\0';
}

bool engine_speaks(const struct engine_info *info, const char *iso)
{
    if (strcmp(info->languages, "*") == 0)
        return true;
    size_t len = strlen(iso);
    for (const char *at = info->languages; *at;) {
        size_t word = strcspn(at, " ");
        if (word == len && strncmp(at, iso, len) == 0)
            return true;
        at += word + strspn(at + word, " ");
    }
    return false;
}

static bool is_left_out(const struct registry *registry, size_t i)
{
    return breaker_is_open(registry->engines[i].breaker, NULL, clock_now_us());
}

const struct engine_info *registry_fallback(const struct registry *registry, enum engine_kind kind,
                                            const char *iso, const char *id)
{
    const struct engine_info *chosen = NULL, *left_out = NULL;
    for (size_t i = 0; i < registry->count; i++) {
        const struct engine_info *info = &registry->engines[i].info;
        bool can_serve = info->kind == kind && info->is_enabled && strcmp(info->id, id) != 0 &&
                         engine_speaks(info, iso);
        const struct engine_info **place = is_left_out(registry, i) ? &left_out : &chosen;
        if (can_serve && (!*place || info->is_default))
            *place = info;
    }
    return chosen ? chosen : left_out;
}

void registry_left_out(const struct registry *registry, int64_t now_us, struct buf *out)
{
    for (size_t i = 0; i < registry->count; i++)
        if (breaker_is_open(registry->engines[i].breaker, NULL, now_us))
            (void)buf_printf(out, "%s%s", out->len ? " " : "", registry->engines[i].info.id);
}
