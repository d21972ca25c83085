/* The store: jobs that run SQL in one transaction each, on threads of its own.
 *
 * SQLite (default): write jobs run one by one on the writer, each in a savepoint; all that wait
 * share one commit (WAL, synchronous=FULL). Read jobs run on several reader connections.
 * PostgreSQL (a URL): each job runs in its own transaction of a connection pool and is run again
 * after a serialization fault, a deadlock or a lost connection; a commit whose answer was lost is
 * looked up, so that no job takes effect twice.
 *
 * `done` is called only after the commit. So: what a job tells must not leave before `done`.
 *
 *   loop --store_job()--> line --> store thread: begin, fn(tx, arg), commit --> done(arg, err)
 *
 * Tenants share it fairly (base/fair.h, by microseconds): a job stands in the line of its
 * workspace, and only that line is refused when it is full. The service's own jobs (calls, money,
 * deliveries, recovery) never wait for tenants' jobs, and a lease waits for nothing.
 *
 * Thread: store_job() any; fn a store thread; done its loop. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/crypto.h"
#include "base/err.h"
#include "base/fair.h"
#include "base/loop.h"

struct db;
struct store;

enum store_mode { STORE_READ, STORE_WRITE };

enum store_lane {
    STORE_REQUESTS, /* somebody waits for the answer: given up after 10 s */
    STORE_OWN,      /* the service's own: goes before requests, tried for two minutes */
    STORE_LEASE,    /* the node's lease: goes before all */
    STORE_LANES
};
/* Where a job stands. */
struct store_line {
    const char *key; /* whose it is: a workspace's id, copied. STORE_OWN: so that a workspace whose
                        rows are locked holds up its own calls only; or FAIR_OPERATOR */
    enum store_mode mode;
    enum store_lane lane;
};

struct store_config {
    const char *data_dir;     /* made (0700) when missing; earshot.db, master.key, node.id */
    const char *database_url; /* "postgres://..." or "" for SQLite in data_dir */
    const char *master_key;   /* 64 hex digits, or "": the file master.key, made when missing */
    const char *node_name;    /* unique among the nodes of one database; "": the file node.id */
    unsigned connections;     /* SQLite: readers, 0: 3; PostgreSQL: for requests, 0: 8 */
    bool starts_later; /* store_node_start() comes: nothing is leased before it has an epoch, since
                          what an earlier start left leased is given back by it */
};

/* What a job works with. Plain data; lives until `done` has returned. */
struct tx {
    struct arena *arena;
    int64_t now_ms;   /* wall time of the transaction's start, by the database's clock */
    int64_t begun_us; /* the same moment by our own monotonic clock */
    struct store *store;
    const uint8_t *master_key; /* MASTER_KEY_BYTES, for what must be sealed outside a resource */
    struct fault fault;        /* why it failed; the first cause stays */
    struct db *db;             /* for store/ only */
    unsigned changed;          /* enum store_topic bits, told to watchers after the commit */
    bool is_write;
};

/* Anything but OK rolls back all that the job wrote and is what `done` gets. fn may run again from
 * the start: it sets what it hands out through arg anew each time. A database fault inside fn fails
 * the job even when fn returns OK, so that reads need no checks of their own. */
typedef enum err store_fn(struct tx *tx, void *arg);
/* err: OK, what fn returned, or a fault of the store, of one of these classes:
 *   transient   ERR_BUSY: nothing was written. The database is away, locked or too slow, or too
 *               much waits. ERR_IO: nor here; the disk is full or fails. Try again, with growing
 *               pauses and an end.
 *   permanent   any other: nothing was written, and the same record will fail again. ERR_INVALID:
 *               the database refuses it (constraint, encoding). ERR_INTERNAL: what is stored does
 *               not read. ERR_LIMIT: it is too big. Set the record aside (tx_try() does within a
 *               job, store/dead_letter.h).
 *   in doubt    ERR_TIMEOUT: the connection was lost at the commit, and the database stayed away:
 *               it was written or it was not. Never of a STORE_OWN job before store_close().
 * tx->arena is freed when it returns. */
typedef void store_done_fn(void *arg, enum err err);

/* Opens or makes the database, brings its tables to this version (safe when several start at once)
 * and starts the threads. ERR_INVALID: bad URL or key; ERR_UNSUPPORTED: the tables are of a newer
 * version; ERR_IO. */
enum err store_open(const struct store_config *config, struct store **out,
                    struct fault *fault) MUST_USE;
/* The end of the service: from now on jobs are refused (ERR_BUSY), those that wait are run, and
 * what is not done after most_us is given up (ERR_BUSY, ERR_TIMEOUT). fn(arg) comes on `loop` when
 * the last `done` has returned, so that whom they tell may go. All loops run. Once. Thread: any. */
void store_drain(struct store *store, int64_t most_us, struct loop *loop, loop_fn *fn, void *arg);
/* Waits for running jobs; queued ones are run too, for 5 s at most. No loop that they answer to may
 * be gone, nor who is told when it is freed (store_drain() sees to it): answers may come then. */
void store_close(struct store *store);

bool store_is_transient(enum err err); /* ERR_BUSY, ERR_IO */

/* arg is owned by fn and done in turn. done may be NULL (then loop may be, too). Thread: any.
 * ERR_BUSY: 1,000 jobs of this line or 10,000 of all wait (then neither is called). */
enum err store_job_for(struct store *store, struct store_line line, store_fn *fn, void *arg,
                       struct loop *done_loop, store_done_fn *done) MUST_USE;
/* The service's own, without a key. */
enum err store_job(struct store *store, enum store_mode mode, store_fn *fn, void *arg,
                   struct loop *done_loop, store_done_fn *done) MUST_USE;
/* Runs a job in the calling thread on a connection of its own and returns its result, as `done`
 * would get it: command line, start, tests. Thread: one at a time, never a loop that serves. */
enum err store_run(struct store *store, enum store_mode mode, store_fn *fn, void *arg,
                   struct fault *fault) MUST_USE;

/* What may have changed, told after a commit of this process or, as far as it can be noticed
 * (SQLite's data_version, PostgreSQL's NOTIFY, both only hints), of another one. */
enum store_topic {
    STORE_OUTBOX = 1,    /* deliveries are due */
    STORE_COMMANDS = 2,  /* end or say for some node */
    STORE_DOCUMENTS = 4, /* a document waits to be read */
    STORE_KEYS = 8,      /* a key was rotated or revoked, an agent removed */
    STORE_BALANCE = 16,  /* a credit */
    STORE_ALL = 31,
};
typedef void store_watch_fn(void *arg, unsigned topics);
struct store_watch;
/* fn runs on `loop`. At most 16 watches in a store's life. Call at start, before jobs run. */
struct store_watch *store_watch(struct store *store, unsigned topics, struct loop *loop,
                                store_watch_fn *fn, void *arg);
/* On the watch's loop, or when it does not run: after it fn comes no more, nothing is posted to the
 * loop, which may go. */
void store_unwatch(struct store_watch *watch);

/* Is the database answering? From the last job's outcome; for /readyz. Thread: any. */
bool store_is_up(const struct store *store);
/* Write jobs that were committed so far: does the database take anything? Thread: any. */
uint64_t store_commits(const struct store *store);
bool store_is_postgres(const struct store *store);
const char *store_node(const struct store *store); /* this node's name */
const uint8_t *store_master_key(const struct store *store);
const char *store_data_dir(const struct store *store);

/* "sqlite 3.40.1, 12 MB, version 3": for doctor and show. */
enum err store_describe(struct tx *tx, struct buf *out) MUST_USE;
