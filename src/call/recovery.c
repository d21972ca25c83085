#include "call/recovery.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "store/call.h"
#include "store/node.h"
#include "store/store.h"

enum {
    AT_ONCE = 20, /* calls ended in one transaction: others' writes wait for it */
    START_MAX_US = 3 * 1000 * 1000,
    PAUSE_US = 500 * 1000,
    FAILURES_MAX = 5,             /* of one call alone, while the database did other work */
    LOOKS_APART_US = 3 * 1000000, /* at most, or what was seen before says nothing */
};

/* Another node as it was seen last. */
struct seen {
    struct node_sight sight;
    int64_t since_us; /* it has been like this */
};

struct recovery {
    struct store *store;
    struct loop *control;
    bool is_shared, is_stopped;

    /* batches */
    bool is_batching, is_wanted;
    unsigned at_once, found, total;
    unsigned failures;
    uint64_t commits;
    struct timer pause, start;
    loop_fn *on_first;
    void *arg;

    /* looks */
    bool is_looking;
    int64_t looked_us;
    struct seen seen[NODES_SEEN_MAX];
    size_t seen_count;
    struct node_sight dead[NODES_SEEN_MAX]; /* to be fenced by the next look */
    size_t dead_count;
    struct node_sight sights[NODES_SEEN_MAX]; /* what the look found */
    size_t sight_count;
};

static void batch(void *arg);

static void on_first_over(void *arg)
{
    struct recovery *recovery = arg;
    timer_stop(&recovery->start);
    loop_fn *fn = recovery->on_first;
    recovery->on_first = NULL;
    if (fn)
        fn(recovery->arg);
}

struct recovery *recovery_new(struct store *store, struct loop *control, bool is_shared)
{
    struct recovery *recovery = mem_new(struct recovery);
    recovery->store = store;
    recovery->control = control;
    recovery->is_shared = is_shared;
    recovery->at_once = AT_ONCE;
    timer_init(&recovery->pause, control, batch, recovery);
    timer_init(&recovery->start, control, on_first_over, recovery);
    return recovery;
}

void recovery_stop(struct recovery *recovery)
{
    recovery->is_stopped = true;
    recovery->on_first = NULL;
    timer_stop(&recovery->pause);
    timer_stop(&recovery->start);
}

void recovery_free(struct recovery *recovery)
{
    recovery_stop(recovery);
    mem_free(recovery);
}

static void run(struct recovery *recovery, store_fn *fn, store_done_fn *done)
{
    struct store_line line = {.mode = STORE_WRITE, .lane = STORE_OWN};
    if (store_job_for(recovery->store, line, fn, recovery, recovery->control, done) != OK)
        done(recovery, ERR_BUSY);
}

/* Batches. */

/* Store thread. */
static enum err batch_job(struct tx *tx, void *arg)
{
    struct recovery *recovery = arg;
    bool is_bare = recovery->failures >= FAILURES_MAX;
    return store_call_recover(tx, recovery->at_once, is_bare, &recovery->found);
}

/* The first of them may be what fails: alone, until it is known to be. */
static void batch_failed(struct recovery *recovery, enum err err)
{
    uint64_t commits = store_commits(recovery->store);
    bool is_odd = recovery->at_once == 1 && commits != recovery->commits;
    log_warn("node.recovery_waits", LOG_S("error", err_name(err)),
             LOG_I("failures", recovery->failures));
    recovery->failures += is_odd;
    recovery->commits = commits;
    recovery->at_once = 1;
    timer_set_after(&recovery->pause, PAUSE_US);
    on_first_over(recovery);
}

static void on_batch_done(void *arg, enum err err)
{
    struct recovery *recovery = arg;
    recovery->is_batching = false;
    if (recovery->is_stopped)
        return;
    if (err) {
        batch_failed(recovery, err);
        return;
    }
    bool is_full = recovery->found == recovery->at_once;
    recovery->total += recovery->found;
    recovery->failures = 0;
    recovery->at_once = AT_ONCE;
    if (is_full || recovery->is_wanted) {
        batch(recovery);
        return;
    }
    if (recovery->total > 0)
        log_warn("node.calls_recovered", LOG_I("calls", recovery->total));
    recovery->total = 0;
    on_first_over(recovery);
}

static void batch(void *arg)
{
    struct recovery *recovery = arg;
    recovery->is_wanted = recovery->is_batching;
    if (recovery->is_batching || recovery->is_stopped)
        return;
    timer_stop(&recovery->pause);
    recovery->is_batching = true;
    run(recovery, batch_job, on_batch_done);
}

void recovery_start(struct recovery *recovery, loop_fn *on_first, void *arg)
{
    recovery->on_first = on_first;
    recovery->arg = arg;
    timer_set_after(&recovery->start, START_MAX_US);
    batch(recovery);
}

/* Looks. */

/* Store thread. */
static enum err look_job(struct tx *tx, void *arg)
{
    struct recovery *recovery = arg;
    for (size_t i = 0; i < recovery->dead_count; i++)
        store_node_fence(tx, &recovery->dead[i]);
    return store_node_others(tx, recovery->sights, &recovery->sight_count);
}

static const struct seen *find(const struct seen *seen, size_t count, const struct node_sight *like)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(seen[i].sight.id, like->id) == 0 && seen[i].sight.epoch == like->epoch &&
            seen[i].sight.lease_until_ms == like->lease_until_ms)
            return &seen[i];
    return NULL;
}

/* What was not looked at for a while (the database, or this process, stood still) begins anew. */
static void compare(struct recovery *recovery)
{
    int64_t now_us = loop_now_us(recovery->control);
    bool is_gap = now_us - recovery->looked_us > LOOKS_APART_US;
    struct seen now[NODES_SEEN_MAX];
    recovery->dead_count = 0;
    for (size_t i = 0; i < recovery->sight_count; i++) {
        const struct node_sight *sight = &recovery->sights[i];
        const struct seen *before = find(recovery->seen, recovery->seen_count, sight);
        now[i] = (struct seen){*sight, before && !is_gap ? before->since_us : now_us};
        if (now_us - now[i].since_us >= NODE_LEASE_MS * INT64_C(1000)) {
            log_warn("node.dead", LOG_S("node", sight->id));
            recovery->dead[recovery->dead_count++] = *sight;
        }
    }
    memcpy(recovery->seen, now, recovery->sight_count * sizeof(*now));
    recovery->seen_count = recovery->sight_count;
    recovery->looked_us = now_us;
}

static void on_looked(void *arg, enum err err)
{
    struct recovery *recovery = arg;
    recovery->is_looking = false;
    if (err || recovery->is_stopped)
        return;
    compare(recovery);
    batch(recovery);
}

const char *recovery_other_url(const struct recovery *recovery, size_t i)
{
    return i < recovery->seen_count ? recovery->seen[i].sight.public_url : NULL;
}

void recovery_look(struct recovery *recovery)
{
    if (!recovery->is_shared || recovery->is_looking || recovery->is_stopped)
        return;
    recovery->is_looking = true;
    run(recovery, look_job, on_looked);
}
