/* Calls: their beginning, and each transition of the owner with its event. Reading: call_read.c;
 * the end and recovery: call_end.c; money: ledger.c, call_checkpoint.c. Thread: inside a job. */
#include "store/call.h"

#include <string.h>

#include "base/attr.h"
#include "store/call_count.h"
#include "store/call_row.h"
#include "store/columns.h"
#include "store/funds.h"
#include "store/internal.h"
#include "store/ledger.h"

static void insert_webhook(struct tx *tx, const char *call_id, int64_t position,
                           const struct call_webhook *webhook)
{
    const char *settings =
        field_store_text(&call_webhook_table, webhook, tx->master_key, tx->arena);
    const struct column *columns =
        COLUMNS({"call_id", TEXT(call_id)}, {"position", NUMBER(position)},
                {"settings", TEXT(settings)}, {"delivered", NUMBER(0)}, {"failed", NUMBER(0)});
    columns_insert(tx, &(struct row_insert){.into = "call_webhooks", .also = columns});
}

static void insert_webhooks(struct tx *tx, const struct call *call)
{
    for (size_t i = 0; i < call->webhooks.count; i++)
        insert_webhook(tx, call->id, (int64_t)i, &call->webhooks.items[i]);
}

/* A node that shares the database may begin a call only while others take it for alive. */
enum err store_call_insert(struct tx *tx, const struct call *call, const char *webhook_url,
                           int64_t join_until_wall_ms)
{
    struct call fresh = *call;
    fresh.status = CALL_CREATED;
    fresh.created_wall_ms = call->created_wall_ms ? call->created_wall_ms : tx->now_ms;
    int64_t epoch = atomic_load(&tx->store->epoch), shared_epoch = tx->store->is_pg ? epoch : 0;
    const struct column *also =
        COLUMNS({"quality", TEXT("")}, {"webhook_url", TEXT(webhook_url ? webhook_url : "")},
                {"join_until_ms", NUMBER(join_until_wall_ms)}, {"owner", TEXT(tx->store->node)},
                {"owner_epoch", NUMBER(epoch)}, {"durable_ms", NUMBER(fresh.created_wall_ms)},
                {"last_event_ms", NUMBER(0)}, {"turns", NUMBER(0)});
    int64_t inserted = columns_insert(
        tx, &(struct row_insert){
                .into = "calls",
                .table = &call_table,
                .object = &fresh,
                .also = also,
                .from = "WHERE ? = 0 OR EXISTS (SELECT 1 FROM nodes WHERE id = ? AND epoch = ?)",
                .values = VALUES(NUMBER(shared_epoch), TEXT(tx->store->node), NUMBER(epoch))});
    if (!inserted)
        return tx_has_failed(tx) ? ERR_IO : ERR_BUSY;
    call_count_started(tx, call);
    insert_webhooks(tx, call);
    return tx_result(tx);
}

enum err store_call_running(struct tx *tx, const char *workspace_id, int64_t *out_n)
{
    *out_n = QUERY_NUMBER(tx, 0,
                          "SELECT COUNT(*) FROM calls"
                          " WHERE workspace_id = ? AND status <> 'ended'",
                          TEXT(workspace_id));
    return tx_result(tx);
}

/* The row. */

static const struct field row_columns[] = {
    COLUMN_TEXT(struct call_row, id, "id"),
    COLUMN_TEXT(struct call_row, workspace_id, "workspace_id"),
    COLUMN_TEXT(struct call_row, agent_id, "agent_id"),
    COLUMN_TEXT(struct call_row, room_name, "room_name"),
    COLUMN_TEXT(struct call_row, identity, "identity"),
    COLUMN_TEXT(struct call_row, metadata_sent, "metadata_sent"),
    COLUMN_TEXT(struct call_row, webhook_url, "webhook_url"),
    COLUMN_WORD(struct call_row, source, "source", enum call_source, call_source_names),
    COLUMN_WORD(struct call_row, status, "status", enum call_status, call_status_names),
    COLUMN_NUMBER(struct call_row, user_joined_ms, "user_joined_ms"),
    COLUMN_NUMBER(struct call_row, rate_usd4, "rate_usd4"),
    COLUMN_NUMBER(struct call_row, taken_usd4, "cost_usd4"),
    COLUMN_NUMBER(struct call_row, durable_ms, "durable_ms"),
    COLUMN_NUMBER(struct call_row, last_event_ms, "last_event_ms"),
    COLUMN_NUMBER(struct call_row, turns, "turns"),
    COLUMN_TEXT(struct call_row, owner, "owner"),
    COLUMN_NUMBER(struct call_row, owner_epoch, "owner_epoch"),
};
static FIELD_TABLE(row_table, struct call_row, "calls", row_columns);

static enum err read_row(struct tx *tx, struct cursor *row, struct call_row *out)
{
    *out = (struct call_row){0};
    enum err err = columns_read(tx, row, &row_table, out);
    out->is_ours = !err && strcmp(out->owner, tx->store->node) == 0 &&
                   out->owner_epoch == atomic_load(&tx->store->epoch);
    return err;
}

enum err call_row_lock(struct tx *tx, const char *id, struct call_row *out)
{
    const char *sql = columns_select(tx, &row_table, NULL, "FROM calls WHERE id = ? FOR UPDATE");
    AUTO(cursor) row = QUERY(tx, sql, TEXT(id));
    return cursor_next(row) ? read_row(tx, row, out) : tx_missing(tx);
}

static enum err is_own(const struct call_row *row)
{
    return row->is_ours && row->status != CALL_ENDED ? OK : ERR_DENIED;
}

enum err call_row_own(struct tx *tx, const char *id, struct call_row *out)
{
    enum err err = call_row_lock(tx, id, out);
    return err ? err : is_own(out);
}

enum err call_row_own_now(struct tx *tx, const char *id, struct call_row *out)
{
    const char *sql =
        columns_select(tx, &row_table, NULL, "FROM calls WHERE id = ? FOR UPDATE SKIP LOCKED");
    AUTO(cursor) row = QUERY(tx, sql, TEXT(id));
    if (!cursor_next(row))
        return tx_has_failed(tx) ? ERR_IO : ERR_AGAIN;
    enum err err = read_row(tx, row, out);
    return err ? err : is_own(out);
}

/* The call lived at least until then; written with the next event. */
static void call_row_alive(struct call_row *row, int64_t at_ms)
{
    row->durable_ms = MAX(row->durable_ms, at_ms);
}

/* Transitions. */

enum err store_call_started(struct tx *tx, const char *id)
{
    struct call_row row;
    enum err err = call_row_own(tx, id, &row);
    if (err)
        return err;
    struct event_started data = {.participant_identity = row.identity};
    return event_emit(tx, &row, EVENT_CALL_STARTED, &data);
}

enum err store_call_agent_joined(struct tx *tx, const char *id, int64_t at_wall_ms,
                                 const struct event_agent_joined *engines)
{
    struct call_row row;
    enum err err = call_row_own(tx, id, &row);
    if (err)
        return err;
    if (row.status != CALL_CREATED)
        return ERR_CONFLICT;
    EXEC(tx, "UPDATE calls SET status = 'active', agent_joined_ms = ? WHERE id = ?",
         NUMBER(at_wall_ms), TEXT(id));
    call_row_alive(&row, at_wall_ms);
    return event_emit(tx, &row, EVENT_CALL_AGENT_JOINED, engines);
}

enum err store_call_user_joined(struct tx *tx, const char *id, const char *identity,
                                int64_t at_wall_ms, struct call_funds *funds)
{
    struct call_row row;
    struct funds all;
    int64_t balance_usd4;
    enum err err = call_row_own(tx, id, &row);
    if (!err)
        err = ledger_open(tx, row.workspace_id, true, &balance_usd4);
    if (err)
        return err;
    if (!row.user_joined_ms)
        EXEC(tx, "UPDATE calls SET user_joined_ms = ?, seen_ms = ?, seen_at_ms = ? WHERE id = ?",
             NUMBER(at_wall_ms), NUMBER(MAX(tx->begun_us - funds->at_us, (int64_t)0) / 1000),
             NUMBER(tx->now_ms), TEXT(id));
    call_row_alive(&row, at_wall_ms);
    err = funds_read(tx, row.workspace_id, balance_usd4, &all);
    if (err)
        return err;
    funds->exhausted_us = funds_exhausted_us(tx, &all, &row, funds->embed_limit_usd4);
    if (all.has_foreign)
        tx_touch(tx, STORE_BALANCE); /* it will be out sooner for them, too */
    struct event_identity data = {.identity = identity};
    return event_emit(tx, &row, EVENT_CALL_USER_JOINED, &data);
}

enum err store_call_turn(struct tx *tx, const char *id, const struct call_turn *turn)
{
    struct call_row row;
    enum err err = call_row_own(tx, id, &row);
    if (err)
        return err;
    const char *timing =
        turn->timing ? field_store_text(&turn_timing_table, turn->timing, tx->master_key, tx->arena)
                     : "";
    columns_insert(tx, &(struct row_insert){.into = "call_turns",
                                            .table = &call_turn_table,
                                            .object = turn,
                                            .also = COLUMNS({"call_id", TEXT(id)},
                                                            {"position", NUMBER(row.turns)},
                                                            {"timing", TEXT(timing)})});
    row.turns++;
    call_row_alive(&row, turn->at_wall_ms);
    struct event_text data = {.text = turn->text};
    return event_emit(tx, &row,
                      turn->role == TURN_USER ? EVENT_TRANSCRIPT_USER : EVENT_TRANSCRIPT_ASSISTANT,
                      &data);
}

enum err store_call_error(struct tx *tx, const char *id, const struct event_error *error)
{
    struct call_row row;
    enum err err = call_row_own(tx, id, &row);
    return err ? err : event_emit(tx, &row, EVENT_CALL_ERROR, error);
}
