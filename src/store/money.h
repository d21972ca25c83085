/* Money as exact integers of 0.0001 USD (usd4), time in milliseconds.
 *
 * A workspace's row holds { balance, burn, as_of, owed }: `balance` is the ledger (credits less all
 * that calls took; never below 0); running calls together use `burn` usd4 a minute, and at `as_of`
 * had used `owed` (in 1/60000 usd4) that no checkpoint had taken yet. A checkpoint moves the same
 * amount from `balance` and from `owed`, so that the moment of exhaustion stays where it is:
 *
 *   balance * 60000 = owed + burn * (exhausted - as_of)
 *
 * Joins, ends and credits change the row in one statement each. Thread: any. */
#pragma once

#include <stdint.h>

enum { MONEY_SCALE = 60000 /* ms in a minute: burn * ms is in 1/60000 usd4 */ };

/* Never: later than any time that is met (year 2286), and safe to add to. */
#define MONEY_NEVER_MS INT64_C(9999999999999)

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

struct balance {
    int64_t balance_usd4;
    int64_t burn_usd4; /* a minute, all joined calls */
    int64_t as_of_ms;
    int64_t owed; /* 1/60000 usd4, at as_of_ms */
};

/* When the balance has run out for all running calls; MONEY_NEVER_MS when none runs. */
int64_t money_exhausted_ms(const struct balance *balance);
