/* Jobs: what is common to both databases. How they run: job_sqlite.c, job_pg.c.
 *
 *   store_job() --> the line of its key in a pool (base/pool.h) --> run --> job_finish() --> done
 *                    '--10 s, for a request--> swept: ERR_BUSY
 *
 * Thread: see each function. */
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "base/pool.h"
#include "store/internal.h"

enum {
    SWEEP_US = 250000,     /* how late a job that waits may be given up */
    ATTEMPT_US = 10000000, /* of a job that is patient: then another connection is tried */
};

static const unsigned lock_ms[STORE_LANES] = {
    [STORE_REQUESTS] = 3000,
    [STORE_OWN] = 1000,
    [STORE_LEASE] = 1000,
};
const int64_t jobs_patience_us[STORE_LANES] = {
    [STORE_REQUESTS] = 10000000, /* somebody waits, and may ask again */
    [STORE_OWN] = 120000000,     /* a call's turn or end must not be lost to a restart */
    [STORE_LEASE] = 3000000,     /* the next renewal is due by then */
};

/* A call's record that may be written or not: there is no end to asking but the store's. */
static bool job_must_know(const struct job *job)
{
    return job->in_doubt[0] && job->lane == STORE_OWN;
}

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

/* What a statement of the job may take. Thread: the job's. */
void job_give_time(const struct job *job, struct db *db)
{
    int64_t longest_us = clock_now_us() + ATTEMPT_US;
    db->end_us = &job->store->drain.end_us;
    db->due_us = job_must_know(job) ? longest_us : MIN(job->due_us, longest_us);
    db->lock_ms = lock_ms[job->lane];
}

void job_tx_init(struct job *job, struct db *db, int64_t now_ms)
{
    arena_free(job->tx.arena);
    job->tx = (struct tx){.arena = arena_new(JOB_ARENA_BYTES),
                          .now_ms = now_ms,
                          .begun_us = clock_now_us(),
                          .store = job->store,
                          .master_key = job->store->master_key,
                          .db = db,
                          .is_write = job->mode == STORE_WRITE};
}

/* One that was under way is no more. */
static void release(struct store *store)
{
    if (atomic_fetch_sub(&store->drain.under_way, 1) == 1 &&
        !atomic_exchange(&store->drain.is_over, true))
        loop_post(store->drain.loop, store->drain.fn, store->drain.arg);
}

void store_drain(struct store *store, int64_t most_us, struct loop *loop, loop_fn *fn, void *arg)
{
    store->drain.loop = loop;
    store->drain.fn = fn;
    store->drain.arg = arg;
    atomic_store(&store->drain.end_us, clock_now_us() + most_us);
    atomic_store(&store->drain.is_begun, true);
    release(store);
}

static void job_free(struct job *job)
{
    struct store *store = job->store;
    arena_free(job->tx.arena);
    mem_free(job->key);
    mem_free(job);
    release(store);
    store_release(store);
}

static void call_done(void *arg)
{
    struct job *job = arg;
    job->done(job->arg, job->result);
    job_free(job);
}

/* The classes of faults that store.h tells of. */
enum err job_class_of(enum err fault)
{
    return fault == ERR_AGAIN || fault == ERR_CLOSED ? ERR_BUSY : fault;
}

bool store_is_transient(enum err err)
{
    return err == ERR_BUSY || err == ERR_IO;
}

static enum err result_of(const struct job *job, enum err result)
{
    if (job->in_doubt[0])
        return ERR_TIMEOUT;
    /* A job's own outcome is its caller's business: ERR_AGAIN asks the API to resolve names. */
    return job->tx.fault.err ? job_class_of(job->tx.fault.err) : result;
}

static void log_fault(const struct job *job, const char *mode)
{
    const char *text = job->tx.fault.text;
    if (job->tx.fault.err && (store_is_transient(job->result) || job->in_doubt[0]))
        log_warn("store.fault", LOG_S("error", text), LOG_S("mode", mode),
                 LOG_S("class", job->in_doubt[0] ? "in doubt" : "transient"));
    else if (job->tx.fault.err)
        log_error("store.fault", LOG_S("error", text), LOG_S("mode", mode),
                  LOG_S("class", "permanent"));
}

void job_finish(struct job *job, enum err result)
{
    const char *mode = job->mode == STORE_WRITE ? "write" : "read";
    job->result = result_of(job, result);
    log_fault(job, mode);
    if (!job->result && job->mode == STORE_WRITE)
        atomic_fetch_add(&job->store->commits, 1);
    metric_observe_label_us(METRIC_STORE_JOB_SECONDS, mode, clock_now_us() - job->queued_us);
    if (job->done)
        loop_post(job->done_loop, call_done, job);
    else
        job_free(job);
}

bool job_is_over(void *arg)
{
    const struct job *job = arg;
    int64_t now_us = clock_now_us();
    return now_us >= atomic_load(&job->store->drain.end_us) ||
           (now_us >= job->due_us && !job_must_know(job));
}

/* Gave up waiting: not begun, or between two attempts. */
void job_refuse(void *arg)
{
    struct job *job = arg;
    job_finish(job, ERR_BUSY);
}

void jobs_sweep(void *arg)
{
    struct store *store = arg;
    if (store->is_pg)
        pg_sweep(store);
    else
        sqlite_sweep(store);
    timer_set_after(&store->sweep, SWEEP_US);
}

enum err store_job_for(struct store *store, struct store_line line, store_fn *fn, void *arg,
                       struct loop *done_loop, store_done_fn *done)
{
    struct job *job = mem_new(struct job);
    int64_t now_us = clock_now_us();
    atomic_fetch_add(&store->drain.under_way, 1);
    atomic_fetch_add(&store->users, 1);
    *job = (struct job){.store = store,
                        .mode = line.mode,
                        .lane = line.lane,
                        .key = mem_strdup(line.key),
                        .fn = fn,
                        .arg = arg,
                        .done_loop = done_loop,
                        .done = done,
                        .queued_us = now_us,
                        .due_us = now_us + store->patience_us[line.lane]};
    enum err err = ERR_BUSY;
    if (!atomic_load(&store->drain.is_begun)) /* looked at after it is counted */
        err = store->is_pg ? pg_submit(job) : sqlite_submit(job);
    if (err)
        job_free(job);
    return err;
}

enum err store_job(struct store *store, enum store_mode mode, store_fn *fn, void *arg,
                   struct loop *done_loop, store_done_fn *done)
{
    struct store_line line = {.mode = mode, .lane = STORE_OWN};
    return store_job_for(store, line, fn, arg, done_loop, done);
}
