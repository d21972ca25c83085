/* A POST with an Idempotency-Key: reserved before any effect, answered again as the first time
 * (contract, Idempotency). Thread: inside a job. */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "base/err.h"

struct request;

enum idempotency {
    IDEMPOTENCY_NEW,      /* no key was sent, or it is reserved now: the handler runs */
    IDEMPOTENCY_ANSWERED, /* by the kept answer, or by a refusal */
    IDEMPOTENCY_SHOWN, /* the first answer was too long to be kept: once.shown says what it shows */
};
enum idempotency idempotency_reserve(struct request *request);
bool idempotency_keeps(int status);
/* In the job that made the answer, or in one of its own: keeps it or gives the key free. What was
 * done and may be too long is kept by what it shows, from the job on that did it. */
enum err idempotency_settle(struct request *request) MUST_USE;
