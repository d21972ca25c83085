/* The store's inside: its threads, connections and queues, for the files that run jobs. Resources
 * need only tx.h. Thread: see each member. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/ids.h"
#include "base/list.h"
#include "base/loop.h"
#include "store/db.h"
#include "store/store.h"
#include "store/tx.h"

enum {
    CONNECTIONS_MAX = 80,
    WATCHES_MAX = 16,
    WAITING_MAX = 10000,                 /* jobs of all, of the service's own, */
    WAITING_PER_KEY = 1000,              /* and of one line */
    JOB_ARENA_BYTES = 128 * 1024 * 1024, /* several times the largest file; then it fails */
};

struct job {
    struct store *store;
    enum store_mode mode;
    enum store_lane lane;
    char *key; /* NULL: FAIR_OPERATOR */
    store_fn *fn;
    void *arg;
    struct loop *done_loop;
    store_done_fn *done;
    struct tx tx;
    enum err result;
    struct list_node link;     /* SQLite: in the group; PostgreSQL: waits for its retry */
    int64_t queued_us, due_us; /* due: given up then, unless it runs */
    /* PostgreSQL */
    unsigned attempts;
    struct timer retry;
    char in_doubt[DB_TRANSACTION_SIZE]; /* a commit whose answer was lost; "": none */
};

struct store_watch {
    unsigned topics;
    struct bell *bell;
};

/* watch.c: a place is filled before it is counted, and stays. */
struct store_watches {
    _Atomic unsigned count;
    struct store_watch items[WATCHES_MAX];
};

/* job_sqlite.c: the one writer, whose jobs share a commit. Its thread's, but for `look`. */
struct store_sqlite {
    struct db *db;
    int64_t data_version;
    struct list_node group; /* jobs that wait for the commit */
    unsigned group_count;
    int64_t group_began_us;
    bool is_group_open;
    struct timer look; /* at what another process has written; the store's loop */
};

/* job_pg.c: what other nodes tell, and the jobs that are to be tried again. The store's loop. */
struct store_pg {
    struct db *listener; /* NULL: it is being opened */
    struct io *listen_io;
    struct timer listen_again;
    struct list_node retrying;
    struct map *retrying_of; /* key -> how many of it */
};

/* job.c: the end of the jobs (store_drain()). Any thread. */
struct store_drain {
    _Atomic bool is_begun, is_over;
    _Atomic unsigned under_way; /* jobs until their `done` has returned; one more until it begins */
    _Atomic int64_t end_us;     /* monotonic; what is not done by then is given up. INT64_MAX */
    /* who is told that the last one is done; set before is_begun */
    struct loop *loop;
    loop_fn *fn;
    void *arg;
};

struct store {
    /* constant after store_open() */
    char *data_dir, *location; /* location: the file's path or the URL */
    char node[ID_SIZE * 2];
    uint8_t master_key[MASTER_KEY_BYTES];
    bool is_pg, starts_later, is_running;
    int64_t patience_us[STORE_LANES], run_us; /* run_us: of store_run() */
    struct loop *loop;                        /* what is due; PostgreSQL: retries and LISTEN */
    /* Where jobs run. SQLite: by enum store_mode, the readers and the writer; PostgreSQL: by enum
     * store_lane. */
    struct pool *pools[STORE_LANES];

    /* any thread */
    _Atomic int64_t epoch; /* of this process among those of its name (store/node.c); 0: none */
    _Atomic bool is_up, is_closing;
    _Atomic uint64_t commits; /* of write jobs */
    _Atomic unsigned users;   /* the jobs under way, and whoever opened it: the last one frees it */
    struct db *_Atomic idle[CONNECTIONS_MAX];
    struct store_watches watches;
    struct store_drain drain;

    /* the caller of store_run() */
    struct db *direct;

    struct store_sqlite sqlite; /* unless is_pg */
    struct store_pg pg;
    struct timer sweep; /* the store's loop */
};

/* identity.c */
/* The data directory, the master key, the node's name. */
enum err identity_load(struct store *store, const struct store_config *config,
                       struct fault *fault) MUST_USE;
/* A job: does the master key fit what the database holds (arg: bool *)? Notes it when it is new. */
enum err identity_check(struct tx *tx, void *arg) MUST_USE;

/* node.c: whose lease it is; in the job's arena */
const char *node_lease(struct tx *tx);        /* "name:epoch", of this process */
const char *node_lease_prefix(struct tx *tx); /* "name:", of all its starts */
bool node_may_lease(const struct tx *tx);     /* false until store_node_start(), if it comes */

/* store.c */
/* Its memory outlives store_close() until the last job was answered. */
void store_release(struct store *store);

/* job.c */
enum err connection_open(struct store *store, unsigned flags, struct db **out,
                         struct fault *fault) MUST_USE;
struct db *connection_take(struct store *store);
void connection_give(struct store *store, struct db *db);
/* How long a job's answer is waited for. */
extern const int64_t jobs_patience_us[STORE_LANES];
enum err job_class_of(enum err fault); /* the classes of faults that store.h tells of */
extern const int64_t jobs_run_us;      /* run.c: store_run() */
void job_give_time(const struct job *job, struct db *db);
void job_tx_init(struct job *job, struct db *db, int64_t now_ms); /* a fresh arena for an attempt */
void job_finish(struct job *job, enum err result);                /* logs, answers, frees */
bool job_is_over(void *job);                                      /* is its time up? */
void job_refuse(void *job);                                       /* finishes it with ERR_BUSY */
void jobs_sweep(void *store);                                     /* the store's loop */

/* job_sqlite.c, job_pg.c: how a job runs */
enum err sqlite_submit(struct job *job) MUST_USE;
enum err pg_submit(struct job *job) MUST_USE;
void sqlite_open_pools(struct store *store, unsigned readers);
void pg_open_pools(struct store *store, unsigned connections);
/* Refuses what waits and is over. The store's loop. */
void sqlite_sweep(struct store *store);
void pg_sweep(struct store *store);
void sqlite_start(struct store *store);     /* the store's loop */
void sqlite_stop(struct store *store);      /* the same */
void pg_start(struct store *store);         /* the same */
void pg_stop(struct store *store);          /* the same */
enum err pg_notify(struct tx *tx) MUST_USE; /* inside the transaction: tells other processes */

/* watch.c */
void watch_tell(struct store *store, unsigned topics); /* any thread, after the commit */
void watches_clear(struct store *store);

/* For the tests that look at their plans; the last is NULL. */
extern const char *const store_vector_looks[], *const store_tool_looks[];
