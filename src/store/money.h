/* Money as exact integers of 0.0001 USD (usd4), time in milliseconds.
 *
 * A workspace's balance is the ledger: credits less all that calls took; never below 0. What its
 * running calls have used and not yet taken is known from how long each has lasted, and so is the
 * moment at which money will be out for all of them:
 *
 *   left = balance - sum(rate * used - taken)      runs out after left / sum(rate)
 *
 * `used` is elapsed time, as the owner of each call measures it: a clock that is set changes
 * nothing. The same holds for what an agent's embed calls may spend on a day. Thread: any. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { MONEY_SCALE = 60000 /* ms in a minute: rate * ms is in 1/60000 usd4 */ };

#define MONEY_NEVER_MS INT64_C(9999999999999) /* three hundred years: safe to add to */
#define MONEY_NEVER_US (INT64_MAX / 2)        /* on the monotonic clock */

/* rate * seconds / 60, rounded half up (contract, Calls). */
static inline int64_t money_cost_usd4(int64_t rate_usd4_per_minute, int64_t seconds)
{
    return (rate_usd4_per_minute * seconds + 30) / 60;
}

/* Whole seconds, rounded up: the duration of a call that ended by somebody's act. */
static inline int64_t money_seconds_up(int64_t ms)
{
    return ms <= 0 ? 0 : (ms + 999) / 1000;
}

/* A running call. */
struct money_use {
    int64_t rate_usd4; /* a minute */
    int64_t used_ms;
    int64_t taken_usd4; /* of the balance, so far */
};

/* How long `balance_usd4` lasts for all of them from now on; not above 0: for so long it has been
 * out. MONEY_NEVER_MS: nothing is used. */
int64_t money_left_ms(int64_t balance_usd4, const struct money_use *uses, size_t count);
