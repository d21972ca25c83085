/* The outbox's clock: the database's and a difference that all nodes share (a row of `counters`).
 * Whoever sees the database's clock leap against elapsed time moves the difference by as much, so
 * that rows already written keep their distance from now. A difference that somebody else has
 * moved is taken as it is. Thread: inside a job. */
#include <stdlib.h>

#include "base/clock.h"
#include "store/outbox.h"
#include "store/tx.h"

enum { LEAP_MS = 500 }; /* less is a slow thread or network between the two readings */

static int64_t read_ahead_ms(struct tx *tx)
{
    return QUERY_NUMBER(tx, 0, "SELECT value FROM counters WHERE name = 'outbox_ahead_ms'");
}

/* Another node may have done it at the same moment: then what it wrote counts. */
static int64_t move_ahead_ms(struct tx *tx, int64_t from_ms, int64_t by_ms)
{
    EXEC(tx, "UPDATE counters SET value = ? WHERE name = 'outbox_ahead_ms' AND value = ?",
         NUMBER(from_ms + by_ms), NUMBER(from_ms));
    return read_ahead_ms(tx);
}

int64_t store_outbox_now(struct tx *tx, struct outbox_clock *clock)
{
    int64_t now_us = clock_now_us(), ahead_ms = read_ahead_ms(tx);
    int64_t expected_ms = clock->last_ms + (now_us - clock->last_us) / 1000;
    int64_t leap_ms = tx->now_ms + ahead_ms - expected_ms;
    if (tx->is_write && clock->is_set && clock->ahead_ms == ahead_ms && llabs(leap_ms) > LEAP_MS)
        ahead_ms = move_ahead_ms(tx, ahead_ms, -leap_ms);
    *clock = (struct outbox_clock){true, ahead_ms, tx->now_ms + ahead_ms, now_us};
    return clock->last_ms;
}
