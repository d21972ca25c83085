/* Idempotency rows: status 0 while the request is under way, then the answer, sealed. The row's key
 * is a hash of owner, target and header, each with its length, so that none runs into the next.
 * Thread: inside a job. */
#include "store/idempotency.h"

#include <stdio.h>
#include <string.h>

#include "base/js.h"
#include "store/columns.h"
#include "store/tx.h"

enum {
    KEPT_MS = 24 * 3600 * 1000,
    UNDER_WAY_MS = 120000, /* the longest request; after it the process has died */
    FORGOTTEN_AT_ONCE = 10,
    SWEPT_AT_ONCE = 500,
    ONE_IN = 32, /* new keys looks whether its scope holds too much, which costs a walk */
    /* The longest is of a tested endpoint: 1 MiB, of which each byte escaped twice takes 7. */
    ANSWER_MAX_BYTES = 8 * 1024 * 1024,
};
static const char seal_context[] = "idempotency.answer";

struct row_key {
    char hex[SHA256_HEX];
};

static struct row_key row_key(const struct idempotency_key *key)
{
    struct row_key out;
    AUTO_BUF text = BUF_INIT(SIZE_MAX);
    const char *const parts[] = {key->owner, key->target, key->key};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        (void)buf_printf(&text, "%zu:%s", strlen(parts[i]), parts[i]);
    crypto_sha256_hex(text.data, text.len, out.hex);
    return out;
}

struct kept_row {
    const char *body_sha, *answer; /* answer: sealed */
    int64_t status;                /* 0: under way */
};

static const struct field kept_rows[] = {
    COLUMN_TEXT(struct kept_row, body_sha, "body_sha"),
    COLUMN_TEXT(struct kept_row, answer, "answer"),
    COLUMN_NUMBER(struct kept_row, status, "status"),
};
static FIELD_TABLE(kept_table, struct kept_row, "idempotency", kept_rows);

static enum err read_answer(struct tx *tx, const struct kept_row *row, struct kept_answer *out)
{
    const char *text = tx_open(tx, seal_context, row->answer);
    AUTO(js) answer = NULL;
    if (tx_has_failed(tx))
        return ERR_IO;
    if (js_parse(text, strlen(text), 2, &answer, NULL))
        return fault_set(&tx->fault, ERR_INTERNAL, "a kept answer does not read");
    const struct js *body = js_get(answer, "body");
    *out = (struct kept_answer){
        .status = (int)row->status,
        .shown = arena_strdup(tx->arena, js_text_or(js_get(answer, "shown"), "")),
        .body = arena_strndup(tx->arena, js_text_or(body, ""), js_text_len(body)),
        .body_len = js_text_len(body),
    };
    return OK;
}

static int64_t forget_old(struct tx *tx, int64_t most)
{
    return EXEC(tx,
                "DELETE FROM idempotency WHERE id IN (SELECT id FROM idempotency"
                " WHERE created_ms <= ? ORDER BY created_ms LIMIT ? FOR UPDATE SKIP LOCKED)",
                NUMBER(tx->now_ms - KEPT_MS), NUMBER(most));
}

enum err store_idempotency_sweep(struct tx *tx, bool *out_more)
{
    *out_more = forget_old(tx, SWEPT_AT_ONCE) == SWEPT_AT_ONCE;
    return tx_result(tx);
}

enum err store_idempotency_is_due(struct tx *tx, bool *out_is_due)
{
    *out_is_due = QUERY_NUMBER(tx, 0, "SELECT 1 FROM idempotency WHERE created_ms <= ? LIMIT 1",
                               NUMBER(tx->now_ms - KEPT_MS)) == 1;
    return tx_result(tx);
}

/* When the newest of a scope alone are more than it may keep: the time of the first that is too
 * much; else -1. */
static int64_t find_cut(struct tx *tx, const struct idempotency_key *key)
{
    int64_t answers = 0, bytes = 0;
    AUTO(cursor) rows = QUERY(tx,
                              "SELECT created_ms, bytes FROM idempotency WHERE scope = ?"
                              " ORDER BY created_ms DESC LIMIT ?",
                              TEXT(key->scope), NUMBER(key->limits.answers + 1));
    while (cursor_next(rows)) {
        bytes += cursor_number(rows, 1);
        if (++answers > key->limits.answers || bytes > key->limits.bytes)
            return cursor_number(rows, 0);
    }
    return -1;
}

/* Now and then, so that a storm of keys is stopped at little more than the ceiling. */
static void trim(struct tx *tx, const struct idempotency_key *key)
{
    uint8_t dice;
    crypto_random(&dice, sizeof(dice));
    if (dice % ONE_IN != 0)
        return;
    int64_t cut_ms = find_cut(tx, key);
    if (cut_ms >= 0)
        EXEC(tx,
             "DELETE FROM idempotency WHERE id IN (SELECT id FROM idempotency WHERE scope = ?"
             " AND created_ms <= ? AND status <> 0 FOR UPDATE SKIP LOCKED)",
             TEXT(key->scope), NUMBER(cut_ms));
}

/* Another request has the row: it is under way, or its answer is kept. */
static enum err kept_already(struct tx *tx, const struct row_key *id,
                             const struct idempotency_key *key)
{
    AUTO(cursor) row =
        QUERY(tx, "SELECT body_sha, status FROM idempotency WHERE id = ?", TEXT(id->hex));
    if (!cursor_next(row)) /* it was released in between: like one under way */
        return tx_has_failed(tx) ? ERR_IO : ERR_BUSY;
    if (strcmp(cursor_text(row, 0), key->body_sha) != 0)
        return ERR_INVALID;
    return cursor_number(row, 1) == 0 ? ERR_BUSY : ERR_CONFLICT;
}

enum err store_idempotency_answer(struct tx *tx, const struct idempotency_key *key,
                                  struct kept_answer *out)
{
    struct kept_row kept;
    const char *sql =
        columns_select(tx, &kept_table, NULL, "FROM idempotency WHERE id = ? AND status <> 0");
    AUTO(cursor) row = QUERY(tx, sql, TEXT(row_key(key).hex));
    if (!cursor_next(row))
        return tx_missing(tx);
    enum err err = columns_read(tx, row, &kept_table, &kept);
    return err ? err : read_answer(tx, &kept, out);
}

enum err store_idempotency_reserve(struct tx *tx, const struct idempotency_key *key)
{
    struct row_key id = row_key(key);
    (void)forget_old(tx, FORGOTTEN_AT_ONCE);
    trim(tx, key);
    EXEC(tx,
         "DELETE FROM idempotency WHERE id = ? AND (created_ms <= ? OR (status = 0 AND"
         " created_ms <= ?))",
         TEXT(id.hex), NUMBER(tx->now_ms - KEPT_MS), NUMBER(tx->now_ms - UNDER_WAY_MS));
    struct kept_row under_way = {.body_sha = key->body_sha, .answer = ""};
    int64_t count = columns_insert(
        tx, &(struct row_insert){.into = "idempotency",
                                 .table = &kept_table,
                                 .object = &under_way,
                                 .also = COLUMNS({"id", TEXT(id.hex)}, {"scope", TEXT(key->scope)},
                                                 {"bytes", NUMBER(0)},
                                                 {"created_ms", NUMBER(tx->now_ms)}),
                                 .conflict = "ON CONFLICT DO NOTHING"});
    return count ? OK : kept_already(tx, &id, key);
}

enum err store_idempotency_keep(struct tx *tx, const struct idempotency_key *key,
                                const struct kept_answer *answer)
{
    AUTO_BUF text = BUF_INIT(ANSWER_MAX_BYTES);
    struct js_out json;
    js_out_init(&json, &text);
    js_out_object(&json);
    js_out_key(&json, "shown");
    js_out_text(&json, answer->shown ? answer->shown : "");
    js_out_key(&json, "body");
    js_out_text_n(&json, answer->body ? answer->body : "", answer->body_len);
    js_out_object_end(&json);
    if (text.is_full)
        return fault_set(&tx->fault, ERR_LIMIT, "an answer is too long to be kept");
    const char *sealed = tx_seal(tx, seal_context, text.data);
    EXEC(tx, "UPDATE idempotency SET status = ?, answer = ?, bytes = ? WHERE id = ?",
         NUMBER(answer->status), TEXT(sealed), NUMBER((int64_t)strlen(sealed)),
         TEXT(row_key(key).hex));
    return tx_result(tx);
}

enum err store_idempotency_release(struct tx *tx, const struct idempotency_key *key)
{
    EXEC(tx, "DELETE FROM idempotency WHERE id = ? AND status = 0", TEXT(row_key(key).hex));
    return tx_result(tx);
}
