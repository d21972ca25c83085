/* Calls: their beginning, and each transition of the owner with its event. Reading: call_read.c;
 * the end and recovery: call_end.c; money: ledger.c, call_checkpoint.c. Thread: inside a job. */
#include "store/call.h"

#include <string.h>

#include "base/attr.h"
#include "store/call_row.h"
#include "store/funds.h"
#include "store/internal.h"
#include "store/ledger.h"

static void insert_webhooks(struct tx *tx, const struct call *call)
{
    for (size_t i = 0; i < call->webhooks.count; i++)
        EXEC(tx,
             "INSERT INTO call_webhooks (call_id, position, settings, delivered, failed)"
             " VALUES (?, ?, ?, 0, 0)",
             TEXT(call->id), NUMBER((int64_t)i),
             TEXT(field_store_text(&call_webhook_table, &call->webhooks.items[i], tx->master_key,
                                   tx->arena)));
}

/* A node that shares the database may begin a call only while others take it for alive. */
enum err store_call_insert(struct tx *tx, const struct call *call, const char *webhook_url,
                           int64_t join_until_wall_ms)
{
    int64_t created_ms = call->created_wall_ms ? call->created_wall_ms : tx->now_ms;
    int64_t epoch = atomic_load(&tx->store->epoch);
    int64_t inserted = EXEC(
        tx,
        "INSERT INTO calls (id, workspace_id, agent_id, room_name, source, status, created_ms,"
        " agent_joined_ms, user_joined_ms, ended_ms, end_reason, duration_s, rate_usd4, cost_usd4,"
        " identity, metadata, metadata_sent, quality, webhook_url, join_until_ms, owner,"
        " owner_epoch, durable_ms, last_event_ms, turns)"
        " SELECT ?, ?, ?, ?, ?, 'created', ?, 0, 0, 0, '', 0, ?, 0, ?, ?, ?, '', ?, ?, ?, ?, ?,"
        " 0, 0 WHERE ? = 0 OR EXISTS (SELECT 1 FROM nodes WHERE id = ? AND epoch = ?)",
        TEXT(call->id), TEXT(call->user_id), TEXT(call->agent_id), TEXT(call->room_name),
        TEXT(call_source_names[call->source]), NUMBER(created_ms),
        NUMBER(call->cost_per_minute_usd4), TEXT(call->participant_identity), TEXT(call->metadata),
        TEXT(call->metadata_sent), TEXT(webhook_url ? webhook_url : ""), NUMBER(join_until_wall_ms),
        TEXT(tx->store->node), NUMBER(epoch), NUMBER(created_ms),
        NUMBER(tx->store->is_pg ? epoch : 0), TEXT(tx->store->node), NUMBER(epoch));
    if (!inserted)
        return tx_has_failed(tx) ? ERR_IO : ERR_BUSY;
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

/* --- the row --- */

int name_place(const char *const *names, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (names[i] && strcmp(names[i], name) == 0)
            return i;
    return 0;
}

#define SELECT_ROW                                                                                 \
    "SELECT id, workspace_id, agent_id, room_name, identity, metadata_sent, webhook_url, source,"  \
    " status, user_joined_ms, rate_usd4, cost_usd4, durable_ms, last_event_ms, turns, owner,"      \
    " owner_epoch FROM calls WHERE id = ? FOR UPDATE"

static void read_row(struct tx *tx, struct cursor *row, struct call_row *out)
{
    *out = (struct call_row){
        .id = cursor_text(row, 0),
        .workspace_id = cursor_text(row, 1),
        .agent_id = cursor_text(row, 2),
        .room_name = cursor_text(row, 3),
        .identity = cursor_text(row, 4),
        .metadata_sent = cursor_text(row, 5),
        .webhook_url = cursor_text(row, 6),
        .source =
            (enum call_source)name_place(call_source_names, CALL_SOURCE_COUNT, cursor_text(row, 7)),
        .status =
            (enum call_status)name_place(call_status_names, CALL_STATUS_COUNT, cursor_text(row, 8)),
        .user_joined_ms = cursor_number(row, 9),
        .rate_usd4 = cursor_number(row, 10),
        .taken_usd4 = cursor_number(row, 11),
        .durable_ms = cursor_number(row, 12),
        .last_event_ms = cursor_number(row, 13),
        .turns = cursor_number(row, 14),
        .is_ours = strcmp(cursor_text(row, 15), tx->store->node) == 0 &&
                   cursor_number(row, 16) == atomic_load(&tx->store->epoch),
    };
}

enum err call_row_lock(struct tx *tx, const char *id, struct call_row *out)
{
    AUTO(cursor) row = QUERY(tx, SELECT_ROW, TEXT(id));
    if (!cursor_next(row))
        return tx_missing(tx);
    read_row(tx, row, out);
    return OK;
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
    AUTO(cursor) row = QUERY(tx, SELECT_ROW " SKIP LOCKED", TEXT(id));
    if (!cursor_next(row))
        return tx_has_failed(tx) ? ERR_IO : ERR_AGAIN;
    read_row(tx, row, out);
    return is_own(out);
}

void call_row_alive(struct call_row *row, int64_t at_ms)
{
    row->durable_ms = MAX(row->durable_ms, at_ms);
}

/* --- transitions --- */

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

enum err store_call_user_left(struct tx *tx, const char *id, const char *identity)
{
    struct call_row row;
    enum err err = call_row_own(tx, id, &row);
    struct event_identity data = {.identity = identity};
    return err ? err : event_emit(tx, &row, EVENT_CALL_USER_LEFT, &data);
}

enum err store_call_turn(struct tx *tx, const char *id, const struct call_turn *turn)
{
    struct call_row row;
    enum err err = call_row_own(tx, id, &row);
    if (err)
        return err;
    EXEC(tx, "INSERT INTO call_turns (call_id, position, role, text, at_ms) VALUES (?, ?, ?, ?, ?)",
         TEXT(id), NUMBER(row.turns), TEXT(turn_role_names[turn->role]), TEXT(turn->text),
         NUMBER(turn->at_wall_ms));
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
