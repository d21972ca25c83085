/* Webhook subscriptions. Thread: inside a job. */
#include "store/webhook.h"

#include "base/ids.h"
#include "model/webhook.h"
#include "store/columns.h"
#include "store/outbox.h"
#include "store/tx.h"

enum { DROPPED_AT_ONCE = 500 /* deliveries */ };

static struct cursor *query(struct tx *tx, const char *rest, const struct db_value *values)
{
    return tx_query(tx, columns_select(tx, &webhook_table, "settings", rest), values);
}

static enum err read_row(struct tx *tx, struct cursor *row, struct webhook *out)
{
    size_t len;
    const char *settings = cursor_peek(row, columns_count(&webhook_table), &len);
    if (field_read(&webhook_table, out, settings, len, tx->master_key, tx->arena))
        return fault_set(&tx->fault, ERR_INTERNAL, "a subscription's settings do not read");
    return columns_read(tx, row, &webhook_table, out);
}

enum err store_webhook_insert(struct tx *tx, struct webhook *webhook)
{
    int64_t count = QUERY_NUMBER(tx, 0, "SELECT COUNT(*) FROM webhooks WHERE workspace_id = ?",
                                 TEXT(webhook->user_id));
    if (count >= WEBHOOKS_MAX)
        return ERR_LIMIT;
    char id[ID_SIZE];
    id_new("wh_", id);
    webhook->id = arena_strdup(tx->arena, id);
    webhook->created_wall_ms = webhook->updated_wall_ms = tx->now_ms;
    const char *settings = field_store_text(&webhook_table, webhook, tx->master_key, tx->arena);
    columns_insert(tx, &(struct row_insert){.into = "webhooks",
                                            .table = &webhook_table,
                                            .object = webhook,
                                            .also = COLUMNS({"settings", TEXT(settings)})});
    return tx_result(tx);
}

enum err store_webhook_get(struct tx *tx, const char *workspace_id, const char *id,
                           struct webhook *out)
{
    AUTO(cursor) row = query(tx, "FROM webhooks WHERE id = ? AND workspace_id = ?",
                             VALUES(TEXT(id), TEXT(workspace_id)));
    return cursor_next(row) ? read_row(tx, row, out) : tx_missing(tx);
}

enum err store_webhook_lock(struct tx *tx, const char *workspace_id, const char *id,
                            struct webhook *out)
{
    AUTO(cursor) row = query(tx, "FROM webhooks WHERE id = ? AND workspace_id = ? FOR UPDATE",
                             VALUES(TEXT(id), TEXT(workspace_id)));
    return cursor_next(row) ? read_row(tx, row, out) : tx_missing(tx);
}

enum err store_webhook_list(struct tx *tx, const char *workspace_id, struct webhook_list *out,
                            struct text_list *out_unreadable)
{
    *out = (struct webhook_list){0};
    *out_unreadable = (struct text_list){0};
    AUTO(cursor) row =
        query(tx, "FROM webhooks WHERE workspace_id = ? ORDER BY created_ms DESC, id DESC",
              VALUES(TEXT(workspace_id)));
    while (cursor_next(row)) {
        struct webhook webhook;
        struct fault why;
        enum err err = read_row(tx, row, &webhook);
        if (!err)
            *GROW(out, tx->arena) = webhook;
        else if (tx_forgive(tx, err, &why))
            *GROW(out_unreadable, tx->arena) = cursor_text(row, 0);
        else
            return err;
    }
    return tx_result(tx);
}

/* All that was written for it so far; a few of them at once, so that the writer is soon free for
 * others, and the rest when it is taken. */
static enum err drop_waiting(struct tx *tx, const char *webhook_id)
{
    unsigned n;
    EXEC(tx,
         "UPDATE webhooks SET dropped_to = COALESCE((SELECT MAX(d.id) FROM deliveries d"
         " WHERE d.webhook_id = ?), 0) WHERE id = ?",
         TEXT(webhook_id), TEXT(webhook_id));
    return store_outbox_drop(tx, webhook_id, DROPPED_AT_ONCE, &n);
}

enum err store_webhook_update(struct tx *tx, struct webhook *webhook)
{
    int64_t now_ms = MAX(tx->now_ms, webhook->updated_wall_ms + 1);
    int64_t changed =
        EXEC(tx, "UPDATE webhooks SET is_enabled = ?, settings = ?, updated_ms = ? WHERE id = ?",
             NUMBER(webhook->is_enabled),
             TEXT(field_store_text(&webhook_table, webhook, tx->master_key, tx->arena)),
             NUMBER(now_ms), TEXT(webhook->id));
    if (!changed)
        return tx_missing(tx);
    webhook->updated_wall_ms = now_ms;
    return webhook->is_enabled ? tx_result(tx) : drop_waiting(tx, webhook->id);
}

enum err store_webhook_remove(struct tx *tx, const char *workspace_id, const char *id)
{
    if (!EXEC(tx, "DELETE FROM webhooks WHERE id = ? AND workspace_id = ?", TEXT(id),
              TEXT(workspace_id)))
        return tx_missing(tx);
    return drop_waiting(tx, id);
}
