/* The end: whoever has gone is told nothing, and all who asked are told before they go. */
#include <stdatomic.h>

#include "await.h"
#include "base/mem.h"
#include "store/internal.h"
#include "unit/store/fixture.h"

static _Atomic unsigned told, done_count;

static void hear(void *arg, unsigned topics)
{
    (void)topics;
    ++*(unsigned *)arg; /* freed memory, if it is told too late */
    atomic_fetch_add(&told, 1);
}

static enum err change(struct tx *tx, void *arg)
{
    (void)arg;
    EXEC(tx, "UPDATE counters SET value = value + 1 WHERE name = 'none'");
    tx_touch(tx, STORE_OUTBOX);
    return OK;
}

/* A reading job may not write: PostgreSQL would have it tried again to the end. */
static enum err look(struct tx *tx, void *arg)
{
    (void)arg;
    QUERY_NUMBER(tx, 0, "SELECT value FROM counters WHERE name = 'none'");
    return tx_result(tx);
}

static void count(void *arg, enum err err)
{
    (void)arg, (void)err;
    atomic_fetch_add(&done_count, 1);
}

static void stop(void *arg)
{
    loop_stop(arg);
}

/* A part of the service ends while others' jobs go on: its loop and itself are freed at once. */
STORE_TEST(watch_that_is_over_is_told_nothing)
{
    AUTO(loop) answers = loop_new("answers");
    REQUIRE(loop_start(answers) == OK);
    unsigned asked = 0;
    struct store_line line = {.key = "a", .mode = STORE_WRITE};
    for (int round = 0; round < 10; round++) {
        struct loop *loop = loop_new("watch");
        unsigned *part = mem_new(unsigned);
        struct store_watch *watch = store_watch(fix->store, STORE_OUTBOX, loop, hear, part);
        REQUIRE(watch != NULL);
        for (int i = 0; i < 40; i++)
            asked += store_job_for(fix->store, line, change, NULL, answers, count) == OK;
        loop_post(loop, stop, loop);
        loop_run(loop);
        store_unwatch(watch);
        loop_free(loop);
        mem_free(part);
    }
    AWAIT(atomic_load(&done_count) >= asked, 60);
    CHECK_INT(done_count, asked);
    loop_join(answers);
}

static _Atomic unsigned done_at_end;
static _Atomic bool is_drained;

static void drained(void *arg)
{
    (void)arg;
    atomic_store(&done_at_end, atomic_load(&done_count));
    atomic_store(&is_drained, true);
}

STORE_TEST(drain_comes_after_the_last_answer)
{
    AUTO(loop) control = loop_new("control");
    AUTO(loop) other = loop_new("other");
    REQUIRE(loop_start(control) == OK && loop_start(other) == OK);
    unsigned asked = 0;
    for (int i = 0; i < 300; i++) {
        struct store_line line = {.key = i % 2 ? "a" : "b",
                                  .mode = i % 3 ? STORE_WRITE : STORE_READ,
                                  .lane = i % 5 ? STORE_REQUESTS : STORE_OWN};
        store_fn *fn = line.mode == STORE_WRITE ? change : look;
        asked += store_job_for(fix->store, line, fn, NULL, i % 2 ? control : other, count) == OK;
    }
    store_drain(fix->store, 60000000, control, drained, NULL);
    struct store_line line = {.mode = STORE_WRITE, .lane = STORE_OWN};
    CHECK_INT(store_job_for(fix->store, line, change, NULL, control, count), ERR_BUSY);
    AWAIT(atomic_load(&is_drained), 60);
    CHECK_INT(done_at_end, asked);
    loop_join(control);
    loop_join(other);
}
