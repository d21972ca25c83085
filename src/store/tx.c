/* SQL inside a job, whatever the database: see tx.h. Thread: the job's. */
#include "store/tx.h"

#include <string.h>

#include "base/enum.h"
#include "base/mem.h"
#include "model/field.h"

struct cursor {
    struct tx *tx;
    struct rows *rows; /* NULL: the job has failed */
};

enum { SECRET_MAX_BYTES = 8 * 1024 * 1024 }; /* the longest is a kept answer (idempotency.c) */

struct db_value tx_text(const char *text)
{
    return text ? (struct db_value){.type = DB_TEXT, .data = text, .len = strlen(text)}
                : (struct db_value){.type = DB_NULL};
}

bool tx_has_failed(const struct tx *tx)
{
    return tx->fault.err != OK;
}

enum err tx_missing(const struct tx *tx)
{
    return tx_has_failed(tx) ? ERR_IO : ERR_NOT_FOUND;
}

enum err tx_result(const struct tx *tx)
{
    return tx_has_failed(tx) ? ERR_IO : OK;
}

static bool is_transient(enum err err)
{
    return err == ERR_IO || err == ERR_AGAIN || err == ERR_BUSY || err == ERR_CLOSED;
}

bool tx_forgive(struct tx *tx, enum err err, struct fault *out_why)
{
    if (err != ERR_INTERNAL || tx->fault.err != ERR_INTERNAL)
        return false;
    *out_why = tx->fault;
    tx->fault = (struct fault){0};
    return true;
}

enum err tx_try(struct tx *tx, store_fn *fn, void *arg, struct fault *out_why)
{
    const struct db_ops *ops = tx->db->ops;
    unsigned changed = tx->changed;
    if (tx_has_failed(tx) || ops->script(tx->db, "SAVEPOINT attempt", &tx->fault))
        return ERR_IO;
    enum err err = fn(tx, arg);
    if (tx_has_failed(tx))
        err = is_transient(tx->fault.err) ? ERR_IO : tx->fault.err;
    if (err == ERR_IO)
        return tx_has_failed(tx) ? ERR_IO : fault_set(&tx->fault, ERR_IO, "a part of a job failed");
    const char *end = err ? "ROLLBACK TO attempt; RELEASE attempt" : "RELEASE attempt";
    struct fault fault = {0};
    if (ops->script(tx->db, end, &fault)) {
        tx->fault = fault;
        return ERR_IO;
    }
    if (err) {
        *out_why = tx->fault;
        if (!out_why->err)
            fault_set(out_why, err, "%s", err_name(err));
        tx->fault = (struct fault){0};
        tx->changed = changed;
    }
    return err;
}

struct cursor *tx_query(struct tx *tx, const char *sql, const struct db_value *values)
{
    struct cursor *cursor = mem_new(struct cursor);
    cursor->tx = tx;
    if (!tx_has_failed(tx) && tx->db->ops->query(tx->db, sql, values, &cursor->rows, &tx->fault))
        cursor->rows = NULL;
    return cursor;
}

/* Rows are what tenants size: a job that was given more than its arena should hold ends here. */
bool cursor_next(struct cursor *cursor)
{
    struct tx *tx = cursor->tx;
    if (!cursor->rows || tx_has_failed(tx))
        return false;
    if (arena_is_full(tx->arena)) {
        fault_set(&tx->fault, ERR_LIMIT, "a job would hold more than %zu MB",
                  arena_bytes(tx->arena) >> 20);
        return false;
    }
    return tx->db->ops->next(cursor->rows, &tx->fault);
}

void cursor_free(struct cursor *cursor)
{
    if (!cursor)
        return;
    if (cursor->rows)
        cursor->tx->db->ops->rows_close(cursor->rows);
    mem_free(cursor);
}

int64_t tx_exec(struct tx *tx, const char *sql, const struct db_value *values)
{
    AUTO(cursor) cursor = tx_query(tx, sql, values);
    while (cursor_next(cursor)) {
    }
    return tx_has_failed(tx) ? 0 : tx->db->ops->changed(cursor->rows);
}

int64_t tx_query_number(struct tx *tx, int64_t fallback, const char *sql,
                        const struct db_value *values)
{
    AUTO(cursor) cursor = tx_query(tx, sql, values);
    return cursor_next(cursor) && !cursor_is_null(cursor, 0) ? cursor_number(cursor, 0) : fallback;
}

bool cursor_is_null(struct cursor *cursor, unsigned column)
{
    return cursor->tx->db->ops->is_null(cursor->rows, column);
}

int64_t cursor_number(struct cursor *cursor, unsigned column)
{
    return cursor_is_null(cursor, column) ? 0 : cursor->tx->db->ops->number(cursor->rows, column);
}

const char *cursor_peek(struct cursor *cursor, unsigned column, size_t *out_len)
{
    return cursor->tx->db->ops->text(cursor->rows, column, out_len);
}

const void *cursor_peek_blob(struct cursor *cursor, unsigned column, size_t *out_len)
{
    return cursor->tx->db->ops->blob(cursor->rows, column, out_len);
}

const char *cursor_text(struct cursor *cursor, unsigned column)
{
    size_t len;
    const char *text = cursor_peek(cursor, column, &len);
    return len ? arena_strndup(cursor->tx->arena, text, len) : "";
}

enum err cursor_word(struct cursor *cursor, unsigned column, const char *const *names, size_t count,
                     const char *what, int *out)
{
    const char *word = cursor_text(cursor, column);
    int value = enum_find(names, count, word);
    if (value < 0)
        return fault_set(&cursor->tx->fault, ERR_INTERNAL, "%s does not read: %.40s", what, word);
    *out = value;
    return OK;
}

const void *cursor_blob(struct cursor *cursor, unsigned column, size_t *out_len)
{
    size_t len;
    const void *blob = cursor->tx->db->ops->blob(cursor->rows, column, &len);
    char *copy = arena_alloc(cursor->tx->arena, len + 1);
    memcpy(copy, blob, len);
    *out_len = len;
    return copy;
}

void *tx_grow(void *any_list, size_t size, struct arena *arena)
{
    struct any_list *list = any_list;
    bool is_full = (list->count & (list->count - 1)) == 0; /* 0, 1, 2, 4, 8, ... */
    if (is_full) {
        char *wider = arena_alloc(arena, MAX(list->count * 2, 1) * size);
        if (list->count)
            memcpy(wider, list->items, list->count * size);
        list->items = wider;
    }
    return (char *)list->items + size * list->count++;
}

const char *tx_seal(struct tx *tx, const char *context, const char *secret)
{
    if (!secret || !*secret)
        return "";
    AUTO_BUF out = BUF_INIT(SECRET_MAX_BYTES * 2);
    if (crypto_seal(tx->master_key, context, secret, strlen(secret), &out)) {
        fault_set(&tx->fault, ERR_INTERNAL, "a secret could not be sealed (%s)", context);
        return "";
    }
    return arena_strndup(tx->arena, out.data, out.len);
}

const char *tx_open(struct tx *tx, const char *context, const char *sealed)
{
    if (!sealed || !*sealed)
        return "";
    AUTO_BUF out = BUF_INIT(SECRET_MAX_BYTES);
    if (crypto_open(tx->master_key, context, sealed, strlen(sealed), &out)) {
        fault_set(&tx->fault, ERR_INTERNAL, "a stored secret does not open (%s)", context);
        return "";
    }
    return out.len ? arena_strndup(tx->arena, out.data, out.len) : "";
}
