/* The webhook subscription, and the log of its deliveries. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/field.h"

enum { WEBHOOKS_MAX = 50 /* a workspace */ };

struct webhook {
    const char *id, *user_id, *url;
    struct text_list events; /* event types, or one "*" */
    bool is_enabled;
    const char *secret; /* in full; sealed in the store view */
    int64_t created_wall_ms, updated_wall_ms;
};
struct webhook_list LIST_OF(struct webhook);
/* FIELD_VIEW_STORE holds url, events, secret. */
extern const struct field_table webhook_table;

/* Does a list of event types (or "*") name this type? */
bool webhook_wants(const struct text_list *events, const char *type);
void webhook_secret_new(char out[40]); /* whsec_ and 32 base62 */
/* For every row that holds a list of event types: in it, "*" swallows the rest. */
void check_event_list(struct field_context *context, const struct field *row, void *object,
                      const char *path);

enum delivery_state {
    DELIVERY_WAITING,
    DELIVERY_DELIVERED,
    DELIVERY_FAILED,
    DELIVERY_DROPPED,
    DELIVERY_STATE_COUNT
};
extern const char *const delivery_state_names[DELIVERY_STATE_COUNT];

struct delivery {
    const char *id, *event_id, *type, *call_id, *url;
    const char *webhook_id; /* "": the agent's webhookUrl, or a webhook of the call */
    enum delivery_state state;
    int64_t attempts;
    int64_t status;     /* HTTP status of the last attempt; 0: none */
    const char *error;  /* of the last attempt, "" */
    int64_t latency_ms; /* of the last attempt */
    int64_t created_wall_ms, attempted_wall_ms, due_wall_ms;
};
struct delivery_list LIST_OF(struct delivery);
extern const struct field_table delivery_table;

/* An event of a call, and whom it was told. */
struct told_event {
    const char *id, *type;
    int64_t created_wall_ms;
    struct delivery_list deliveries;
};
struct told_event_list LIST_OF(struct told_event);
extern const struct field_table told_event_table;
