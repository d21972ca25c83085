/* The deliveries under way, receiver by receiver. A receiver is a host and a port as one workspace
 * reaches it, so that no tenant's failures are another's; how many connections it gets says
 * event/window.h. A workspace may hold as much as is still free for all others: whoever holds on to
 * connections, the next one finds some. What waits too long for a connection is put back, and what
 * a receiver holds is bounded. Thread: its loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct attempt_outcome;
struct http_client;
struct loop;
struct outbox_item;
struct allowance;
struct sender;

struct sent {
    int64_t row_id;
    int attempt;
    unsigned units; /* outbox_units() */
};
/* outcome: NULL when the delivery was not tried: there was no room at its receiver in time. */
typedef void sender_fn(void *arg, const struct sent *sent, const struct attempt_outcome *outcome);

struct sender_config {
    struct loop *loop;
    struct http_client *client; /* borrowed */
    int64_t answer_ms;
    unsigned max_per_receiver;
    sender_fn *fn; /* once for each delivery, never inside sender_send() */
    void *arg;
};

struct sender *sender_new(const struct sender_config *config);
void sender_free(struct sender *sender); /* cancels all; no fn comes */
/* Borrowed: what must wait is copied. */
void sender_send(struct sender *sender, const struct outbox_item *item);
/* Puts back what waits for a connection for this subscription. */
void sender_drop(struct sender *sender, const char *webhook_id);
/* Cancels all; returns how many units they were. */
unsigned sender_cancel(struct sender *sender);
/* What may be taken when `free_units` are left for all; the caller's. */
struct allowance *sender_allowance(struct sender *sender, unsigned free_units);
