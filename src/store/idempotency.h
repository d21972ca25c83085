/* Idempotency rows. Reserved by a unique insert before any effect; the answer, sealed, is stored
 * with the last job of the request, so that both are there or none. Thread: inside a job. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

struct tx;

/* What may be kept of one scope; over it the oldest answers go. */
struct idempotency_limits {
    int64_t answers, bytes;
};

struct idempotency_key {
    const char *scope; /* who shares the limits: the workspace's keys, or its pages' visitors */
    struct idempotency_limits limits;
    const char *owner;    /* id of the key's record: key_..., or the agent's */
    const char *target;   /* path with query */
    const char *key;      /* the header */
    const char *body_sha; /* hex of the request's body */
};

struct kept_answer {
    int status;
    const char *body;
    size_t body_len;
    const char *shown; /* "", or what the answer showed and the caller shows anew: body is none */
};

/* OK: reserved, go on. ERR_CONFLICT: answered before, give that again. ERR_BUSY: one is under way.
 * ERR_INVALID: the key was used with another body. A reservation that was neither answered nor
 * released for two minutes (its process died) may be taken over. */
enum err store_idempotency_reserve(struct tx *tx, const struct idempotency_key *key) MUST_USE;
/* The kept answer, in a job that reads: a long one takes its time. ERR_NOT_FOUND: no more. */
enum err store_idempotency_answer(struct tx *tx, const struct idempotency_key *key,
                                  struct kept_answer *out) MUST_USE;
enum err store_idempotency_keep(struct tx *tx, const struct idempotency_key *key,
                                const struct kept_answer *answer) MUST_USE;
/* Removes what is over its 24 hours, a batch at most; *out_more: there was more than that. */
enum err store_idempotency_sweep(struct tx *tx, bool *out_more) MUST_USE;
/* Is there anything to sweep? */
enum err store_idempotency_is_due(struct tx *tx, bool *out_is_due) MUST_USE;
/* The answer is not kept (401, 402, 429, 5xx): the key may be used again. */
enum err store_idempotency_release(struct tx *tx, const struct idempotency_key *key) MUST_USE;
