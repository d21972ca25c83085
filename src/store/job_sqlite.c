/* Jobs on SQLite. Write jobs run on a pool of one thread: the first begins the transaction, each
 * runs in its own savepoint, and all that wait share one commit, after which they are answered. One
 * that fails is answered with the others, because it may have seen what they wrote.
 *
 *   BEGIN, [SAVEPOINT fn RELEASE] x 3 -> nobody waits, or 10 ms, or 256 -> COMMIT -> done x 3
 *
 * Which job is next is the pool's business (base/fair.h): a group that has had its time is
 * committed before anybody else's job is begun. Read jobs run each on a connection of its own, in
 * one snapshot. Thread: the writer's, except where it says otherwise. */
#include "base/clock.h"
#include "base/log.h"
#include "base/pool.h"
#include "store/internal.h"

enum {
    GROUP_MAX = 256,                /* jobs of one commit */
    GROUP_LONGEST_US = 10000,       /* the first one does not wait longer for the others */
    OTHER_PROCESS_LOOK_US = 250000, /* a command-line program beside the service */
};

static void group_commit(struct store *store)
{
    if (!store->sqlite.is_group_open)
        return;
    store->sqlite.is_group_open = false;
    struct fault fault = {0};
    enum err failed = OK;
    if (!db_sqlite_is_in_transaction(store->sqlite.db))
        failed = fault_set(&fault, ERR_IO, "SQLite has undone the transaction");
    if (!failed)
        failed = store->sqlite.db->ops->commit(store->sqlite.db, &fault);
    if (failed)
        store->sqlite.db->ops->rollback(store->sqlite.db);
    atomic_store(&store->is_up, !failed);
    unsigned changed = 0;
    struct job *job;
    LIST_EACH (job, &store->sqlite.group, struct job, link) {
        list_remove(&job->link);
        changed |= failed || job->result || job->tx.fault.err ? 0 : job->tx.changed;
        if (failed && !job->tx.fault.err)
            job->tx.fault = fault;
        job_finish(job, job->result);
    }
    store->sqlite.group_count = 0;
    watch_tell(store, changed);
}

static enum err group_begin(struct store *store, struct fault *fault)
{
    if (store->sqlite.is_group_open)
        return OK;
    int64_t now_ms;
    enum err err = store->sqlite.db->ops->begin(store->sqlite.db, true, &now_ms, fault);
    if (err)
        return err;
    store->sqlite.is_group_open = true;
    store->sqlite.group_began_us = clock_now_us();
    return OK;
}

static enum err run_in_savepoint(struct job *job)
{
    struct db *db = job->tx.db;
    enum err err = db->ops->script(db, "SAVEPOINT job", &job->tx.fault);
    if (err) /* there is nothing to undo, and its reason is the one to tell */
        return err;
    err = job->fn(&job->tx, job->arg);
    if (!db_sqlite_is_in_transaction(db))
        return ERR_IO;
    bool is_undone = err || job->tx.fault.err;
    const char *end = is_undone ? "ROLLBACK TO job; RELEASE job" : "RELEASE job";
    return db->ops->script(db, end, &job->tx.fault) ? ERR_IO : err;
}

static void write_job(void *arg)
{
    struct job *job = arg;
    struct store *store = job->store;
    struct fault fault = {0};
    if (job_is_over(job)) {
        job_refuse(job);
        return;
    }
    job_give_time(job, store->sqlite.db);
    enum err err = group_begin(store, &fault);
    job_tx_init(job, store->sqlite.db, clock_wall_ms());
    if (err) {
        atomic_store(&store->is_up, false);
        job->tx.fault = fault;
        job_finish(job, err);
        return;
    }
    job->result = run_in_savepoint(job);
    list_push_back(&store->sqlite.group, &job->link);
    store->sqlite.group_count++;
}

/* Between two jobs. */
static void commit_when_due(void *arg, bool has_more)
{
    struct store *store = arg;
    if (!store->sqlite.is_group_open)
        return;
    bool is_long = clock_now_us() - store->sqlite.group_began_us >= GROUP_LONGEST_US;
    if (!has_more || store->sqlite.group_count >= GROUP_MAX || is_long ||
        !db_sqlite_is_in_transaction(store->sqlite.db))
        group_commit(store);
}

/* Thread: a reader of the pool. */
static void read_job(void *arg)
{
    struct job *job = arg;
    struct store *store = job->store;
    struct fault fault = {0};
    int64_t now_ms = 0;
    if (job_is_over(job)) {
        job_refuse(job);
        return;
    }
    struct db *db = connection_take(store);
    enum err err = db ? OK : connection_open(store, DB_READ_ONLY, &db, &fault);
    if (!err) {
        job_give_time(job, db);
        err = db->ops->begin(db, false, &now_ms, &fault);
    }
    job_tx_init(job, db, now_ms);
    if (!err) {
        err = job->fn(&job->tx, job->arg);
        db->ops->rollback(db);
    }
    if (fault.err)
        job->tx.fault = fault;
    if (db)
        connection_give(store, db);
    job_finish(job, err);
}

void sqlite_open_pools(struct store *store, unsigned readers)
{
    const struct fair_limits writes = {.waiting_per_key = WAITING_PER_KEY,
                                       .waiting = WAITING_MAX,
                                       .operator_waiting = WAITING_MAX};
    struct fair_limits reads = writes; /* one reader more, which is the service's own */
    reads.running = readers;
    reads.running_per_key = MAX(readers / 2, 1);
    store->pools[STORE_READ] = pool_new_limited("store-read", readers + 1, 0, &reads);
    store->pools[STORE_WRITE] = pool_new_limited("store-write", 1, 0, &writes);
    pool_set_between(store->pools[STORE_WRITE], commit_when_due, store);
}

/* Thread: the store's loop. */
void sqlite_sweep(struct store *store)
{
    pool_sweep(store->pools[STORE_READ], read_job, job_is_over, job_refuse);
    pool_sweep(store->pools[STORE_WRITE], write_job, job_is_over, job_refuse);
}

/* Thread: any. */
enum err sqlite_submit(struct job *job)
{
    return pool_run_fair(job->store->pools[job->mode],
                         job->lane == STORE_REQUESTS ? job->key : FAIR_OPERATOR,
                         job->mode == STORE_READ ? read_job : write_job, NULL, NULL, job);
}

/* Changes by other processes. */

static void look_for_others(void *arg)
{
    struct store *store = arg;
    int64_t version = db_sqlite_data_version(store->sqlite.db);
    if (version != store->sqlite.data_version)
        watch_tell(store, STORE_ALL);
    store->sqlite.data_version = version;
}

/* Thread: the store's loop. */
static void looked(void *arg)
{
    struct store *store = arg;
    if (!atomic_load(&store->is_closing))
        timer_set_after(&store->sqlite.look, OTHER_PROCESS_LOOK_US);
}

/* Thread: the store's loop. */
static void look(void *arg)
{
    struct store *store = arg;
    if (pool_run(store->pools[STORE_WRITE], look_for_others, store->loop, looked, store))
        looked(store);
}

void sqlite_start(struct store *store)
{
    store->sqlite.data_version = db_sqlite_data_version(store->sqlite.db);
    timer_init(&store->sqlite.look, store->loop, look, store);
    timer_set_after(&store->sqlite.look, OTHER_PROCESS_LOOK_US);
}

void sqlite_stop(struct store *store)
{
    timer_stop(&store->sqlite.look);
    group_commit(store);
}
