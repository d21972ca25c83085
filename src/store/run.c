/* Jobs in the calling thread: command line, start, tests. As on the store's threads, a commit whose
 * answer was lost is looked up, so that a credit is given once.
 *
 *   begin, fn, commit --ok--> done
 *     |                '--connection lost--> look up --committed--> done
 *     |                                         |--not-----------> again
 *     '--deadlock--> again                      '--30 s----------> in doubt: ERR_TIMEOUT
 *
 * Thread: the caller's. */
#include <stdio.h>

#include "base/clock.h"
#include "store/internal.h"

enum {
    ATTEMPTS = 20,
    PAUSE_MS = 250, /* between two look-ups */
};
const int64_t jobs_run_us = 30000000;

static void drop_connection(struct store *store)
{
    db_close(store->direct);
    store->direct = NULL;
}

static enum err open_direct(struct store *store, struct fault *fault)
{
    enum err err = store->direct ? OK : connection_open(store, 0, &store->direct, fault);
    if (!err)
        store->direct->due_us = clock_now_us() + store->run_us;
    return err;
}

static enum err run_once(struct store *store, struct job *job)
{
    int64_t now_ms = 0;
    struct fault fault = {0};
    struct db *db = store->direct;
    bool is_write = job->mode == STORE_WRITE;
    db->lock_ms = (unsigned)(store->run_us / 1000);
    enum err err = db->ops->begin(db, is_write, &now_ms, &fault);
    job_tx_init(job, db, now_ms);
    if (err) {
        job->tx.fault = fault;
        return err;
    }
    err = job->fn(&job->tx, job->arg);
    if (!err && is_write && store->is_pg)
        err = pg_notify(&job->tx);
    if (job->tx.fault.err)
        err = job->tx.fault.err;
    if (!err && is_write) {
        err = db->ops->commit(db, &job->tx.fault);
        if (err == ERR_CLOSED)
            snprintf(job->in_doubt, sizeof(job->in_doubt), "%s", db->ops->transaction(db));
    }
    if (err || !is_write)
        db->ops->rollback(db);
    return err;
}

/* OK: it was committed. ERR_AGAIN: it was not and never will be. ERR_TIMEOUT: not known. */
static enum err settle(struct store *store, struct job *job)
{
    int64_t until_us = clock_now_us() + store->run_us;
    do {
        struct fault fault = {0};
        drop_connection(store);
        enum err err = open_direct(store, &fault);
        if (!err)
            err = store->direct->ops->outcome(store->direct, job->in_doubt, &fault);
        if (err == OK || err == ERR_NOT_FOUND) {
            job->in_doubt[0] = '\0';
            job->tx.fault = (struct fault){0};
            return err ? ERR_AGAIN : OK;
        }
        db_pg_pause(PAUSE_MS);
    } while (clock_now_us() < until_us);
    return ERR_TIMEOUT;
}

enum err store_run(struct store *store, enum store_mode mode, store_fn *fn, void *arg,
                   struct fault *fault)
{
    struct job job = {.store = store, .mode = mode, .fn = fn, .arg = arg};
    enum err err = ERR_AGAIN;
    for (int i = 0; i < ATTEMPTS && err == ERR_AGAIN; i++) {
        err = open_direct(store, fault);
        if (err) {
            arena_free(job.tx.arena);
            return job_class_of(err);
        }
        err = run_once(store, &job);
        if (job.in_doubt[0])
            err = settle(store, &job);
    }
    if (store->direct && err != ERR_TIMEOUT)
        store->direct->due_us = 0;
    if (job.tx.fault.err == ERR_CLOSED)
        drop_connection(store);
    if (job.in_doubt[0])
        err = fault_set(fault, ERR_TIMEOUT, "whether it was written is not known: %.120s",
                        job.tx.fault.text);
    else if (job.tx.fault.err)
        err = fault_set(fault, job_class_of(job.tx.fault.err), "%s", job.tx.fault.text);
    else if (!err)
        watch_tell(store, job.tx.changed);
    arena_free(job.tx.arena);
    return err;
}
