/* The deliveries under way, receiver by receiver. A receiver (a host and a port) that answers fast
 * sees few connections; one that is slow gets as many more as its events need to be tried on time,
 * up to a ceiling, and what is due beyond them is put back. So nobody waits for a slow receiver,
 * and what it holds is bounded. Thread: its loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct attempt_outcome;
struct http_client;
struct loop;
struct outbox_item;
struct sender;

/* outcome: NULL when the delivery was not tried: there was no room at its receiver in time. */
typedef void sender_fn(void *arg, int64_t row_id, int attempt,
                       const struct attempt_outcome *outcome);

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
/* Cancels all; returns how many they were. */
size_t sender_cancel(struct sender *sender);
