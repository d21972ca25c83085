/* Jobs on PostgreSQL: each in a transaction of its own, on a thread and connection of the pool.
 *
 *   run --ok--> commit --ok--> done
 *    |            '--connection lost--> in doubt --look up--> committed: done | not: run again
 *    |--deadlock, serialization--> run again at once
 *    '--connection lost--> wait --> run again, until PATIENCE is over: ERR_BUSY
 *
 * A waiting job holds no thread: it stands in `retrying` on the store's loop. That loop also
 * LISTENs, so that a command reaches its node without waiting for the next look.
 * Thread: the pool's, except where it says loop. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/pool.h"
#include "store/internal.h"

enum {
    OWN_THREADS = 4, /* calls, money, deliveries; one is nobody's in particular */
    RETRY_FIRST_US = 50000,
    RETRY_LONGEST_US = 1000000,
    RETRYING_PER_KEY = 100, /* requests of a workspace that wait for their next attempt */
    AT_ONCE_MAX = 20,       /* deadlocks in a row */
    LISTEN_AGAIN_US = 1000000,
};

static void run_job(void *arg);

enum err pg_notify(struct tx *tx)
{
    unsigned topics = tx->changed & ~(unsigned)STORE_OUTBOX; /* own deliveries need no hint */
    if (!topics || tx_has_failed(tx))
        return tx_result(tx);
    char mask[16];
    snprintf(mask, sizeof(mask), "%u", topics);
    EXEC(tx, "SELECT pg_notify('earshot', ?)", TEXT(mask));
    return tx_result(tx);
}

/* Loop: waiting for the next attempt. */

static enum err submit(struct job *job)
{
    return pool_run_fair(job->store->pools[job->lane], job->key, run_job, NULL, NULL, job);
}

/* How many of its workspace's requests wait here; for the service's own it is not counted. */
static void count_retrying(const struct job *job, int more)
{
    struct map *counts = job->store->pg.retrying_of;
    if (job->lane != STORE_REQUESTS || !job->key)
        return;
    intptr_t count = (intptr_t)map_get_str(counts, job->key) + more;
    if (count)
        map_set_str(counts, job->key, (void *)count);
    else
        map_remove_str(counts, job->key);
}

static bool may_wait(const struct job *job)
{
    return job->lane != STORE_REQUESTS || !job->key ||
           (intptr_t)map_get_str(job->store->pg.retrying_of, job->key) < RETRYING_PER_KEY;
}

static void stop_waiting(struct job *job)
{
    timer_stop(&job->retry);
    list_remove(&job->link);
    count_retrying(job, -1);
}

static void wait_again(struct job *job);

static void on_retry_due(void *arg)
{
    struct job *job = arg;
    stop_waiting(job);
    if (submit(job))
        wait_again(job); /* its line is full */
}

static void wait_again(struct job *job)
{
    if (job_is_over(job) || !may_wait(job)) {
        job_refuse(job);
        return;
    }
    struct store *store = job->store;
    int64_t delay_us =
        MIN((int64_t)RETRY_FIRST_US << MIN(job->attempts, 10U), (int64_t)RETRY_LONGEST_US);
    list_push_back(&store->pg.retrying, &job->link);
    count_retrying(job, 1);
    timer_init(&job->retry, store->loop, on_retry_due, job);
    timer_set_after(&job->retry, delay_us);
}

static void retry_wait(void *arg)
{
    struct job *job = arg;
    if (atomic_load(&job->store->is_closing))
        job_refuse(job);
    else
        wait_again(job);
}

static void try_again_later(struct job *job)
{
    job->attempts++;
    loop_post(job->store->loop, retry_wait, job);
}

/* One attempt. */

/* OK: done, or the job's own refusal in job->result. Else as in db.h. */
static enum err attempt(struct job *job, struct db *db)
{
    int64_t now_ms = 0;
    struct fault fault = {0};
    job_give_time(job, db);
    enum err err = db->ops->begin(db, job->mode == STORE_WRITE, &now_ms, &fault);
    job_tx_init(job, db, now_ms);
    if (err) {
        job->tx.fault = fault;
        return err;
    }
    job->result = job->fn(&job->tx, job->arg);
    if (!job->result && job->mode == STORE_WRITE)
        job->result = pg_notify(&job->tx);
    if (!job->tx.fault.err && !job->result && job->mode == STORE_WRITE && db_is_over(db))
        fault_set(&job->tx.fault, ERR_BUSY, "PostgreSQL: no time is left to commit");
    if (job->tx.fault.err || job->result || job->mode == STORE_READ) {
        err = job->tx.fault.err;
        db->ops->rollback(db);
        return err;
    }
    err = db->ops->commit(db, &job->tx.fault);
    if (err == ERR_CLOSED)
        snprintf(job->in_doubt, sizeof(job->in_doubt), "%s", db->ops->transaction(db));
    else if (err)
        db->ops->rollback(db);
    return err;
}

/* ERR_NOT_FOUND: the commit that was in doubt did not take effect, run the job again. Else but OK:
 * still in doubt, the connection was lost or waited too long for the commit's end. */
static enum err resolve_doubt(struct job *job, struct db *db)
{
    struct fault fault = {0};
    job_give_time(job, db);
    enum err err = db->ops->outcome(db, job->in_doubt, &fault);
    bool is_known = err == OK || err == ERR_NOT_FOUND;
    if (is_known)
        job->in_doubt[0] = '\0';
    job->tx.fault = fault;
    return is_known || err == ERR_CLOSED ? err : ERR_BUSY;
}

static enum err attempts_at_once(struct job *job, struct db *db)
{
    enum err err = ERR_NOT_FOUND;
    if (job->in_doubt[0])
        err = resolve_doubt(job, db);
    if (err != ERR_NOT_FOUND)
        return err;
    for (int i = 0; i < AT_ONCE_MAX; i++) {
        err = attempt(job, db);
        if (err != ERR_AGAIN)
            return err;
    }
    return ERR_BUSY; /* wait a while, then once more */
}

static void conclude(struct job *job, enum err err)
{
    struct store *store = job->store;
    if (err == ERR_CLOSED || err == ERR_BUSY) {
        try_again_later(job);
        return;
    }
    if (!err && !job->result)
        watch_tell(store, job->tx.changed);
    job_finish(job, err ? err : job->result);
}

static enum err run_connected(struct job *job, struct db *db)
{
    enum err err = attempts_at_once(job, db);
    if (err == ERR_CLOSED)
        db_close(db);
    else
        connection_give(job->store, db);
    return err;
}

static void run_job(void *arg)
{
    struct job *job = arg;
    struct store *store = job->store;
    struct fault fault = {0};
    if (job_is_over(job)) {
        job_refuse(job);
        return;
    }
    struct db *db = connection_take(store);
    enum err err = db ? run_connected(job, db) : ERR_CLOSED;
    if (err == ERR_CLOSED &&
        !job_is_over(job)) { /* an idle connection may have died long ago: a new one tells */
        err = connection_open(store, 0, &db, &fault);
        if (!err)
            err = run_connected(job, db);
    }
    bool was_up = atomic_exchange(&store->is_up, err != ERR_CLOSED);
    if (was_up && err == ERR_CLOSED)
        log_warn("store.away", LOG_S("error", fault.err ? fault.text : job->tx.fault.text));
    conclude(job, err);
}

void pg_open_pools(struct store *store, unsigned connections)
{
    const struct fair_limits requests = {.waiting_per_key = WAITING_PER_KEY,
                                         .waiting = WAITING_MAX,
                                         .operator_waiting = WAITING_MAX,
                                         .running_per_key = MAX(connections / 2, 1)};
    struct fair_limits own = requests;
    own.running = OWN_THREADS - 1;
    own.running_per_key = 1;
    store->pools[STORE_REQUESTS] = pool_new_limited("store", connections, 0, &requests);
    store->pools[STORE_OWN] = pool_new_limited("store-own", OWN_THREADS, 0, &own);
    store->pools[STORE_LEASE] = pool_new_limited("store-lease", 1, 0, &own);
}

void pg_sweep(struct store *store)
{
    for (unsigned i = 0; i < STORE_LANES; i++)
        pool_sweep(store->pools[i], run_job, job_is_over, job_refuse);
    struct job *job;
    LIST_EACH (job, &store->pg.retrying, struct job, link) {
        if (!job_is_over(job))
            continue;
        stop_waiting(job);
        job_refuse(job);
    }
}

enum err pg_submit(struct job *job)
{
    return submit(job);
}

/* Loop: hints of other nodes. */

static void listen_end(struct store *store)
{
    io_close(TAKE(store->pg.listen_io));
    db_close(store->pg.listener);
    store->pg.listener = NULL;
}

static void on_notified(void *arg, unsigned events)
{
    (void)events;
    struct store *store = arg;
    unsigned topics = 0;
    if (db_pg_notifications(store->pg.listener, &topics)) {
        listen_end(store);
        topics = STORE_ALL; /* what was missed is not known */
        timer_set_after(&store->pg.listen_again, LISTEN_AGAIN_US);
    }
    if (topics)
        watch_tell(store, topics);
}

/* Thread: the pool's; the loop leaves store->pg.listener alone meanwhile. */
static void listen_open(void *arg)
{
    struct store *store = arg;
    struct fault fault = {0};
    struct db *db;
    if (db_pg_open(store->location, &db, &fault))
        return;
    db->due_us = clock_now_us() + LISTEN_AGAIN_US;
    if (db->ops->script(db, "LISTEN earshot", &fault) == OK)
        store->pg.listener = db;
    else
        db_close(db);
}

static void listen_opened(void *arg)
{
    struct store *store = arg;
    if (atomic_load(&store->is_closing))
        return;
    if (store->pg.listener) /* libpq closes what has broken */
        store->pg.listen_io = io_open_apart(store->loop, db_pg_socket(store->pg.listener), IO_READ,
                                            on_notified, store);
    if (!store->pg.listen_io) {
        listen_end(store);
        timer_set_after(&store->pg.listen_again, LISTEN_AGAIN_US);
        return;
    }
    watch_tell(store, STORE_ALL); /* what changed before it listened was told to nobody */
}

static void listen_begin(void *arg)
{
    struct store *store = arg;
    if (pool_run(store->pools[STORE_REQUESTS], listen_open, store->loop, listen_opened, store))
        timer_set_after(&store->pg.listen_again, LISTEN_AGAIN_US);
}

void pg_start(struct store *store)
{
    store->pg.retrying_of = map_new();
    timer_init(&store->pg.listen_again, store->loop, listen_begin, store);
    listen_begin(store);
}

void pg_stop(struct store *store)
{
    timer_stop(&store->pg.listen_again);
    listen_end(store);
    struct job *job;
    LIST_EACH (job, &store->pg.retrying, struct job, link) {
        stop_waiting(job);
        job_refuse(job);
    }
    map_free(TAKE(store->pg.retrying_of));
}
