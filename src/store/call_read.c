/* Calls read back: one, or its transcript piece by piece. Pages: call_list.c. Thread: inside a job.
 */
#include <string.h>

#include "base/attr.h"
#include "base/buf.h"
#include "store/call.h"
#include "store/call_row.h"
#include "store/columns.h"
#include "store/funds.h"
#include "store/tx.h"

/* What stands beside the columns of call_table, in the order of enum also. */
#define ALSO "quality, seen_ms, seen_at_ms"
enum also { QUALITY, SEEN_MS, SEEN_AT_MS };

static const struct call_quality *read_quality(struct tx *tx, struct cursor *row, unsigned column)
{
    size_t len;
    const char *text = cursor_peek(row, column, &len);
    if (!len)
        return NULL;
    struct call_quality *quality = arena_new_of(tx->arena, struct call_quality);
    return field_read(&call_quality_table, quality, text, len, tx->master_key, tx->arena) ? NULL
                                                                                          : quality;
}

static enum err read_row(struct tx *tx, struct cursor *row, struct call *out)
{
    unsigned also = columns_count(&call_table);
    *out = (struct call){.quality = read_quality(tx, row, also + QUALITY)};
    enum err err = columns_read(tx, row, &call_table, out);
    if (err || out->status == CALL_ENDED || !out->user_joined_wall_ms)
        return err;
    int64_t used_ms = funds_used_ms(tx, cursor_number(row, also + SEEN_MS),
                                    cursor_number(row, also + SEEN_AT_MS));
    out->duration_s = money_seconds_up(used_ms); /* so far */
    out->cost_usd4 =
        MAX(out->cost_usd4, money_cost_usd4(out->cost_per_minute_usd4, out->duration_s));
    return OK;
}

static struct cursor *query_turns(struct tx *tx, const char *rest, const struct db_value *values)
{
    return tx_query(tx, columns_select(tx, &call_turn_table, "position, timing", rest), values);
}

static int64_t turn_position(struct cursor *row)
{
    return cursor_number(row, columns_count(&call_turn_table));
}

/* A timing that does not read is left out, the turn itself is not. */
static enum err read_turn(struct tx *tx, struct cursor *row, struct call_turn *out)
{
    size_t len;
    const char *text = cursor_peek(row, columns_count(&call_turn_table) + 1, &len);
    struct turn_timing *timing = len ? arena_new_of(tx->arena, struct turn_timing) : NULL;
    bool is_read = timing && field_read(&turn_timing_table, timing, text, len, tx->master_key,
                                        tx->arena) == OK;
    *out = (struct call_turn){.timing = is_read ? timing : NULL};
    return columns_read(tx, row, &call_turn_table, out);
}

/* One that does not read is left out: neither its call nor a whole page may be lost to it. Its
 * events are what tells the operator (store/event.c). */
static void read_webhook(struct tx *tx, struct cursor *row, unsigned first,
                         struct call_webhook_list *out)
{
    struct call_webhook webhook;
    size_t len;
    const char *settings = cursor_peek(row, first, &len);
    if (field_read(&call_webhook_table, &webhook, settings, len, tx->master_key, tx->arena))
        return;
    webhook.delivered = cursor_number(row, first + 1);
    webhook.failed = cursor_number(row, first + 2);
    *GROW(out, tx->arena) = webhook;
}

static enum err call_turns_read(struct tx *tx, const char *id, struct call_turn_list *out)
{
    *out = (struct call_turn_list){0};
    AUTO(cursor) row =
        query_turns(tx, "FROM call_turns WHERE call_id = ? ORDER BY position", VALUES(TEXT(id)));
    while (cursor_next(row)) {
        enum err err = read_turn(tx, row, GROW(out, tx->arena));
        if (err)
            return err;
    }
    return tx_result(tx);
}

static void turn_the_other_way(struct call_turn_list *turns)
{
    for (size_t i = 0, j = turns->count; i + 1 < j; i++) {
        struct call_turn turn = turns->items[--j];
        turns->items[j] = turns->items[i];
        turns->items[i] = turn;
    }
}

static size_t json_bytes(const struct call_turn *turn, struct buf *scratch)
{
    struct js_out out;
    buf_reset(scratch);
    js_out_init(&out, scratch);
    field_write(&call_turn_event_table, turn, FIELD_VIEW_API, NULL, &out);
    return scratch->is_full ? SIZE_MAX / 2 : scratch->len;
}

/* In pages, so that a day of talk is never in memory at once. */
enum err call_turns_read_newest(struct tx *tx, const struct call_row *row, size_t max_bytes,
                                struct call_turn_list *out, bool *out_is_cut)
{
    enum { PAGE = 50 };
    *out = (struct call_turn_list){0};
    *out_is_cut = false;
    AUTO_BUF scratch = BUF_INIT(max_bytes);
    size_t bytes = sizeof("[]") - 1;
    int64_t before = row->turns;
    for (unsigned got = PAGE; got == PAGE && !*out_is_cut;) { /* whatever the row says of turns */
        AUTO(cursor) found = query_turns(
            tx, "FROM call_turns WHERE call_id = ? AND position < ? ORDER BY position DESC LIMIT ?",
            VALUES(TEXT(row->id), NUMBER(before), NUMBER(PAGE)));
        for (got = 0; !*out_is_cut && cursor_next(found); got++) {
            struct call_turn turn;
            if (read_turn(tx, found, &turn))
                return tx_result(tx);
            before = turn_position(found);
            bytes += json_bytes(&turn, &scratch) + (out->count > 0);
            *out_is_cut = bytes > max_bytes;
            if (!*out_is_cut)
                *GROW(out, tx->arena) = turn;
        }
    }
    turn_the_other_way(out);
    return tx_result(tx);
}

static enum err webhooks_read(struct tx *tx, const char *id, struct call_webhook_list *out)
{
    *out = (struct call_webhook_list){0};
    AUTO(cursor) row = QUERY(tx,
                             "SELECT settings, delivered, failed FROM call_webhooks"
                             " WHERE call_id = ? ORDER BY position",
                             TEXT(id));
    while (cursor_next(row))
        read_webhook(tx, row, 0, out);
    return tx_result(tx);
}

enum err store_call_row(struct tx *tx, const char *workspace_id, const char *agent_id,
                        const char *id, struct call *out)
{
    const char *sql =
        columns_select(tx, &call_table, ALSO,
                       "FROM calls WHERE id = ? AND workspace_id = ? AND (? = '' OR agent_id = ?)");
    AUTO(cursor) row = QUERY(tx, sql, TEXT(id), TEXT(workspace_id), TEXT(agent_id ? agent_id : ""),
                             TEXT(agent_id ? agent_id : ""));
    enum err err = cursor_next(row) ? read_row(tx, row, out) : tx_missing(tx);
    return err ? err : webhooks_read(tx, id, &out->webhooks);
}

enum err store_call_get(struct tx *tx, const char *workspace_id, const char *agent_id,
                        const char *id, struct call *out)
{
    enum err err = store_call_row(tx, workspace_id, agent_id, id, out);
    return err ? err : call_turns_read(tx, id, &out->transcript);
}

enum err store_call_workspace(struct tx *tx, const char *id, const char **out)
{
    AUTO(cursor) row = QUERY(tx, "SELECT workspace_id FROM calls WHERE id = ?", TEXT(id));
    if (!cursor_next(row))
        return tx_missing(tx);
    *out = cursor_text(row, 0);
    return OK;
}

enum err store_call_status(struct tx *tx, const char *workspace_id, const char *agent_id,
                           const char *id, enum call_status *out)
{
    AUTO(cursor) row = QUERY(tx,
                             "SELECT status FROM calls"
                             " WHERE id = ? AND workspace_id = ? AND (? = '' OR agent_id = ?)",
                             TEXT(id), TEXT(workspace_id), TEXT(agent_id ? agent_id : ""),
                             TEXT(agent_id ? agent_id : ""));
    if (!cursor_next(row))
        return tx_missing(tx);
    int status;
    enum err err =
        cursor_word(row, 0, call_status_names, CALL_STATUS_COUNT, "calls.status", &status);
    if (!err)
        *out = (enum call_status)status;
    return err;
}

enum err store_call_turns(struct tx *tx, const char *id, int64_t first, size_t max_bytes,
                          struct call_turn_list *out, int64_t *out_next)
{
    enum { ROWS = 32 }; /* PostgreSQL hands all rows of a query over at once */
    size_t bytes = 0, rows = ROWS;
    *out = (struct call_turn_list){0};
    for (*out_next = first; rows == ROWS && bytes < max_bytes;) {
        AUTO(cursor) row = query_turns(
            tx, "FROM call_turns WHERE call_id = ? AND position >= ? ORDER BY position LIMIT 32",
            VALUES(TEXT(id), NUMBER(*out_next)));
        for (rows = 0; bytes < max_bytes && cursor_next(row); rows++) {
            struct call_turn *turn = GROW(out, tx->arena);
            if (read_turn(tx, row, turn))
                return tx_result(tx);
            bytes += strlen(turn->text);
            *out_next = turn_position(row) + 1;
        }
    }
    if (rows < ROWS && bytes < max_bytes)
        *out_next = -1;
    return tx_result(tx);
}
