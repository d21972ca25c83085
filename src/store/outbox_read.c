/* Reading what a take has leased. What cannot be sent is settled at once, and all else goes on: the
 * deliveries of a subscription that was removed or disabled (also by a transaction beside the one
 * that wrote them) are dropped, and what does not read is the fault of this record alone.
 * Thread: inside a job. */
#include <stdlib.h>
#include <string.h>

#include "model/webhook.h"
#include "store/columns.h"
#include "store/dead_letter.h"
#include "store/outbox_take.h"

struct item_list LIST_OF(struct outbox_item);

static int by_lateness(const void *a, const void *b)
{
    const struct outbox_item *x = a, *y = b;
    if (x->late_ms != y->late_ms)
        return x->late_ms > y->late_ms ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* One row of what is leased. */
struct leased {
    int64_t id, attempts, was_due_ms, body_bytes;
    const char *workspace_id, *webhook_id, *line, *call_id;
    const char *url, *secret; /* as the delivery has them */
    const char *settings;     /* as its subscription has them */
    bool has_event,
        has_receiver; /* false: its subscription is removed, disabled, or begins later */
    const char *event_id, *type, *body;
};

static const struct field leased_rows[] = {
    COLUMN_NUMBER(struct leased, id, "d.id"),
    COLUMN_NUMBER(struct leased, attempts, "d.attempts"),
    COLUMN_NUMBER(struct leased, was_due_ms, "d.was_due_ms"),
    COLUMN_NUMBER(struct leased, body_bytes, "d.body_bytes"),
    COLUMN_TEXT(struct leased, workspace_id, "d.workspace_id"),
    COLUMN_TEXT(struct leased, webhook_id, "d.webhook_id"),
    COLUMN_TEXT(struct leased, line, "d.line"),
    COLUMN_TEXT(struct leased, call_id, "d.call_id"),
    COLUMN_TEXT(struct leased, url, "d.url"),
    COLUMN_TEXT(struct leased, secret, "d.secret"),
    COLUMN_TEXT(struct leased, settings, "w.settings"),
    COLUMN_BOOL(struct leased, has_event, "CASE WHEN e.id IS NULL THEN 0 ELSE 1 END"),
    COLUMN_BOOL(struct leased, has_receiver,
                "CASE WHEN d.webhook_id = '' OR (w.is_enabled <> 0 AND d.id > w.dropped_to)"
                " THEN 1 ELSE 0 END"),
    COLUMN_TEXT(struct leased, event_id, "d.event_id"),
    COLUMN_TEXT(struct leased, type, "e.type"),
    COLUMN_TEXT(struct leased, body, "e.body"),
};
static FIELD_TABLE(leased_table, struct leased, "deliveries", leased_rows);

/* Not tx_open(): one that does not open is the fault of this record alone. */
static bool open_secret(struct tx *tx, const char *sealed, const char **out)
{
    AUTO_BUF secret = BUF_INIT(strlen(sealed) + 1);
    *out = "";
    if (!*sealed)
        return true;
    if (crypto_open(tx->master_key, "delivery.secret", sealed, strlen(sealed), &secret))
        return false;
    *out = secret.len ? arena_strndup(tx->arena, secret.data, secret.len) : "";
    return true;
}

/* A subscription's URL and secret are those of now; all others stand in the delivery. NULL, or why
 * this record cannot be sent. */
static const char *fill_receiver(struct tx *tx, const struct leased *row, struct outbox_item *item)
{
    if (!*row->webhook_id) {
        item->url = row->url;
        return open_secret(tx, row->secret, &item->secret)
                   ? NULL
                   : "the stored secret of a call's webhook does not open";
    }
    struct webhook webhook;
    if (field_read(&webhook_table, &webhook, row->settings, strlen(row->settings), tx->master_key,
                   tx->arena))
        return "the subscription's settings do not read";
    item->url = webhook.url;
    item->secret = webhook.secret;
    return NULL;
}

/* What was leased and cannot be sent. */
struct unsent {
    int64_t id;
    struct dead_letter letter; /* reason NULL: its subscription is gone */
};
struct unsent_list LIST_OF(struct unsent);

/* A subscription, or the call whose webhook or event it is. */
static struct dead_letter letter_for(const struct leased *row, const char *reason)
{
    bool is_of_subscription = *row->webhook_id && row->has_event;
    return (struct dead_letter){
        .kind = row->has_event ? DEAD_WEBHOOK : DEAD_EVENT,
        .workspace_id = row->workspace_id,
        .subject_id = is_of_subscription ? row->webhook_id : row->call_id,
        .reason = reason,
        .excerpt = row->has_event ? NULL : row->event_id,
    };
}

static void sort_one(struct take *take, const struct leased *row, struct item_list *items,
                     struct unsent_list *unsent)
{
    struct tx *tx = take->tx;
    struct outbox_item item = {.id = row->id,
                               .workspace_id = row->workspace_id,
                               .webhook_id = row->webhook_id,
                               .line = row->line,
                               .event_id = row->event_id,
                               .type = row->type,
                               .body = row->body,
                               .attempt = (int)row->attempts + 1,
                               .late_ms = MAX(take->now_ms - row->was_due_ms, 0),
                               .units = outbox_units(row->body_bytes)};
    const char *why = NULL;
    if (row->has_receiver)
        why = row->has_event ? fill_receiver(tx, row, &item) : "its event is not stored";
    if (row->has_receiver && !why)
        *GROW(items, tx->arena) = item;
    else
        *GROW(unsent, tx->arena) = (struct unsent){row->id, letter_for(row, why)};
}

static void settle_unsent(struct take *take, const struct unsent_list *unsent,
                          struct outbox_taken *out)
{
    for (size_t i = 0; i < unsent->count; i++) {
        const struct unsent *one = &unsent->items[i];
        if (one->letter.reason) {
            out->unreadable += outbox_fail(take->tx, one->id, one->letter.reason);
            store_dead_letter_add(take->tx, &one->letter);
            continue;
        }
        EXEC(take->tx,
             "UPDATE deliveries SET state = 'dropped', leased_by = ''"
             " WHERE id = ? AND state = 'waiting'",
             NUMBER(one->id));
    }
}

/* By the lease rather than by id, so that one statement reads all: it may also find what this
 * process leased a moment ago, which is left out. */
static void read_leased(struct take *take, struct item_list *items, struct unsent_list *unsent)
{
    const struct id_list *ids = &take->ids;
    const char *sql = columns_select(
        take->tx, &leased_table, NULL,
        "FROM deliveries d LEFT JOIN events e ON e.id = d.event_id"
        " LEFT JOIN webhooks w ON w.id = d.webhook_id"
        " WHERE d.state = 'waiting' AND d.leased_by <> '' AND d.due_ms = ? AND d.leased_by = ?");
    AUTO(cursor) row = QUERY(take->tx, sql, NUMBER(take->until_ms), TEXT(node_lease(take->tx)));
    while (cursor_next(row)) {
        struct leased leased;
        if (columns_read(take->tx, row, &leased_table, &leased))
            return;
        if (bsearch(&leased.id, ids->items, ids->count, sizeof(leased.id), by_number))
            sort_one(take, &leased, items, unsent);
    }
}

void take_read(struct take *take, struct outbox_taken *out)
{
    struct id_list *ids = &take->ids;
    struct item_list items = {0};
    struct unsent_list unsent = {0};
    qsort(ids->items, ids->count, sizeof(int64_t), by_number);
    read_leased(take, &items, &unsent);
    settle_unsent(take, &unsent, out);
    if (items.count)
        qsort(items.items, items.count, sizeof(*items.items), by_lateness);
    out->items = items.items;
    out->count = items.count;
    for (size_t i = 0; i < items.count; i++)
        out->units += items.items[i].units;
}
