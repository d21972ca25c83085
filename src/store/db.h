/* One connection to a database, the only thing that differs between SQLite and PostgreSQL. SQL is
 * written once for both: `?` placeholders; integers, text and bytes; and what a driver translates:
 *
 *   {id} {serial} {blob}   column types in the schema (text in byte order; a counting key; bytes)
 *   FOR UPDATE [SKIP LOCKED]  nothing on SQLite, where one writer runs
 *
 * Statements are prepared once a connection and kept. Thread: one at a time. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/clock.h"
#include "base/err.h"

struct db;
struct rows;

enum db_type { DB_END, DB_NULL, DB_INT, DB_TEXT, DB_BLOB };
struct db_value {
    enum db_type type;
    int64_t number;
    const void *data; /* borrowed for the statement */
    size_t len;
};

/* Faults: ERR_AGAIN: run the whole transaction again at once (deadlock, serialization). ERR_BUSY:
 * later; a lock was not had, or a statement was cut for its time. ERR_CLOSED: the connection is
 * lost. ERR_INVALID, ERR_LIMIT: these values are refused, now and later. ERR_IO: all else (the disk
 * or memory of the database is full or fails). */
enum { DB_TRANSACTION_SIZE = 64 };

struct db_ops {
    bool is_pg;
    void (*close)(struct db *db);
    /* out_now_ms: wall time by the database's clock. */
    enum err (*begin)(struct db *db, bool is_write, int64_t *out_now_ms, struct fault *fault);
    /* ERR_CLOSED: whether it took effect is not known; ask outcome() of a new connection. */
    enum err (*commit)(struct db *db, struct fault *fault);
    void (*rollback)(struct db *db);
    /* Names the write transaction that was begun last, for outcome(). */
    const char *(*transaction)(struct db *db);
    /* What became of a transaction of a connection that was lost in commit(); asked on another
     * connection, again when the answer was lost. OK: committed. ERR_NOT_FOUND: it did not and will
     * not take effect. */
    enum err (*outcome)(struct db *db, const char *transaction, struct fault *fault);

    /* values ends with DB_END. OK: *out is to be closed. */
    enum err (*query)(struct db *db, const char *sql, const struct db_value *values,
                      struct rows **out, struct fault *fault);
    /* Statements without values, separated by `;`. */
    enum err (*script)(struct db *db, const char *sql, struct fault *fault);
    /* True: a row is there. False: the end, or a fault (fault->err is set). */
    bool (*next)(struct rows *rows, struct fault *fault);
    bool (*is_null)(struct rows *rows, unsigned column);
    int64_t (*number)(struct rows *rows, unsigned column);
    /* Until the next row. text is terminated; len may be NULL. */
    const char *(*text)(struct rows *rows, unsigned column, size_t *out_len);
    const void *(*blob)(struct rows *rows, unsigned column, size_t *out_len);
    int64_t (*changed)(struct rows *rows); /* rows written, valid after the end */
    void (*rows_close)(struct rows *rows);
};

struct db {
    const struct db_ops *ops;
    /* How long its user waits: a statement that is not answered by then is given up. On PostgreSQL
     * the connection is lost with it, and the server, if it lives, is told to give up before. */
    int64_t due_us;                /* monotonic; 0: for ever */
    unsigned lock_ms;              /* for a lock within that; used with due_us */
    const _Atomic int64_t *end_us; /* the store's own; NULL: none */
};

static inline bool db_is_over(const struct db *db)
{
    int64_t now_us = clock_now_us();
    return (db->due_us && now_us >= db->due_us) ||
           (db->end_us && now_us >= atomic_load_explicit(db->end_us, memory_order_relaxed));
}
struct rows {
    struct db *db;
};

static inline void db_close(struct db *db)
{
    if (db)
        db->ops->close(db);
}

enum { DB_READ_ONLY = 1, DB_FAST = 2 /* SQLite: a derived file, not synced */ };
enum err db_sqlite_open(const char *path, unsigned flags, struct db **out,
                        struct fault *fault) MUST_USE;
/* A number that changes when another connection has committed; SQLite only. */
int64_t db_sqlite_data_version(struct db *db);
/* After a fault: has SQLite rolled back the whole transaction by itself? */
bool db_sqlite_is_in_transaction(const struct db *db);

enum err db_pg_open(const char *url, struct db **out, struct fault *fault) MUST_USE;
/* For LISTEN: the socket to watch, and reading what came (true: a notification came). ERR_CLOSED.
 */
int db_pg_socket(const struct db *db);
void db_pg_pause(unsigned ms); /* of a caller who may wait */
enum err db_pg_notifications(struct db *db, unsigned *out_topics) MUST_USE;
