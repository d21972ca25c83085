/* Webhook subscriptions and the log of their deliveries. */
#include "model/webhook.h"

#include <string.h>

#include "base/ids.h"
#include "model/event.h"
#include "model/internal.h"
#include "model/url.h"

const char *const delivery_state_names[DELIVERY_STATE_COUNT] = {"waiting", "delivered", "failed",
                                                                "dropped"};
#define SECRET_PREFIX "whsec_"

bool webhook_wants(const struct text_list *events, const char *type)
{
    for (size_t i = 0; i < events->count; i++)
        if (strcmp(events->items[i], "*") == 0 || strcmp(events->items[i], type) == 0)
            return true;
    return false;
}

void webhook_secret_new(char out[40])
{
    memcpy(out, SECRET_PREFIX, sizeof(SECRET_PREFIX) - 1);
    random_base62(out + sizeof(SECRET_PREFIX) - 1, 32);
}

void check_event_list(struct field_context *context, const struct field *row, void *object,
                      const char *path)
{
    (void)path;
    static const char *const all = "*";
    struct text_list *events = (struct text_list *)(void *)((char *)object + row->offset);
    for (size_t i = 0; i < events->count; i++) {
        if (strcmp(events->items[i], all) != 0)
            continue;
        events->items = arena_new_n(context->arena, const char *, 1);
        events->items[0] = all;
        events->count = 1;
    }
}

static const struct field webhook_rows[] = {
    ROW_TEXT(struct webhook, id, "id", .column = "id", .flags = FIELD_READ_ONLY,
             .example = "\"wh_01abcdefghijklmnopqr\""),
    ROW_TEXT(struct webhook, user_id, "userId", .column = "workspace_id", .flags = FIELD_READ_ONLY,
             .about = "Workspace."),
    ROW_TEXT(struct webhook, url, "url", .flags = FIELD_REQUIRED, .min = 1, .max = 2048,
             .check = check_url, .pattern = "^https?://", .about = "A public http(s) address.",
             .example = "\"https://example.com/hooks/earshot\""),
    ROW_TEXTS(struct webhook, events, "events", .min = 1, .max = 100, SUBSCRIBABLE,
              .check = check_event_list, .about = "Event types; [\"*\"], the default, means all.",
              .example = "[\"call.ended\"]"),
    ROW_BOOL(struct webhook, is_enabled, "enabled", .column = "is_enabled", .standard = 1),
    ROW_TEXT(struct webhook, secret, "secret", .flags = FIELD_SECRET | FIELD_KEPT, .min = 16,
             .max = 255,
             .about = "Signing secret, in full only when it was just made; made for you "
                      "when left out."),
    ROW_TIME(struct webhook, created_wall_ms, "createdAt", .column = "created_ms",
             .flags = FIELD_READ_ONLY),
    ROW_TIME(struct webhook, updated_wall_ms, "updatedAt", .column = "updated_ms",
             .flags = FIELD_READ_ONLY),
};
FIELD_TABLE(webhook_table, struct webhook, "Webhook", webhook_rows,
            .about = "A subscription to the events of the workspace's calls.");

static const struct field delivery_rows[] = {
    ROW_TEXT(struct delivery, id, "id"),
    ROW_TEXT(struct delivery, event_id, "eventId"),
    ROW_TEXT(struct delivery, type, "type"),
    ROW_TEXT(struct delivery, call_id, "callId", .flags = FIELD_NULL_EMPTY),
    ROW_TEXT(struct delivery, url, "url"),
    ROW_TEXT(struct delivery, webhook_id, "webhookId", .flags = FIELD_NULL_EMPTY,
             .about =
                 "The subscription; null for the agent's webhookUrl and webhooks of the call."),
    ROW_ENUM(struct delivery, state, "state", enum delivery_state, delivery_state_names),
    ROW_INT(struct delivery, attempts, "attempts"),
    ROW_INT(struct delivery, status, "status", .flags = FIELD_NULL_EMPTY,
            .about = "HTTP status of the last attempt; null when none was answered."),
    ROW_TEXT(struct delivery, error, "error", .flags = FIELD_NULL_EMPTY),
    ROW_INT(struct delivery, latency_ms, "latencyMs"),
    ROW_TIME(struct delivery, created_wall_ms, "createdAt"),
    ROW_TIME(struct delivery, attempted_wall_ms, "attemptedAt", .flags = FIELD_NULL_EMPTY),
    ROW_TIME(struct delivery, due_wall_ms, "dueAt", .flags = FIELD_NULL_EMPTY,
             .about = "When the next attempt is due."),
};
FIELD_TABLE(delivery_table, struct delivery, "Delivery", delivery_rows,
            .about = "One event on its way to one receiver.");

static const struct field told_event_rows[] = {
    ROW_TEXT(struct told_event, id, "id"),
    ROW_TEXT(struct told_event, type, "type"),
    ROW_TIME(struct told_event, created_wall_ms, "createdAt"),
    ROW_OBJECTS(struct told_event, deliveries, "deliveries", struct delivery_list, &delivery_table),
};
FIELD_TABLE(told_event_table, struct told_event, "CallEvent", told_event_rows,
            .about = "An event of a call with its deliveries, one for each receiver and resend.");
