/* The outbox but for taking (outbox_take.c): outcomes, drops, ceilings. Leased is what has its due
 * time moved ahead under a process's name, so that the indexes of due ones hold no leased rows
 * among them; an attempt's outcome is written only while the lease is still ours. A crash leaves
 * the lease; the same node's next start does not wait for it (store_node_start).
 * Thread: inside a job. */
#include "store/outbox.h"

#include <ctype.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "store/columns.h"
#include "store/internal.h"

enum { LINE_MAX = 200 }; /* of a URL: scheme, host and port have fewer, or share a line */

/* Adding. */

static const struct field outbox_rows[] = {
    COLUMN_TEXT(struct outbox_row, event_id, "event_id"),
    COLUMN_TEXT(struct outbox_row, workspace_id, "workspace_id"),
    COLUMN_TEXT(struct outbox_row, webhook_id, "webhook_id"),
    COLUMN_TEXT(struct outbox_row, call_id, "call_id"),
    COLUMN_NUMBER(struct outbox_row, position, "position"),
    COLUMN_TEXT(struct outbox_row, url, "url"),
    COLUMN_TEXT(struct outbox_row, secret, "secret"),
    COLUMN_NUMBER(struct outbox_row, body_bytes, "body_bytes"),
    COLUMN_NUMBER(struct outbox_row, created_wall_ms, "created_ms"),
};
static FIELD_TABLE(outbox_table, struct outbox_row, "deliveries", outbox_rows);

/* Stored with the delivery: a take groups by it (the index of outbox_turns.c), and the sender
 * counts a receiver's connections by it. So it is made here alone. */
static const char *line_of(struct tx *tx, const char *webhook_id, const char *url)
{
    if (*webhook_id)
        return webhook_id;
    size_t len = strcspn(url, "/");
    len += strspn(url + len, "/");
    len += strcspn(url + len, "/?#");
    char *line = arena_strndup(tx->arena, url, MIN(len, (size_t)LINE_MAX));
    for (char *c = line; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return line;
}

int64_t outbox_add(struct tx *tx, const struct outbox_row *row)
{
    const struct row_insert insert = {
        .into = "deliveries",
        .table = &outbox_table,
        .object = row,
        .also =
            COLUMNS({"line", TEXT(line_of(tx, row->webhook_id, row->url))},
                    {"due_ms", NUMBER(tx->now_ms),
                     "CAST(? AS BIGINT) +"
                     " (SELECT value FROM counters WHERE name = 'outbox_ahead_ms')"},
                    {"state", TEXT("waiting")}, {"attempts", NUMBER(0)}, {"was_due_ms", NUMBER(0)},
                    {"leased_by", TEXT("")}, {"status", NUMBER(0)}, {"error", TEXT("")},
                    {"latency_ms", NUMBER(0)}, {"attempted_ms", NUMBER(0)}),
    };
    tx_touch(tx, STORE_OUTBOX);
    return columns_insert_returning(tx, &insert, "id");
}

enum err outbox_read(struct tx *tx, int64_t id, const char *webhook_id, struct outbox_row *out)
{
    const char *sql =
        columns_select(tx, &outbox_table, NULL,
                       "FROM deliveries WHERE id = ? AND webhook_id = ?"
                       " AND EXISTS (SELECT 1 FROM events WHERE events.id = deliveries.event_id)");
    AUTO(cursor) row = QUERY(tx, sql, NUMBER(id), TEXT(webhook_id));
    return cursor_next(row) ? columns_read(tx, row, &outbox_table, out) : tx_missing(tx);
}

/* Outcomes. */

static void count_for_call(struct tx *tx, const char *call_id, int64_t position, bool is_delivered)
{
    EXEC(tx,
         "UPDATE call_webhooks SET delivered = delivered + ?, failed = failed + ?"
         " WHERE call_id = ? AND position = ?",
         NUMBER(is_delivered), NUMBER(!is_delivered), TEXT(call_id), NUMBER(position));
}

unsigned outbox_fail(struct tx *tx, int64_t id, const char *error)
{
    unsigned n = 0;
    AUTO(cursor) row = QUERY(tx,
                             "UPDATE deliveries SET state = 'failed', leased_by = '', error = ?"
                             " WHERE id = ? AND state = 'waiting' RETURNING call_id, position",
                             TEXT(error), NUMBER(id));
    for (; cursor_next(row); n++)
        if (cursor_number(row, 1) >= 0)
            count_for_call(tx, cursor_text(row, 0), cursor_number(row, 1), false);
    return n;
}

static void settle(struct tx *tx, int64_t now_ms, const struct outbox_result *result)
{
    bool is_over = result->retry_at_us == 0;
    const char *state = !is_over ? "waiting" : result->is_delivered ? "delivered" : "failed";
    int64_t wait_us = is_over ? 0 : MAX(result->retry_at_us - clock_now_us(), 0);
    const struct row_update update = {
        .of = "deliveries",
        .set = COLUMNS({"state", TEXT(state)}, {"attempts", NUMBER(result->attempt)},
                       {"due_ms", NUMBER(now_ms + wait_us / 1000)}, {"leased_by", TEXT("")},
                       {"status", NUMBER(result->status)}, {"error", TEXT(result->error)},
                       {"latency_ms", NUMBER(result->latency_ms)},
                       {"attempted_ms", NUMBER(tx->now_ms)}),
        .where = "id = ? AND state = 'waiting' AND leased_by = ?",
        .values = VALUES(NUMBER(result->id), TEXT(node_lease(tx))),
    };
    AUTO(cursor) row = columns_update_returning(tx, &update, "call_id, position");
    while (cursor_next(row))
        if (is_over && cursor_number(row, 1) >= 0)
            count_for_call(tx, cursor_text(row, 0), cursor_number(row, 1), result->is_delivered);
}

enum err store_outbox_settle(struct tx *tx, int64_t now_ms, const struct outbox_result *results,
                             size_t n)
{
    for (size_t i = 0; i < n; i++)
        settle(tx, now_ms, &results[i]);
    return tx_result(tx);
}

struct one_result {
    int64_t now_ms;
    const struct outbox_result *result;
};

static enum err settle_one(struct tx *tx, void *arg)
{
    const struct one_result *one = arg;
    settle(tx, one->now_ms, one->result);
    return tx_result(tx);
}

enum err store_outbox_settle_each(struct tx *tx, int64_t now_ms,
                                  const struct outbox_result *results, size_t n)
{
    for (size_t i = 0; i < n && !tx_has_failed(tx); i++) {
        struct fault why = {0};
        struct outbox_result bare = results[i];
        struct one_result full = {now_ms, &results[i]}, plain = {now_ms, &bare};
        memset(bare.error, 0, sizeof(bare.error));
        if (tx_try(tx, settle_one, &full, &why) && tx_try(tx, settle_one, &plain, &why))
            log_error("webhooks.outcome", LOG_I("delivery", bare.id), LOG_S("error", why.text));
    }
    return tx_result(tx);
}

/* Ceilings. */

struct id_list LIST_OF(int64_t);

static void add_oldest(struct tx *tx, const char *workspace_id, int64_t n, struct id_list *out)
{
    AUTO(cursor) row =
        QUERY(tx,
              "SELECT id FROM deliveries WHERE state = 'waiting' AND workspace_id = ?"
              " AND leased_by = '' ORDER BY id LIMIT ?",
              TEXT(workspace_id), NUMBER(n));
    while (cursor_next(row))
        *GROW(out, tx->arena) = cursor_number(row, 0);
}

enum err store_outbox_excess(struct tx *tx, int64_t most, unsigned limit, struct outbox_excess *out)
{
    struct id_list ids = {0};
    *out = (struct outbox_excess){0};
    AUTO(cursor) row =
        QUERY(tx, "SELECT workspace_id, COUNT(*) FROM deliveries WHERE state = 'waiting'"
                  " GROUP BY workspace_id ORDER BY workspace_id");
    while (cursor_next(row)) {
        int64_t waiting = cursor_number(row, 1), beyond = waiting - most;
        out->waiting += waiting;
        if (beyond > 0 && ids.count < limit)
            add_oldest(tx, cursor_text(row, 0), MIN(beyond, (int64_t)(limit - ids.count)), &ids);
    }
    out->ids = ids.items;
    out->count = ids.count;
    return tx_result(tx);
}

enum err store_outbox_give_up(struct tx *tx, const int64_t *ids, size_t n, const char *error,
                              unsigned *out_n)
{
    *out_n = 0;
    for (size_t i = 0; i < n; i++)
        *out_n += outbox_fail(tx, ids[i], error);
    return tx_result(tx);
}

enum err store_outbox_drop(struct tx *tx, const char *webhook_id, unsigned limit, unsigned *out_n)
{
    *out_n = (unsigned)EXEC(tx,
                            "UPDATE deliveries SET state = 'dropped', leased_by = '' WHERE id IN"
                            " (SELECT d.id FROM deliveries d LEFT JOIN webhooks w"
                            " ON w.id = d.webhook_id WHERE d.webhook_id = ? AND d.state = 'waiting'"
                            " AND (w.id IS NULL OR w.is_enabled = 0 OR d.id <= w.dropped_to)"
                            " ORDER BY d.id LIMIT ?)",
                            TEXT(webhook_id), NUMBER(limit));
    return tx_result(tx);
}
