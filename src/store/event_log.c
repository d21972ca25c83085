/* The log of deliveries, for operators: settled rows of the outbox, kept for a while; and sending
 * an event again. Thread: inside a job. */
#include <stdlib.h>
#include <string.h>

#include "base/ids.h"
#include "base/map.h"
#include "model/webhook.h"
#include "store/columns.h"
#include "store/event.h"
#include "store/outbox.h"
#include "store/webhook.h"

/* What was dropped is so at once, also where its row does not say so yet (store/webhook.c). */
#define STATE_NOW                                                                                  \
    "CASE WHEN d.state = 'waiting' AND d.id <= COALESCE(w.dropped_to, 0) THEN 'dropped'"           \
    " ELSE d.state END"

static const struct field log_rows[] = {
    COLUMN_TEXT(struct delivery, id, "CAST(d.id AS TEXT)"),
    COLUMN_TEXT(struct delivery, event_id, "d.event_id"),
    COLUMN_TEXT(struct delivery, type, "e.type"),
    COLUMN_TEXT(struct delivery, call_id, "d.call_id"),
    COLUMN_TEXT(struct delivery, url, "d.url"),
    COLUMN_TEXT(struct delivery, webhook_id, "d.webhook_id"),
    COLUMN_WORD(struct delivery, state, STATE_NOW, enum delivery_state, delivery_state_names),
    COLUMN_NUMBER(struct delivery, attempts, "d.attempts"),
    COLUMN_NUMBER(struct delivery, status, "d.status"),
    COLUMN_TEXT(struct delivery, error, "d.error"),
    COLUMN_NUMBER(struct delivery, latency_ms, "d.latency_ms"),
    COLUMN_NUMBER(struct delivery, created_wall_ms, "d.created_ms"),
    COLUMN_NUMBER(struct delivery, attempted_wall_ms, "d.attempted_ms"),
    COLUMN_NUMBER(struct delivery, due_wall_ms, "d.due_ms - c.value"),
};
static FIELD_TABLE(log_table, struct delivery, "deliveries", log_rows);

static const struct field told_rows[] = {
    COLUMN_TEXT(struct told_event, id, "id"),
    COLUMN_TEXT(struct told_event, type, "type"),
    COLUMN_NUMBER(struct told_event, created_wall_ms, "created_ms"),
};
static FIELD_TABLE(told_table, struct told_event, "events", told_rows);

enum { EVENT_DELIVERIES_MAX = 200 };

#define FROM_LOG                                                                                   \
    "FROM deliveries d JOIN counters c ON c.name = 'outbox_ahead_ms'"                              \
    " LEFT JOIN webhooks w ON w.id = d.webhook_id JOIN events e ON e.id = d.event_id "

/* url: of the subscription as it is now, for those that do not keep one of their own. */
static enum err read_row(struct tx *tx, struct cursor *row, const char *url, struct delivery *out)
{
    enum err err = columns_read(tx, row, &log_table, out);
    if (!err && !*out->url)
        out->url = url;
    return err;
}

static bool parse_id(const char *text, int64_t *out)
{
    char *end;
    *out = strtoll(text, &end, 10);
    return *text && !*end;
}

enum err store_delivery_list(struct tx *tx, const char *workspace_id, const char *webhook_id,
                             unsigned limit, const char *before, struct delivery_list *out)
{
    struct webhook webhook;
    int64_t before_id = INT64_MAX;
    if (before && !parse_id(before, &before_id))
        return ERR_INVALID;
    enum err err = store_webhook_get(tx, workspace_id, webhook_id, &webhook);
    if (err)
        return err;
    *out = (struct delivery_list){0};
    const char *sql =
        columns_select(tx, &log_table, NULL,
                       FROM_LOG "WHERE d.webhook_id = ? AND d.id < ? ORDER BY d.id DESC LIMIT ?");
    AUTO(cursor) row = QUERY(tx, sql, TEXT(webhook_id), NUMBER(before_id), NUMBER(limit));
    while (cursor_next(row) && !err)
        err = read_row(tx, row, webhook.url, GROW(out, tx->arena));
    return err ? err : tx_result(tx);
}

/* Where a subscription's deliveries go now; "": it is gone, or does not read. Each is read once:
 * urls maps ids to what was found. */
static const char *url_of(struct tx *tx, const char *workspace_id, const char *webhook_id,
                          struct map *urls)
{
    struct webhook webhook = {.url = ""};
    struct fault why;
    const char *known = map_get_str(urls, webhook_id);
    if (known)
        return known;
    enum err err = store_webhook_get(tx, workspace_id, webhook_id, &webhook);
    if (err && err != ERR_NOT_FOUND)
        (void)!tx_forgive(tx, err, &why);
    const char *url = err ? "" : webhook.url;
    map_set_str(urls, webhook_id, (char *)url);
    return url;
}

/* The newest, which are all but where somebody sent again and again. */
static enum err read_deliveries(struct tx *tx, const char *workspace_id, struct map *urls,
                                struct told_event *event)
{
    const char *sql =
        columns_select(tx, &log_table, NULL,
                       FROM_LOG "WHERE d.id IN (SELECT id FROM deliveries WHERE event_id = ?"
                                " ORDER BY id DESC LIMIT ?) ORDER BY d.id");
    AUTO(cursor) row = QUERY(tx, sql, TEXT(event->id), NUMBER(EVENT_DELIVERIES_MAX));
    while (cursor_next(row)) {
        struct delivery *delivery = GROW(&event->deliveries, tx->arena);
        enum err err = read_row(tx, row, "", delivery);
        if (err)
            return err;
    }
    for (size_t i = 0; i < event->deliveries.count; i++) {
        struct delivery *delivery = &event->deliveries.items[i];
        if (!*delivery->url)
            delivery->url = url_of(tx, workspace_id, delivery->webhook_id, urls);
    }
    return tx_result(tx);
}

enum err store_call_events(struct tx *tx, const char *workspace_id, const char *call_id,
                           int64_t after_ms, unsigned limit, struct told_event_list *out)
{
    *out = (struct told_event_list){0};
    const char *sql = columns_select(tx, &told_table, NULL,
                                     "FROM events WHERE call_id = ? AND created_ms > ?"
                                     " ORDER BY created_ms LIMIT ?");
    enum err err = columns_list(tx, &told_table, sql,
                                VALUES(TEXT(call_id), NUMBER(after_ms), NUMBER(limit)), out);
    AUTO(map) urls = map_new();
    for (size_t i = 0; i < out->count && !err; i++)
        err = read_deliveries(tx, workspace_id, urls, &out->items[i]);
    return err;
}

enum err store_delivery_resend(struct tx *tx, const char *workspace_id, const char *webhook_id,
                               const char *delivery_id, struct delivery *out)
{
    struct webhook webhook;
    int64_t id;
    if (!parse_id(delivery_id, &id))
        return ERR_NOT_FOUND;
    enum err err = store_webhook_get(tx, workspace_id, webhook_id, &webhook);
    if (err || !webhook.is_enabled)
        return err ? err : ERR_CONFLICT;
    struct outbox_row again;
    err = outbox_read(tx, id, webhook_id, &again);
    if (err)
        return err;
    int64_t new_id = outbox_add(tx, &again);
    const char *sql = columns_select(tx, &log_table, NULL, FROM_LOG "WHERE d.id = ?");
    AUTO(cursor) row = QUERY(tx, sql, NUMBER(new_id));
    return cursor_next(row) ? read_row(tx, row, webhook.url, out) : tx_missing(tx);
}

/* Events go once no delivery is left of them. */
enum err store_delivery_expire(struct tx *tx, int64_t before_wall_ms, unsigned limit,
                               unsigned *out_n)
{
    int64_t deliveries = EXEC(tx,
                              "DELETE FROM deliveries WHERE id IN (SELECT d.id FROM deliveries d"
                              " JOIN events e ON e.id = d.event_id WHERE e.created_ms < ?"
                              " AND d.state <> 'waiting' ORDER BY e.created_ms LIMIT ?)",
                              NUMBER(before_wall_ms), NUMBER(limit));
    int64_t events = EXEC(tx,
                          "DELETE FROM events WHERE id IN (SELECT e.id FROM events e"
                          " WHERE e.created_ms < ? AND NOT EXISTS (SELECT 1 FROM deliveries d"
                          " WHERE d.event_id = e.id) ORDER BY e.created_ms LIMIT ?)",
                          NUMBER(before_wall_ms), NUMBER(limit));
    *out_n = (unsigned)(deliveries + events);
    return tx_result(tx);
}
