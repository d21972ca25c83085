/* Events and the outbox. An event row and one outbox row for each receiver are written in the
 * transaction of what they tell of. A delivery row is both the outbox and the log: it waits, is
 * leased for an attempt, and stays as the log once it is settled.
 *
 *   waiting --take--> leased --attempt failed, attempts left--> waiting (due later)
 *                        |---2xx--> delivered    |---4th failure--> failed
 *   waiting or leased --subscription removed or disabled--> dropped
 *
 * Thread: inside a job. */
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
struct tx;

/* Stores an event of a call and its outbox rows: enabled subscriptions of the workspace, the
 * agent's webhookUrl, the call's own webhooks, each where it wants the type. `data` is the struct
 * of the type (model/event.h). createdAt rises strictly within the call. For store/call.c, which
 * calls it with every transition. */
enum err store_event_emit(struct tx *tx, const char *call_id, enum event_type type,
                          const void *data) MUST_USE;

/* A delivery that is due, leased to this node. Texts in the job's arena. */
struct outbox_item {
    int64_t id;           /* of the delivery row */
    const char *event_id; /* evt_... */
    const char *type;     /* call.ended */
    const char *body;     /* the exact bytes to send and sign */
    const char *url;      /* as it is now for a subscription, as stored for the others */
    const char *secret;   /* in clear; "": not signed */
    int attempt;          /* 1 to 4: which attempt this is */
    int64_t due_wall_ms;  /* when it was due, for the delay's measure */
};
/* Takes at most `limit` due deliveries, oldest due first, for lease_ms. *out_next_due_ms: when the
 * next one will be due that was not taken (0: none waits). */
enum err store_outbox_take(struct tx *tx, unsigned limit, int64_t lease_ms,
                           struct outbox_item **out, size_t *out_n,
                           int64_t *out_next_due_ms) MUST_USE;

struct outbox_result {
    int64_t id;
    int attempt;
    int status; /* HTTP status; 0: none came */
    int64_t latency_ms;
    int64_t retry_wall_ms; /* not 0: failed, due again then; 0: settled */
    bool is_delivered;     /* when settled */
    char error[160];       /* "" */
};
/* Writes the outcomes of attempts. A row that was dropped or taken over meanwhile is left. */
enum err store_outbox_settle(struct tx *tx, const struct outbox_result *results, size_t n) MUST_USE;
/* Deliveries that wait or are leased. */
enum err store_outbox_waiting(struct tx *tx, int64_t *out_n) MUST_USE;

/* The log of one subscription, newest first; before: id of the last delivery of the page before,
 * or NULL. */
enum err store_delivery_list(struct tx *tx, const char *workspace_id, const char *webhook_id,
                             unsigned limit, const char *before,
                             struct delivery_list *out) MUST_USE;
/* The event again to its subscription, as a new delivery with four attempts. ERR_NOT_FOUND;
 * ERR_CONFLICT: the subscription is disabled. */
enum err store_delivery_resend(struct tx *tx, const char *workspace_id, const char *webhook_id,
                               const char *delivery_id, struct delivery *out) MUST_USE;
/* Removes settled deliveries, and events without any, that are older; at most `limit` rows. */
enum err store_delivery_expire(struct tx *tx, int64_t before_wall_ms, unsigned limit,
                               unsigned *out_n) MUST_USE;
