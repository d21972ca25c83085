/* Jobs on SQLite. Write jobs are messages to the writer's loop: the first of a turn begins the
 * transaction, each runs in its own savepoint, and what has come in by the end of the turn shares
 * one commit, after which all are answered. One that fails is answered with the others, because it
 * may have seen what they wrote.
 *
 *   post, post, post -> BEGIN, [SAVEPOINT fn RELEASE] x 3 -> (deferred) COMMIT -> done x 3
 *
 * Read jobs run on the pool, each on a connection of its own, in one snapshot.
 * Thread: the store's loop, except where it says otherwise. */
#include "base/clock.h"
#include "base/log.h"
#include "base/pool.h"
#include "store/internal.h"

enum {
    GROUP_MAX = 256,                /* jobs of one commit */
    GROUP_LONGEST_US = 10000,       /* the first one does not wait longer for the others */
    OTHER_PROCESS_LOOK_US = 250000, /* a command-line program beside the service */
};

static void group_commit(void *arg)
{
    struct store *store = arg;
    if (!store->is_group_open)
        return;
    store->is_group_open = false;
    struct fault fault = {0};
    enum err failed = OK;
    if (!db_sqlite_is_in_transaction(store->own))
        failed = fault_set(&fault, ERR_IO, "SQLite has undone the transaction");
    if (!failed)
        failed = store->own->ops->commit(store->own, &fault);
    if (failed) {
        store->own->ops->rollback(store->own);
        log_error("store.commit", LOG_S("error", fault.text), LOG_I("jobs", store->group_count));
    }
    atomic_store(&store->is_up, !failed);
    unsigned changed = 0;
    struct job *job;
    LIST_EACH(job, &store->group, struct job, link)
    {
        list_remove(&job->link);
        changed |= failed || job->result ? 0 : job->tx.changed;
        job_finish(job, failed ? ERR_IO : job->result);
    }
    store->group_count = 0;
    watch_tell(store, changed);
}

static enum err group_begin(struct store *store, struct fault *fault)
{
    if (store->is_group_open)
        return OK;
    int64_t now_ms;
    enum err err = store->own->ops->begin(store->own, true, &now_ms, fault);
    if (err)
        return err;
    store->is_group_open = true;
    store->group_began_us = clock_now_us();
    loop_defer(store->loop, group_commit, store);
    return OK;
}

static enum err run_in_savepoint(struct job *job)
{
    struct db *db = job->tx.db;
    enum err err = db->ops->script(db, "SAVEPOINT job", &job->tx.fault);
    if (!err)
        err = job->fn(&job->tx, job->arg);
    if (job->tx.fault.err)
        err = ERR_IO;
    if (!db_sqlite_is_in_transaction(db))
        return ERR_IO;
    const char *end = err ? "ROLLBACK TO job; RELEASE job" : "RELEASE job";
    return db->ops->script(db, end, &job->tx.fault) ? ERR_IO : err;
}

static void write_job(void *arg)
{
    struct job *job = arg;
    struct store *store = job->store;
    struct fault fault = {0};
    enum err err = group_begin(store, &fault);
    job_tx_init(job, store->own, clock_wall_ms());
    if (err) {
        job->tx.fault = fault;
        job_finish(job, err == ERR_AGAIN ? ERR_BUSY : ERR_IO);
        return;
    }
    job->result = run_in_savepoint(job);
    list_push_back(&store->group, &job->link);
    store->group_count++;
    bool is_long = clock_now_us() - store->group_began_us >= GROUP_LONGEST_US;
    if (store->group_count >= GROUP_MAX || is_long || !db_sqlite_is_in_transaction(store->own))
        group_commit(store);
}

/* Thread: a reader of the pool. */
static void read_job(void *arg)
{
    struct job *job = arg;
    struct store *store = job->store;
    struct fault fault = {0};
    int64_t now_ms = 0;
    struct db *db = connection_take(store);
    enum err err = db ? OK : connection_open(store, DB_READ_ONLY, &db, &fault);
    if (!err)
        err = db->ops->begin(db, false, &now_ms, &fault);
    job_tx_init(job, db, now_ms);
    if (!err) {
        err = job->fn(&job->tx, job->arg);
        db->ops->rollback(db);
    }
    if (fault.err)
        job->tx.fault = fault;
    if (db)
        connection_give(store, db);
    job_finish(job, job->tx.fault.err ? ERR_IO : err);
}

enum err sqlite_submit(struct job *job)
{
    if (job->mode == STORE_READ)
        return pool_run(job->store->pool, read_job, NULL, NULL, job);
    loop_post(job->store->loop, write_job, job);
    return OK;
}

static void look_for_others(void *arg)
{
    struct store *store = arg;
    int64_t version = db_sqlite_data_version(store->own);
    if (version != store->data_version)
        watch_tell(store, STORE_ALL);
    store->data_version = version;
    timer_set_after(&store->tick, OTHER_PROCESS_LOOK_US);
}

void sqlite_start(struct store *store)
{
    store->data_version = db_sqlite_data_version(store->own);
    timer_init(&store->tick, store->loop, look_for_others, store);
    timer_set_after(&store->tick, OTHER_PROCESS_LOOK_US);
}

void sqlite_stop(struct store *store)
{
    timer_stop(&store->tick);
    group_commit(store);
}
