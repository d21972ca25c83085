/* Reading what a take has leased. What cannot be sent is settled at once, and all else goes on: the
 * deliveries of a subscription that was removed or disabled (also by a transaction beside the one
 * that wrote them) are dropped, and what does not read is the fault of this record alone.
 * Thread: inside a job. */
#include <stdlib.h>
#include <string.h>

#include "model/webhook.h"
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

/* By the lease rather than by id, so that one statement reads all: it may also find what this
 * process leased a moment ago, which is left out. */
static const char leased_sql[] =
    "SELECT d.id, d.workspace_id, d.webhook_id, d.line, d.event_id, d.attempts, d.url, d.secret,"
    " d.was_due_ms, d.body_bytes, e.type, e.body, w.settings, w.is_enabled, w.dropped_to,"
    " d.call_id"
    " FROM deliveries d LEFT JOIN events e ON e.id = d.event_id"
    " LEFT JOIN webhooks w ON w.id = d.webhook_id"
    " WHERE d.state = 'waiting' AND d.leased_by <> '' AND d.due_ms = ? AND d.leased_by = ?";

enum { OF_TYPE = 10, OF_SETTINGS = 12, OF_ENABLED = 13, OF_DROPPED_TO = 14, OF_CALL_ID = 15 };

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
static const char *fill_receiver(struct tx *tx, struct cursor *row, struct outbox_item *item)
{
    if (!*item->webhook_id) {
        item->url = cursor_text(row, 6);
        return open_secret(tx, cursor_text(row, 7), &item->secret)
                   ? NULL
                   : "the stored secret of a call's webhook does not open";
    }
    struct webhook webhook;
    size_t len;
    const char *settings = cursor_peek(row, OF_SETTINGS, &len);
    if (field_read(&webhook_table, &webhook, settings, len, tx->master_key, tx->arena))
        return "the subscription's settings do not read";
    item->url = webhook.url;
    item->secret = webhook.secret;
    return NULL;
}

static bool is_dropped(struct cursor *row, const struct outbox_item *item)
{
    if (!*item->webhook_id)
        return false;
    return cursor_is_null(row, OF_SETTINGS) || cursor_number(row, OF_ENABLED) == 0 ||
           item->id <= cursor_number(row, OF_DROPPED_TO);
}

/* What was leased and cannot be sent. */
struct unsent {
    int64_t id;
    struct dead_letter letter; /* reason NULL: its subscription is gone */
};
struct unsent_list LIST_OF(struct unsent);

/* A subscription, or the call whose webhook or event it is. */
static struct dead_letter letter_for(struct cursor *row, const struct outbox_item *item,
                                     const char *reason)
{
    bool is_event = cursor_is_null(row, OF_TYPE);
    bool is_of_subscription = *item->webhook_id && !is_event;
    return (struct dead_letter){
        .kind = is_event ? DEAD_EVENT : DEAD_WEBHOOK,
        .workspace_id = item->workspace_id,
        .subject_id = is_of_subscription ? item->webhook_id : cursor_text(row, OF_CALL_ID),
        .reason = reason,
        .excerpt = is_event ? item->event_id : NULL,
    };
}

static void read_one(struct take *take, struct cursor *row, struct item_list *items,
                     struct unsent_list *unsent)
{
    struct tx *tx = take->tx;
    struct outbox_item item = {.id = cursor_number(row, 0),
                               .workspace_id = cursor_text(row, 1),
                               .webhook_id = cursor_text(row, 2),
                               .line = cursor_text(row, 3),
                               .event_id = cursor_text(row, 4),
                               .attempt = (int)cursor_number(row, 5) + 1,
                               .late_ms = MAX(take->now_ms - cursor_number(row, 8), 0),
                               .units = outbox_units(cursor_number(row, 9))};
    const char *why = NULL;
    bool is_gone = is_dropped(row, &item);
    if (!is_gone && cursor_is_null(row, OF_TYPE))
        why = "its event is not stored";
    else if (!is_gone)
        why = fill_receiver(tx, row, &item);
    if (is_gone || why) {
        *GROW(unsent, tx->arena) = (struct unsent){item.id, letter_for(row, &item, why)};
        return;
    }
    item.type = cursor_text(row, OF_TYPE);
    item.body = cursor_text(row, OF_TYPE + 1);
    *GROW(items, tx->arena) = item;
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

void take_read(struct take *take, struct outbox_taken *out)
{
    struct id_list *ids = &take->ids;
    struct item_list items = {0};
    struct unsent_list unsent = {0};
    qsort(ids->items, ids->count, sizeof(int64_t), by_number);
    AUTO(cursor) row =
        QUERY(take->tx, leased_sql, NUMBER(take->until_ms), TEXT(node_lease(take->tx)));
    while (cursor_next(row)) {
        int64_t id = cursor_number(row, 0);
        if (bsearch(&id, ids->items, ids->count, sizeof(id), by_number))
            read_one(take, row, &items, &unsent);
    }
    settle_unsent(take, &unsent, out);
    if (items.count)
        qsort(items.items, items.count, sizeof(*items.items), by_lateness);
    out->items = items.items;
    out->count = items.count;
    for (size_t i = 0; i < items.count; i++)
        out->units += items.items[i].units;
}
