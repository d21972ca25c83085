/* The engines' failures: what the tenant is told of them, when the next one takes over, and when
 * one is tried again. What an engine says of its own failure is the operator's: it may name
 * addresses, accounts and keys. */
#include "base/mem.h"
#include "talk/internal.h"

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
};
_Static_assert(ARRAY_LEN(faults) == ENGINE_ERROR_COUNT, "words for each error");

void health_init(struct talk *talk)
{
    for (size_t i = 0; i < ARRAY_LEN(talk->engines); i++)
        talk->engines[i].retry_us = INT64_MAX;
}

int64_t health_deadline_us(const struct talk *talk)
{
    int64_t due_us = INT64_MAX;
    for (size_t i = 0; i < ARRAY_LEN(talk->engines); i++)
        due_us = MIN(due_us, talk->engines[i].retry_us);
    return due_us;
}

void health_settle(struct talk *talk, int64_t now_us)
{
    for (size_t i = 0; i < ARRAY_LEN(talk->engines); i++) {
        struct engine_health *health = &talk->engines[i];
        if (now_us < health->retry_us)
            continue;
        health->retry_us = INT64_MAX;
        talk_do(talk, (struct talk_action){.what = TALK_DO_REOPEN,
                                           .engine = (enum talk_engine)i,
                                           .is_fallback = health->wants_fallback});
    }
}

void talk_worked(struct talk *talk, enum talk_engine engine)
{
    talk->engines[engine].failures = 0;
    talk->engines[engine].is_told = false;
}

/* Errors after which the same engine is not tried a second time while there is another. */
static bool is_hopeless(enum engine_error error)
{
    return error == ENGINE_AUTH || error == ENGINE_BAD_REQUEST || error == ENGINE_QUOTA ||
           error == ENGINE_TIMEOUT;
}

static void tell(struct talk *talk, const struct talk_failure *failure)
{
    AUTO_MEM char *text = mem_printf("%s %s.", subjects[failure->engine], faults[failure->error]);
    const char *detail =
        failure->detail && *failure->detail ? failure->detail : engine_error_name(failure->error);
    talk_do(talk,
            (struct talk_action){
                .what = TALK_DO_ERROR, .stage = failure->stage, .text = text, .detail = detail});
}

void talk_failed(struct talk *talk, const struct talk_failure *failure, int64_t now_us)
{
    struct engine_health *health = &talk->engines[failure->engine];
    if (!health->is_told)
        tell(talk, failure);
    health->is_told = true;
    if (health->is_closed)
        return;
    if (now_us - health->failed_us > TALK_FAILURES_US)
        health->failures = 0;
    health->failures++;
    health->failed_us = now_us;
    bool wants_fallback =
        health->has_more && (health->failures >= 2 || is_hopeless(failure->error));
    if (!failure->is_fatal && !wants_fallback)
        return;
    health->is_closed = true;
    health->wants_fallback = wants_fallback;
    int64_t wait_us = health->failures == 1 || wants_fallback
                          ? 0
                          : (int64_t)TALK_RETRY_LEAST_US << MIN(health->failures, 6);
    health->retry_us = now_us + MIN(wait_us, (int64_t)TALK_RETRY_MOST_US);
}

void talk_engine_opened(struct talk *talk, enum talk_engine engine, bool has_more, int64_t now_us)
{
    struct engine_health *health = &talk->engines[engine];
    if (health->wants_fallback)
        health->failures = 0;
    health->is_closed = health->wants_fallback = false;
    health->has_more = has_more;
    if (!talk->is_begun)
        return;
    if (engine == TALK_LLM)
        reply_reopened(talk, now_us);
    if (engine == TALK_TTS)
        voice_reopened(talk);
    talk_settle(talk, now_us);
}
