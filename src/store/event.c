/* Events: one row each, and one delivery for each receiver that wants the type, in the transaction
 * of what they tell of. Delivering: outbox.c. Thread: inside a job. */
#include "store/event.h"

#include <string.h>

#include "base/ids.h"
#include "model/webhook.h"
#include "store/call_row.h"
#include "store/columns.h"
#include "store/dead_letter.h"
#include "store/outbox.h"
#include "store/tx.h"

enum { BODY_MAX_BYTES = 32 * 1024 * 1024 }; /* far above a call.ended with its transcript */

static struct outbox_row delivery_of(const struct call_row *row, const struct event *event)
{
    return (struct outbox_row){.event_id = event->id,
                               .workspace_id = row->workspace_id,
                               .call_id = row->id,
                               .webhook_id = "",
                               .position = -1,
                               .url = "",
                               .secret = "",
                               .body_bytes = event->body_bytes,
                               .created_wall_ms = event->created_wall_ms};
}

/* A receiver whose settings do not read hears nothing until they are set anew; all others do. */
static void set_receiver_aside(struct tx *tx, const struct call_row *row, const char *subject_id,
                               const char *reason)
{
    struct dead_letter letter = {.kind = DEAD_WEBHOOK,
                                 .workspace_id = row->workspace_id,
                                 .subject_id = subject_id,
                                 .reason = reason};
    store_dead_letter_add(tx, &letter);
}

static void to_subscriptions(struct tx *tx, const struct call_row *row, const struct event *event)
{
    AUTO(cursor) found =
        QUERY(tx, "SELECT id, settings FROM webhooks WHERE workspace_id = ? AND is_enabled = 1",
              TEXT(row->workspace_id));
    while (cursor_next(found)) {
        struct webhook webhook;
        size_t len;
        const char *settings = cursor_peek(found, 1, &len);
        if (field_read(&webhook_table, &webhook, settings, len, tx->master_key, tx->arena)) {
            set_receiver_aside(tx, row, cursor_text(found, 0), "a subscription does not read");
            continue;
        }
        struct outbox_row delivery = delivery_of(row, event);
        delivery.webhook_id = cursor_text(found, 0);
        if (webhook_wants(&webhook.events, event_type_names[event->type]))
            outbox_add(tx, &delivery);
    }
}

static void to_own_webhooks(struct tx *tx, const struct call_row *row, const struct event *event)
{
    AUTO(cursor) found = QUERY(
        tx, "SELECT position, settings FROM call_webhooks WHERE call_id = ? ORDER BY position",
        TEXT(row->id));
    while (cursor_next(found)) {
        struct call_webhook webhook;
        size_t len;
        const char *settings = cursor_peek(found, 1, &len);
        if (field_read(&call_webhook_table, &webhook, settings, len, tx->master_key, tx->arena)) {
            set_receiver_aside(tx, row, row->id, "a webhook of the call does not read");
            continue;
        }
        struct outbox_row delivery = delivery_of(row, event);
        delivery.position = cursor_number(found, 0);
        delivery.url = webhook.url;
        delivery.secret = tx_seal(tx, "delivery.secret", webhook.secret);
        if (webhook_wants(&webhook.events, event_type_names[event->type]))
            outbox_add(tx, &delivery);
    }
}

static enum err insert_event(struct tx *tx, const struct call_row *row, struct event *event)
{
    AUTO_BUF body = BUF_INIT(BODY_MAX_BYTES);
    bool is_too_long = strlen(event->metadata) > BODY_MAX_BYTES; /* alone: none of it is written */
    if (!is_too_long)
        event_write(event, &body);
    if (is_too_long || body.is_full)
        return fault_set(&tx->fault, ERR_LIMIT, "an event's body is too long");
    event->body_bytes = (int64_t)body.len;
    const struct column *columns =
        COLUMNS({"id", TEXT(event->id)}, {"workspace_id", TEXT(row->workspace_id)},
                {"call_id", TEXT(row->id)}, {"type", TEXT(event_type_names[event->type])},
                {"created_ms", NUMBER(event->created_wall_ms)}, {"body", TEXT(body.data)});
    columns_insert(tx, &(struct row_insert){.into = "events", .also = columns});
    return OK;
}

enum err event_emit(struct tx *tx, struct call_row *row, enum event_type type, const void *data)
{
    char id[ID_SIZE];
    id_new("evt_", id);
    row->last_event_ms = MAX(tx->now_ms, row->last_event_ms + 1);
    EXEC(tx, "UPDATE calls SET last_event_ms = ?, durable_ms = ?, turns = ? WHERE id = ?",
         NUMBER(row->last_event_ms), NUMBER(row->durable_ms), NUMBER(row->turns), TEXT(row->id));
    struct event event = {.id = id,
                          .type = type,
                          .created_wall_ms = row->last_event_ms,
                          .call_id = row->id,
                          .room_name = row->room_name,
                          .metadata = row->metadata_sent,
                          .data = event_data_text(type, data, tx->arena)};
    enum err err = insert_event(tx, row, &event);
    if (err)
        return err;
    to_subscriptions(tx, row, &event);
    if (*row->webhook_url) {
        struct outbox_row delivery = delivery_of(row, &event);
        delivery.url = row->webhook_url;
        outbox_add(tx, &delivery);
    }
    to_own_webhooks(tx, row, &event);
    return tx_result(tx);
}

enum err store_event_emit(struct tx *tx, const char *call_id, enum event_type type,
                          const void *data)
{
    struct call_row row;
    enum err err = call_row_lock(tx, call_id, &row);
    return err ? err : event_emit(tx, &row, type, data);
}
