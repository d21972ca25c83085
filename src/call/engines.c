#include "call/engines.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "call/plan.h"
#include "model/agent.h"
#include "model/call.h"
#include "model/language.h"

/* Language rule 5: the transcriber does not take these as a hint. */
static const char *const unheard[] = {"pa", "or"};

static const char *heard_as(const char *iso)
{
    for (size_t i = 0; i < ARRAY_LEN(unheard); i++)
        if (strcmp(iso, unheard[i]) == 0)
            return "hi";
    return iso;
}

/* The language listened for first; those before it stay, after it. */
static void hear_first(struct engines *engines, const char *iso)
{
    size_t at = 0;
    iso = heard_as(iso);
    while (at < engines->heard_count && strcmp(engines->heard[at], iso) != 0)
        at++;
    if (at == engines->heard_count && engines->heard_count < ENGINES_HEARD_MAX)
        engines->heard_count++;
    at = MIN(at, (size_t)ENGINES_HEARD_MAX - 1);
    char first[ENGINES_ISO_SIZE];
    snprintf(first, sizeof(first), "%s", iso);
    memmove(engines->heard[1], engines->heard[0], at * sizeof(engines->heard[0]));
    memcpy(engines->heard[0], first, sizeof(first));
}

static void set_languages(struct engines *engines)
{
    struct stt_config *config = &engines->stt_config;
    config->language = engines->heard[0];
    config->hints = engines->hints;
    config->hint_count = engines->heard_count - 1;
    for (size_t i = 0; i < config->hint_count; i++)
        engines->hints[i] = engines->heard[i + 1];
}

/* Languages rule 2: a call in another language hears that, the agent's own, and English. */
static void listen_for(struct engines *engines, const struct call_plan *plan)
{
    const struct agent *agent = plan->agent;
    engines->heard_count = 0;
    hear_first(engines, "en");
    hear_first(engines, *agent->stt.language ? agent->stt.language : engines->iso);
    if (plan->is_language_sent)
        hear_first(engines, engines->iso);
    engines->stt_config.detect_language = agent->stt.detect_language;
    set_languages(engines);
}

static const char *language_needed(const struct engines *engines, enum engine_kind kind)
{
    return kind == ENGINE_STT ? engines->stt_config.language : engines->iso;
}

/* The call's workspace, where what it chose itself may be why the engine fails: a speaker that the
 * engine does not list. */
static const char *own_wish(const struct engines *engines, const struct engine_info *info)
{
    const char *named = engines->choice[ENGINE_TTS].tried[0];
    bool is_named = info->kind == ENGINE_TTS && (!named || strcmp(named, info->id) == 0);
    return is_named && !engine_has_voice(info, engines->tts_config.speaker) ? engines->workspace
                                                                            : NULL;
}

static enum err choose(struct engines *engines, enum engine_kind kind, const char *id,
                       struct fault *fault)
{
    static const char *const names[] = {
        [ENGINE_STT] = "speech recognition",
        [ENGINE_TTS] = "voice",
        [ENGINE_LLM] = "language model",
    };
    struct engine_choice *choice = &engines->choice[kind];
    const char *iso = language_needed(engines, kind);
    const struct engine *named = registry_find(engines->registry, kind, id);
    const struct engine_info *info = named ? &named->info : NULL;
    bool is_fit = info && info->is_enabled && engine_speaks(info, iso);
    if (!is_fit || breaker_is_open(named->breaker, own_wish(engines, info), clock_now_us())) {
        const struct engine_info *other = registry_fallback(engines->registry, kind, iso, id);
        choice->is_replaced = other || !is_fit; /* one that is left out, when there is no other */
        info = choice->is_replaced ? other : info;
    }
    if (!info)
        return fault_set(fault, ERR_UNSUPPORTED,
                         "no %s engine can serve this call: %s is off or "
                         "does not know the language %s",
                         names[kind], id, iso);
    choice->info = info;
    choice->tried[0] = id;
    choice->tried_count = 1;
    if (choice->is_replaced)
        choice->tried[choice->tried_count++] = info->id;
    return OK;
}

enum err engines_choose(struct engines *engines, const struct registry *registry,
                        const struct call_plan *plan, struct fault *fault)
{
    const struct agent *agent = plan->agent;
    const struct language *language = language_by_id(plan->language);
    if (!language)
        language = language_by_iso(plan->language);
    snprintf(engines->iso, sizeof(engines->iso), "%s", language ? language->iso : "en");
    engines->registry = registry;
    engines->model = agent->llm.model;
    engines->workspace = plan->row->user_id;
    engines->stt_config.workspace = engines->workspace;
    listen_for(engines, plan);
    engines->tts_config = (struct tts_config){
        .language = engines->iso,
        .speaker = agent->voice.speaker,
        .emotion = agent->voice.emotion,
        .model = "",
        .workspace = engines->workspace,
        .speed = agent->voice.speed,
        .volume = agent->voice.volume,
        .takes_opus = true,
    };
    enum err err = choose(engines, ENGINE_STT, agent->stt.provider, fault);
    if (!err)
        err = choose(engines, ENGINE_TTS, agent->voice.provider, fault);
    if (!err)
        err = choose(engines, ENGINE_LLM, agent->llm.provider, fault);
    return err;
}

static const struct engine_info *next_of(const struct engines *engines, enum engine_kind kind)
{
    const struct engine_choice *choice = &engines->choice[kind];
    const struct engine_info *info = registry_fallback(
        engines->registry, kind, language_needed(engines, kind), choice->info->id);
    for (size_t i = 0; info && i < choice->tried_count; i++)
        if (strcmp(choice->tried[i], info->id) == 0)
            return NULL;
    return choice->tried_count < ENGINES_TRIED_MAX ? info : NULL;
}

bool engines_has_more(const struct engines *engines, enum engine_kind kind)
{
    return next_of(engines, kind) != NULL;
}

static void close_one(struct engines *engines, enum engine_kind kind)
{
    if (kind == ENGINE_STT && engines->stt) {
        engines->stt->ops->close(engines->stt);
        engines->stt = NULL;
    }
    if (kind == ENGINE_TTS && engines->tts) {
        engines->tts->ops->close(engines->tts);
        engines->tts = NULL;
    }
    if (kind == ENGINE_LLM && engines->llm) {
        engines->llm->ops->close(engines->llm);
        engines->llm = NULL;
    }
}

/* What the breaker is told. */

static void note_failure(struct engines *engines, enum engine_kind kind, enum engine_error error)
{
    const struct engine *engine = engines->opened[kind];
    engines->has_told[kind] = true;
    if (engines->is_failing[kind] || !breaker_counts(error))
        return;
    engines->is_failing[kind] = true;
    if (!breaker_failed(engine->breaker, own_wish(engines, &engine->info), clock_now_us()))
        return;
    metric_add_label(METRIC_ENGINES_LEFT_OUT, engine->info.id, 1);
    log_warn("engine.left_out", LOG_S("engine", engine->info.id), LOG_I("calls", BREAKER_CALLS),
             LOG_S("because", engine_error_name(error)));
}

static void note_success(struct engines *engines, enum engine_kind kind)
{
    engines->is_failing[kind] = engines->has_told[kind] = false;
    breaker_worked(engines->opened[kind]->breaker);
}

static void on_stt(void *arg, const struct stt_event *event)
{
    struct engines *engines = arg;
    if (event->kind == STT_ERROR)
        note_failure(engines, ENGINE_STT, event->error);
    else if (event->kind == STT_FINAL)
        note_success(engines, ENGINE_STT);
    engines->on_stt(engines->arg, event);
}

static void on_llm(void *arg, const struct llm_event *event)
{
    struct engines *engines = arg;
    if (event->kind == LLM_ERROR)
        note_failure(engines, ENGINE_LLM, event->error);
    else if (event->kind == LLM_DONE)
        note_success(engines, ENGINE_LLM);
    engines->on_llm(engines->arg, event);
}

static void on_tts(void *arg, const struct tts_event *event)
{
    struct engines *engines = arg;
    if (event->kind == TTS_ERROR)
        note_failure(engines, ENGINE_TTS, event->error);
    else if (event->kind == TTS_DONE)
        note_success(engines, ENGINE_TTS);
    engines->on_tts(engines->arg, event);
}

static void open_stt(struct engines *engines, const char *id)
{
    const struct engine *engine = registry_find(engines->registry, ENGINE_STT, id);
    /* The embedded one makes a model of sentences that callers may say; others look for names. */
    engines->stt_config.vocabulary =
        engine->info.is_embedded ? engines->vocabulary : engines->words;
    engines->stt_config.is_ahead = engines->is_ahead;
    engines->stt =
        engine->ops.stt->open(engine, engines->loop, &engines->stt_config, on_stt, engines);
}

bool engine_choice_is_named(const struct engine_choice *choice)
{
    return strcmp(choice->info->id, choice->tried[0]) == 0;
}

static void open_tts(struct engines *engines, const char *id)
{
    const struct engine *engine = registry_find(engines->registry, ENGINE_TTS, id);
    struct tts_config config = engines->tts_config;
    config.is_ahead = engines->is_ahead;
    if (!engine_choice_is_named(
            &engines->choice[ENGINE_TTS])) /* a speaker and a delivery of another engine mean
                                              nothing here */
        config.speaker = config.emotion = "";
    engines->tts = engine->ops.tts->open(engine, engines->loop, &config, on_tts, engines);
}

static void open_llm(struct engines *engines, const char *id)
{
    const struct engine *engine = registry_find(engines->registry, ENGINE_LLM, id);
    const struct engine_choice *choice = &engines->choice[ENGINE_LLM];
    const char *model = engine_choice_is_named(choice) ? engines->model : "";
    if (!*model && choice->info->model_count > 0)
        model = choice->info->models[0];
    struct llm_config config = {
        .model = model, .workspace = engines->workspace, .is_ahead = engines->is_ahead};
    engines->llm = engine->ops.llm->open(engine, &config, engines->loop, on_llm, engines);
}

static void open_one(struct engines *engines, enum engine_kind kind)
{
    close_one(engines, kind);
    const char *id = engines->choice[kind].info->id;
    const struct engine *engine = registry_find(engines->registry, kind, id);
    if (engines->opened[kind] != engine)
        engines->is_failing[kind] = engines->has_told[kind] = false;
    engines->opened[kind] = engine;
    if (kind == ENGINE_STT)
        open_stt(engines, id);
    else if (kind == ENGINE_TTS)
        open_tts(engines, id);
    else
        open_llm(engines, id);
}

void engines_open(struct engines *engines, enum engine_kind kind, bool is_fallback)
{
    /* One that only was silent for too long tells nothing itself. What it did tell has been judged:
     * a tenant's own bad request must not count after all. */
    if (is_fallback && !engines->has_told[kind])
        note_failure(engines, kind, ENGINE_TIMEOUT);
    struct engine_choice *choice = &engines->choice[kind];
    const struct engine_info *next = is_fallback ? next_of(engines, kind) : NULL;
    choice->has_failed = choice->has_failed || is_fallback;
    if (next) {
        choice->info = next;
        choice->tried[choice->tried_count++] = next->id;
    }
    open_one(engines, kind);
}

bool engines_can_change_language(const struct engines *engines)
{
    static const char *const isos[] = {"hi", "en"};
    static const enum engine_kind spoken[] = {ENGINE_STT, ENGINE_TTS};
    for (size_t i = 0; i < ARRAY_LEN(isos) * ARRAY_LEN(spoken); i++) {
        const struct engine_info *info = engines->choice[spoken[i / 2]].info;
        if (!engine_speaks(info, isos[i % 2]) &&
            !registry_fallback(engines->registry, spoken[i / 2], isos[i % 2], info->id))
            return false;
    }
    return true;
}

/* The agent's own, if it has not failed; else the one in use, else any. None of this is a failure:
 * those that may still be tried stay as many. */
static const struct engine_info *fit_for_language(const struct engines *engines,
                                                  enum engine_kind kind)
{
    const struct engine_choice *choice = &engines->choice[kind];
    const char *iso = language_needed(engines, kind);
    const struct engine *named = registry_find(engines->registry, kind, choice->tried[0]);
    bool is_working = named && named->info.is_enabled && !choice->has_failed;
    if (is_working && engine_speaks(&named->info, iso) &&
        !breaker_is_open(named->breaker, own_wish(engines, &named->info), clock_now_us()))
        return &named->info;
    if (engine_speaks(choice->info, iso))
        return choice->info;
    const struct engine_info *other =
        registry_fallback(engines->registry, kind, iso, choice->info->id);
    return other ? other : choice->info;
}

void engines_change_language(struct engines *engines, const char *iso)
{
    static const enum engine_kind spoken[] = {ENGINE_STT, ENGINE_TTS};
    snprintf(engines->iso, sizeof(engines->iso), "%s", iso);
    hear_first(engines, iso);
    set_languages(engines);
    for (size_t i = 0; i < ARRAY_LEN(spoken); i++) {
        engines->choice[spoken[i]].info = fit_for_language(engines, spoken[i]);
        open_one(engines, spoken[i]);
    }
}

void engines_close(struct engines *engines)
{
    for (int kind = 0; kind < ENGINE_CALL_KINDS; kind++)
        close_one(engines, (enum engine_kind)kind);
}
