/* A POST with an Idempotency-Key: reserved before any effect, answered again as the first time
 * (contract, Idempotency). Thread: inside a job. */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "base/err.h"

struct request;

enum idempotency {
    IDEMPOTENCY_NEW,      /* no key was sent, or it is reserved now: the handler runs */
    IDEMPOTENCY_ANSWERED, /* by a refusal */
    IDEMPOTENCY_KEPT,     /* answered before: idempotency_replay() */
};
bool idempotency_is_asked(const struct request *request); /* any thread that has the request */
enum idempotency idempotency_reserve(struct request *request);
/* Gives the first answer again, in a job that reads. false: it was too long to be kept, and
 * once.shown says what it shows. */
bool idempotency_replay(struct request *request);
bool idempotency_keeps(int status);
/* Keeps the answer for the key, or frees the key when the answer is not one to keep; in the job
 * that made the answer, or in a later one. An answer that may be too long is kept as a note of what
 * it shows (once.shown), in the same job as its effect, so that the effect never happens twice. */
enum err idempotency_settle(struct request *request) MUST_USE;
