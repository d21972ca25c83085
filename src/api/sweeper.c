/* Looks with a read, so that an idle service writes nothing. */
#include "api/sweeper.h"

#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "store/idempotency.h"
#include "store/session.h"
#include "store/store.h"

enum {
    EVERY_US = 300 * 1000000,
    AGAIN_US = 100 * 1000, /* many rows are removed in many small steps */
};

struct sweeper {
    struct loop *loop;
    struct store *store;
    struct timer timer;
    bool is_due, has_more, is_under_way;
};

static enum err look_job(struct tx *tx, void *arg)
{
    struct sweeper *sweeper = arg;
    enum err err = store_idempotency_is_due(tx, &sweeper->is_due);
    sweeper->is_due |= store_session_is_due(tx);
    return err;
}

static enum err sweep_job(struct tx *tx, void *arg)
{
    struct sweeper *sweeper = arg;
    enum err err = store_session_sweep(tx);
    return err ? err : store_idempotency_sweep(tx, &sweeper->has_more);
}

/* In the lane of requests: when the store is busy, it can be done another time. */
static enum err give(struct sweeper *sweeper, enum store_mode mode, store_fn *fn,
                     store_done_fn *done)
{
    struct store_line line = {.key = FAIR_OPERATOR, .mode = mode, .lane = STORE_REQUESTS};
    return store_job_for(sweeper->store, line, fn, sweeper, sweeper->loop, done);
}

static void on_swept(void *arg, enum err err)
{
    struct sweeper *sweeper = arg;
    sweeper->is_under_way = false;
    timer_set_after(&sweeper->timer, !err && sweeper->has_more ? AGAIN_US : EVERY_US);
    if (err)
        log_warn("idempotency.sweep", LOG_S("error", err_name(err)));
}

static void on_looked(void *arg, enum err err)
{
    struct sweeper *sweeper = arg;
    sweeper->has_more = false;
    if (!err && sweeper->is_due && give(sweeper, STORE_WRITE, sweep_job, on_swept) == OK)
        return;
    on_swept(sweeper, err);
}

static void on_timer(void *arg)
{
    struct sweeper *sweeper = arg;
    sweeper->is_due = false;
    sweeper->is_under_way = true;
    enum err err = give(sweeper, STORE_READ, look_job, on_looked);
    if (err)
        on_swept(sweeper, err);
}

struct sweeper *sweeper_new(struct loop *loop, struct store *store)
{
    struct sweeper *sweeper = mem_new(struct sweeper);
    sweeper->loop = loop;
    sweeper->store = store;
    timer_init(&sweeper->timer, loop, on_timer, sweeper);
    timer_set_after(&sweeper->timer, EVERY_US);
    return sweeper;
}

void sweeper_free(struct sweeper *sweeper)
{
    if (!sweeper)
        return;
    timer_stop(&sweeper->timer);
    mem_free(sweeper);
}

bool sweeper_is_idle(const struct sweeper *sweeper)
{
    return !sweeper->is_under_way;
}
