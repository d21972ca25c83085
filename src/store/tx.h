/* How the resources speak SQL inside a job. The first database fault fails the job: after it,
 * queries have no rows and writes do nothing, so that resource code reads straight down and checks
 * only what it means. Thread: the job's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/db.h"
#include "store/store.h"

#define NUMBER(n)                                                                                  \
    (struct db_value)                                                                              \
    {                                                                                              \
        .type = DB_INT, .number = (n)                                                              \
    }
#define TEXT(t) tx_text(t) /* NULL: null */
#define BLOB(p, n)                                                                                 \
    (struct db_value)                                                                              \
    {                                                                                              \
        .type = DB_BLOB, .data = (p), .len = (n)                                                   \
    }
#define VALUES(...)                                                                                \
    (const struct db_value[])                                                                      \
    {                                                                                              \
        __VA_ARGS__ __VA_OPT__(, )                                                                 \
        {                                                                                          \
            .type = DB_END                                                                         \
        }                                                                                          \
    }

struct db_value tx_text(const char *text);

/* AUTO(cursor) rows = QUERY(tx, "SELECT a, b FROM t WHERE id = ?", TEXT(id));
 * while (cursor_next(rows)) ... */
#define QUERY(tx, sql, ...) tx_query((tx), (sql), VALUES(__VA_ARGS__))
/* Number of rows written; 0 after a fault. */
#define EXEC(tx, sql, ...) tx_exec((tx), (sql), VALUES(__VA_ARGS__))
/* The first column of the first row; fallback when there is none. */
#define QUERY_NUMBER(tx, fallback, sql, ...)                                                       \
    tx_query_number((tx), (fallback), (sql), VALUES(__VA_ARGS__))

struct cursor;
struct cursor *tx_query(struct tx *tx, const char *sql, const struct db_value *values);
int64_t tx_exec(struct tx *tx, const char *sql, const struct db_value *values);
int64_t tx_query_number(struct tx *tx, int64_t fallback, const char *sql,
                        const struct db_value *values);

bool cursor_next(struct cursor *cursor);
void cursor_free(struct cursor *cursor);
DEFINE_AUTO(cursor)
bool cursor_is_null(struct cursor *cursor, unsigned column);
int64_t cursor_number(struct cursor *cursor, unsigned column); /* null: 0 */
/* Copies in the job's arena; null: "". */
const char *cursor_text(struct cursor *cursor, unsigned column);
/* The value of a stored word. ERR_INTERNAL, and the job's fault naming `what`: it is none of these.
 */
enum err cursor_word(struct cursor *cursor, unsigned column, const char *const *names, size_t count,
                     const char *what, int *out) MUST_USE;
const void *cursor_blob(struct cursor *cursor, unsigned column, size_t *out_len);
/* Borrowed until the next row. */
const char *cursor_peek(struct cursor *cursor, unsigned column, size_t *out_len);
const void *cursor_peek_blob(struct cursor *cursor, unsigned column, size_t *out_len);

bool tx_has_failed(const struct tx *tx);
/* What a function answers that found nothing: ERR_IO when a fault is why, else ERR_NOT_FOUND. */
enum err tx_missing(const struct tx *tx);
/* OK, or ERR_IO when a fault came. */
enum err tx_result(const struct tx *tx);
/* A function that reads one record has failed with err: does the record not read (its settings are
 * spoilt, its secret does not open)? Then the job may go on without it, and *out_why tells why.
 * false: another fault, which stays the job's. */
bool tx_forgive(struct tx *tx, enum err err, struct fault *out_why) MUST_USE;
/* Runs fn in a savepoint of its own: what fails there for good is undone, and the job goes on.
 * OK: done. ERR_IO: a transient fault (the database is away, full, busy): it stays the job's, which
 * fails and is tried again. Anything else: fn's refusal, or a fault of this record alone (over a
 * ceiling, unreadable, refused by the database): *out_why says which, and nothing of fn is left. */
enum err tx_try(struct tx *tx, store_fn *fn, void *arg, struct fault *out_why) MUST_USE;

/* Told to watchers after the commit. Whoever changes what others remember of the database or wait
 * for (store_topic) says so in the same job: a key that went is known for a second more to every
 * cache that is not told (api/keys.c), a balance until the next checkpoint (call/money.c). */
static inline void tx_touch(struct tx *tx, enum store_topic topic)
{
    tx->changed |= topic;
}

/* A list that grows in the job's arena: struct x *item = GROW(&list, arena); zeroed. */
#define GROW(list, arena)                                                                          \
    ((__typeof__((list)->items))tx_grow((list), sizeof(*(list)->items), (arena)))
void *tx_grow(void *any_list, size_t size, struct arena *arena);

/* Seals or opens a secret outside a field table; NULL or "" stays "". */
const char *tx_seal(struct tx *tx, const char *context, const char *secret);
const char *tx_open(struct tx *tx, const char *context, const char *sealed);
