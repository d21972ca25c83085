/* Jobs: what is common to both databases. How they run: job_sqlite.c, job_pg.c.
 * Thread: see each function. */
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "store/internal.h"

enum err connection_open(struct store *store, unsigned flags, struct db **out, struct fault *fault)
{
    return store->is_pg ? db_pg_open(store->location, out, fault)
                        : db_sqlite_open(store->location, flags, out, fault);
}

/* There are as many connections as threads, so a free place or connection is always found. */
struct db *connection_take(struct store *store)
{
    for (unsigned i = 0; i < CONNECTIONS_MAX; i++) {
        struct db *db = atomic_exchange(&store->idle[i], NULL);
        if (db)
            return db;
    }
    return NULL;
}

void connection_give(struct store *store, struct db *db)
{
    for (unsigned i = 0; i < CONNECTIONS_MAX; i++) {
        struct db *none = NULL;
        if (atomic_compare_exchange_strong(&store->idle[i], &none, db))
            return;
    }
    db_close(db);
}

void job_tx_init(struct job *job, struct db *db, int64_t now_ms)
{
    arena_free(job->tx.arena);
    job->tx = (struct tx){.arena = arena_new(JOB_ARENA_BYTES),
                          .now_ms = now_ms,
                          .store = job->store,
                          .master_key = job->store->master_key,
                          .db = db,
                          .is_write = job->mode == STORE_WRITE};
}

static void job_free(struct job *job)
{
    arena_free(job->tx.arena);
    mem_free(job);
}

static void call_done(void *arg)
{
    struct job *job = arg;
    job->done(job->arg, job->result);
    job_free(job);
}

void job_finish(struct job *job, enum err result)
{
    struct store *store = job->store;
    if (job->tx.fault.err)
        log_error("store.fault", LOG_S("error", job->tx.fault.text),
                  LOG_S("mode", job->mode == STORE_WRITE ? "write" : "read"));
    metric_observe_label_us(METRIC_STORE_JOB_SECONDS, job->mode == STORE_WRITE ? "write" : "read",
                            clock_now_us() - job->queued_us);
    atomic_fetch_sub(&store->waiting, 1);
    job->result = result;
    if (job->done)
        loop_post(job->done_loop, call_done, job);
    else
        job_free(job);
}

enum err store_job(struct store *store, enum store_mode mode, store_fn *fn, void *arg,
                   struct loop *done_loop, store_done_fn *done)
{
    if (atomic_fetch_add(&store->waiting, 1) >= JOBS_WAITING_MAX) {
        atomic_fetch_sub(&store->waiting, 1);
        return ERR_BUSY;
    }
    struct job *job = mem_new(struct job);
    *job = (struct job){.store = store,
                        .mode = mode,
                        .fn = fn,
                        .arg = arg,
                        .done_loop = done_loop,
                        .done = done,
                        .queued_us = clock_now_us()};
    enum err err = store->is_pg ? pg_submit(job) : sqlite_submit(job);
    if (err) {
        atomic_fetch_sub(&store->waiting, 1);
        mem_free(job);
    }
    return err;
}

/* --- in the calling thread --- */

static enum err run_once(struct store *store, struct job *job)
{
    int64_t now_ms = 0;
    struct fault fault = {0};
    struct db *db = store->direct;
    enum err err = db->ops->begin(db, job->mode == STORE_WRITE, &now_ms, &fault);
    job_tx_init(job, db, now_ms);
    if (err) {
        job->tx.fault = fault;
        return err;
    }
    bool is_write = job->mode == STORE_WRITE;
    err = job->fn(&job->tx, job->arg);
    if (!err && is_write && store->is_pg)
        err = pg_notify(&job->tx);
    if (job->tx.fault.err)
        err = job->tx.fault.err;
    if (!err && is_write)
        err = db->ops->commit(db, &job->tx.fault);
    if (err || !is_write)
        db->ops->rollback(db);
    return err;
}

enum err store_run(struct store *store, enum store_mode mode, store_fn *fn, void *arg,
                   struct fault *fault)
{
    enum { ATTEMPTS = 20 };
    struct job job = {.store = store, .mode = mode, .fn = fn, .arg = arg};
    enum err err = ERR_AGAIN;
    for (int i = 0; i < ATTEMPTS && err == ERR_AGAIN; i++) {
        if (!store->direct) {
            enum err failed = connection_open(store, 0, &store->direct, fault);
            if (failed)
                return failed == ERR_CLOSED ? ERR_BUSY : ERR_IO;
        }
        err = run_once(store, &job);
    }
    if (err == ERR_CLOSED) {
        db_close(store->direct);
        store->direct = NULL;
    }
    if (job.tx.fault.err)
        err = fault_set(fault, ERR_IO, "%s", job.tx.fault.text);
    else if (!err)
        watch_tell(store, job.tx.changed);
    arena_free(job.tx.arena);
    return err;
}
