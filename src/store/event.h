/* Events. An event row and one delivery row for each receiver are written in the transaction of
 * what they tell of. A delivery row is both the outbox (store/outbox.h) and the log: it waits, is
 * leased for an attempt, and stays as the log once it is settled. Thread: inside a job. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/ids.h"
#include "model/event.h"

struct delivery;
struct delivery_list;
struct told_event_list;
struct tx;

/* Stores an event of a call and its outbox rows: enabled subscriptions of the workspace, the
 * agent's webhookUrl, the call's own webhooks, each where it wants the type. `data` is the struct
 * of the type (model/event.h). createdAt rises strictly within the call. For store/call.c, which
 * calls it with every transition. */
enum err store_event_emit(struct tx *tx, const char *call_id, enum event_type type,
                          const void *data) MUST_USE;

/* The log of one subscription, newest first; before: id of the last delivery of the page before,
 * or NULL. */
enum err store_delivery_list(struct tx *tx, const char *workspace_id, const char *webhook_id,
                             unsigned limit, const char *before,
                             struct delivery_list *out) MUST_USE;
/* The events of a call, oldest first, each with its deliveries (the newest 200). after_ms:
 * createdAt of the last event of the page before, or 0. */
enum err store_call_events(struct tx *tx, const char *workspace_id, const char *call_id,
                           int64_t after_ms, unsigned limit, struct told_event_list *out) MUST_USE;
/* The event again to its subscription, as a new delivery with four attempts. ERR_NOT_FOUND;
 * ERR_CONFLICT: the subscription is disabled. */
enum err store_delivery_resend(struct tx *tx, const char *workspace_id, const char *webhook_id,
                               const char *delivery_id, struct delivery *out) MUST_USE;
/* Removes settled deliveries, and events without any, that are older; at most `limit` rows. */
enum err store_delivery_expire(struct tx *tx, int64_t before_wall_ms, unsigned limit,
                               unsigned *out_n) MUST_USE;
