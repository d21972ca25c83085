#include "talk/health.h"

#include "base/attr.h"
#include "base/mem.h"
#include "talk/actions.h"

enum {
    FAILURES_US = 10000 * 1000, /* two failures within this: fall back */
    INTERRUPTIONS_MAX = 5,      /* in a row; further ones count as failures */
    RETRY_MIN_US = 250 * 1000,  /* between tries of a failing engine, doubled */
    RETRY_MAX_US = 10000 * 1000,
};

/* The sentence of call.error: who, and what it did. */
static const char *const subjects[] = {
    [TALK_STT] = "The speech recognition",
    [TALK_LLM] = "The language model",
    [TALK_TTS] = "The voice",
};

static const char *const faults[] = {
    [ENGINE_OK] = "failed",
    [ENGINE_AUTH] = "refused this service's access",
    [ENGINE_BAD_REQUEST] = "refused the request",
    [ENGINE_QUOTA] = "has no capacity left for now",
    [ENGINE_TRANSIENT] = "could not be reached",
    [ENGINE_PROTOCOL] = "gave an answer that cannot be understood",
    [ENGINE_TIMEOUT] = "did not answer in time",
    [ENGINE_CROWDED] = "has too many requests of this workspace waiting",
    [ENGINE_INTERRUPTED] = "was interrupted",
};
_Static_assert(ARRAY_LEN(faults) == ENGINE_ERROR_COUNT, "words for each error");

void health_init(struct health *health, struct actions *actions)
{
    *health = (struct health){.actions = actions};
    for (size_t i = 0; i < ARRAY_LEN(health->engines); i++)
        health->engines[i].retry_us = INT64_MAX;
}

int64_t health_deadline_us(const struct health *health)
{
    int64_t due_us = INT64_MAX;
    for (size_t i = 0; i < ARRAY_LEN(health->engines); i++)
        due_us = MIN(due_us, health->engines[i].retry_us);
    return due_us;
}

bool health_is_closed(const struct health *health, enum talk_engine engine)
{
    return health->engines[engine].is_closed;
}

bool health_is_passing(const struct health *health, enum talk_engine engine, int64_t now_us)
{
    const struct engine_health *one = &health->engines[engine];
    return one->is_closed && one->retry_us <= now_us;
}

bool health_has_more(const struct health *health, enum talk_engine engine)
{
    return health->engines[engine].has_more;
}

void health_settle(struct health *health, int64_t now_us)
{
    for (size_t i = 0; i < ARRAY_LEN(health->engines); i++) {
        struct engine_health *engine = &health->engines[i];
        if (now_us < engine->retry_us)
            continue;
        engine->retry_us = INT64_MAX;
        actions_add(health->actions, (struct talk_action){.what = TALK_DO_REOPEN,
                                                          .engine = (enum talk_engine)i,
                                                          .is_fallback = engine->wants_fallback});
    }
}

void health_worked(struct health *health, enum talk_engine engine)
{
    health->engines[engine].failures = 0;
    health->engines[engine].interruptions = 0;
    health->engines[engine].is_told = false;
}

/* Errors after which the same engine is not tried a second time while there is another. */
static bool is_hopeless(enum engine_error error)
{
    return error == ENGINE_AUTH || error == ENGINE_BAD_REQUEST || error == ENGINE_QUOTA ||
           error == ENGINE_TIMEOUT || error == ENGINE_CROWDED;
}

static void tell(struct health *health, const struct talk_failure *failure)
{
    AUTO_MEM char *text = mem_printf("%s %s.", subjects[failure->engine], faults[failure->error]);
    const char *detail =
        failure->detail && *failure->detail ? failure->detail : engine_error_name(failure->error);
    actions_add(health->actions, (struct talk_action){.what = TALK_DO_ERROR,
                                                      .stage = failure->stage,
                                                      .text = text,
                                                      .detail = detail});
}

static bool does_count(struct engine_health *engine, enum engine_error error)
{
    if (error != ENGINE_INTERRUPTED)
        return true;
    engine->interruptions = MIN(engine->interruptions + 1, INTERRUPTIONS_MAX + 1);
    return engine->interruptions > INTERRUPTIONS_MAX;
}

static void count(struct engine_health *engine, int64_t now_us)
{
    if (now_us - engine->failed_us > FAILURES_US)
        engine->failures = 0;
    engine->failures++;
    engine->failed_us = now_us;
}

bool health_failed(struct health *health, const struct talk_failure *failure, int64_t now_us)
{
    struct engine_health *engine = &health->engines[failure->engine];
    bool counts = does_count(engine, failure->error);
    if (!engine->is_told)
        tell(health, failure);
    engine->is_told = true;
    if (engine->is_closed)
        return counts;
    if (counts)
        count(engine, now_us);
    bool wants_fallback =
        counts && engine->has_more && (engine->failures >= 2 || is_hopeless(failure->error));
    if (!failure->is_fatal && !wants_fallback)
        return counts;
    engine->is_closed = true;
    engine->wants_fallback = wants_fallback;
    int64_t wait_us = engine->failures <= 1 || wants_fallback
                          ? 0
                          : (int64_t)RETRY_MIN_US << MIN(engine->failures, 6);
    engine->retry_us = now_us + MIN(wait_us, (int64_t)RETRY_MAX_US);
    return counts;
}

void health_opened(struct health *health, enum talk_engine engine, bool has_more)
{
    struct engine_health *opened = &health->engines[engine];
    if (opened->wants_fallback)
        opened->failures = 0;
    opened->is_closed = opened->wants_fallback = false;
    opened->has_more = has_more;
}
