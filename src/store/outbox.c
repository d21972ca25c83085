/* The outbox: due deliveries are taken with a lease, which is their due time moved ahead under this
 * process's name, so that the index of due ones holds no leased rows; an attempt's outcome is
 * written only while the lease is still ours. A crash leaves the lease; the same node's next start
 * does not wait for it (store_node_start). Thread: inside a job. */
#include <stdlib.h>
#include <string.h>

#include "model/webhook.h"
#include "store/event.h"
#include "store/internal.h"

struct outbox_list LIST_OF(struct outbox_item);

static int by_due(const void *a, const void *b)
{
    const struct outbox_item *x = a, *y = b;
    if (x->due_wall_ms != y->due_wall_ms)
        return x->due_wall_ms < y->due_wall_ms ? -1 : 1;
    return x->id < y->id ? -1 : 1;
}

/* A subscription's URL and secret are those of now; all others stand in the delivery. */
static enum err fill_receiver(struct tx *tx, struct cursor *row, struct outbox_item *item)
{
    if (cursor_is_null(row, 8)) {
        item->url = cursor_text(row, 3);
        item->secret = tx_open(tx, "delivery.secret", cursor_text(row, 4));
        return tx_result(tx);
    }
    struct webhook webhook;
    size_t len;
    const char *settings = cursor_peek(row, 8, &len);
    if (field_read(&webhook_table, &webhook, settings, len, tx->master_key, tx->arena))
        return fault_set(&tx->fault, ERR_INTERNAL, "a subscription's settings do not read");
    item->url = webhook.url;
    item->secret = webhook.secret;
    return OK;
}

static const char lease_sql[] =
    "UPDATE deliveries SET was_due_ms = due_ms, due_ms = ?, leased_by = ? WHERE id IN"
    " (SELECT id FROM deliveries WHERE state = 'waiting' AND due_ms <= ?"
    " ORDER BY due_ms, id LIMIT ? FOR UPDATE SKIP LOCKED) RETURNING id";

/* By the lease rather than by id, so that one statement reads all: it may also find what this
 * process leased a moment ago, which is left out. (SQLite 3.40 would scan `events` for a subquery
 * in RETURNING.) */
static const char leased_sql[] =
    "SELECT d.id, d.event_id, d.attempts, d.url, d.secret, d.was_due_ms, e.type, e.body, w.settings"
    " FROM deliveries d JOIN events e ON e.id = d.event_id LEFT JOIN webhooks w"
    " ON w.id = d.webhook_id WHERE d.state = 'waiting' AND d.due_ms = ? AND d.leased_by = ?";

struct id_list LIST_OF(int64_t);

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static struct id_list lease(struct tx *tx, unsigned limit, int64_t until_ms)
{
    struct id_list ids = {0};
    AUTO(cursor)
    row = QUERY(tx, lease_sql, NUMBER(until_ms), TEXT(node_lease(tx)), NUMBER(tx->now_ms),
                NUMBER(limit));
    while (cursor_next(row))
        *GROW(&ids, tx->arena) = cursor_number(row, 0);
    if (ids.count)
        qsort(ids.items, ids.count, sizeof(int64_t), by_number);
    return ids;
}

static enum err read_leased(struct tx *tx, const struct id_list *ids, int64_t until_ms,
                            struct outbox_list *out)
{
    AUTO(cursor) row = QUERY(tx, leased_sql, NUMBER(until_ms), TEXT(node_lease(tx)));
    while (cursor_next(row)) {
        int64_t id = cursor_number(row, 0);
        if (!bsearch(&id, ids->items, ids->count, sizeof(id), by_number))
            continue;
        struct outbox_item *item = GROW(out, tx->arena);
        *item = (struct outbox_item){.id = id,
                                     .event_id = cursor_text(row, 1),
                                     .attempt = (int)cursor_number(row, 2) + 1,
                                     .due_wall_ms = cursor_number(row, 5),
                                     .type = cursor_text(row, 6),
                                     .body = cursor_text(row, 7)};
        enum err err = fill_receiver(tx, row, item);
        if (err)
            return err;
    }
    return tx_result(tx);
}

enum err store_outbox_take(struct tx *tx, unsigned limit, int64_t lease_ms,
                           struct outbox_item **out, size_t *out_n, int64_t *out_next_due_ms)
{
    struct outbox_list items = {0};
    int64_t until_ms = tx->now_ms + lease_ms;
    struct id_list ids = lease(tx, limit, until_ms);
    enum err err = ids.count ? read_leased(tx, &ids, until_ms, &items) : OK;
    if (err)
        return err;
    if (items.count)
        qsort(items.items, items.count, sizeof(*items.items), by_due);
    *out = items.items;
    *out_n = items.count;
    *out_next_due_ms = QUERY_NUMBER(
        tx, 0, "SELECT due_ms FROM deliveries WHERE state = 'waiting' ORDER BY due_ms, id LIMIT 1");
    return tx_result(tx);
}

static void count_for_call(struct tx *tx, const char *call_id, int64_t position, bool is_delivered)
{
    EXEC(tx,
         "UPDATE call_webhooks SET delivered = delivered + ?, failed = failed + ?"
         " WHERE call_id = ? AND position = ?",
         NUMBER(is_delivered), NUMBER(!is_delivered), TEXT(call_id), NUMBER(position));
}

static void settle(struct tx *tx, const struct outbox_result *result)
{
    const char *state = result->retry_wall_ms  ? "waiting"
                        : result->is_delivered ? "delivered"
                                               : "failed";
    int64_t due_ms = result->retry_wall_ms ? result->retry_wall_ms : tx->now_ms;
    AUTO(cursor)
    row = QUERY(tx,
                "UPDATE deliveries SET state = ?, attempts = ?, due_ms = ?, leased_by = '',"
                " status = ?, error = ?, latency_ms = ?, attempted_ms = ?"
                " WHERE id = ? AND state = 'waiting' AND leased_by = ? RETURNING call_id, position",
                TEXT(state), NUMBER(result->attempt), NUMBER(due_ms), NUMBER(result->status),
                TEXT(result->error), NUMBER(result->latency_ms), NUMBER(tx->now_ms),
                NUMBER(result->id), TEXT(node_lease(tx)));
    while (cursor_next(row))
        if (!result->retry_wall_ms && cursor_number(row, 1) >= 0)
            count_for_call(tx, cursor_text(row, 0), cursor_number(row, 1), result->is_delivered);
}

enum err store_outbox_settle(struct tx *tx, const struct outbox_result *results, size_t n)
{
    for (size_t i = 0; i < n; i++)
        settle(tx, &results[i]);
    return tx_result(tx);
}

enum err store_outbox_waiting(struct tx *tx, int64_t *out_n)
{
    *out_n = QUERY_NUMBER(tx, 0, "SELECT COUNT(*) FROM deliveries WHERE state = 'waiting'");
    return tx_result(tx);
}
