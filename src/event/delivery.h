/* Delivery of events to webhooks: the delivery loop takes outbox rows that are due
 * (store/outbox.h), signs and posts them, and settles each with success or the time of its next
 * attempt. Rows live in the store until they are settled, so that a restart goes on where a crash
 * left off; in memory stands only what is under way. A receiver has a bounded number of
 * connections, so a slow or dead one delays no other.
 *
 * Thread: its own loop (one for the process); delivery_wake() any. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

struct delivery;
struct loop;
struct resolver;
struct store;

/* Zeros mean the standard value. */
struct delivery_config {
    struct loop *loop;         /* the delivery loop; borrowed */
    struct store *store;       /* borrowed */
    struct resolver *resolver; /* borrowed */
    const char *ca_path;       /* further authorities, NULL: none */
    const char *node_id;       /* who holds the lease */
    unsigned max_under_way;    /* 512 deliveries at once */
    unsigned max_per_receiver; /* 32 of them to one host and port */
    int64_t answer_ms;         /* 5,000: specification, Delivery behaviour */
    int64_t pause_scale_ppm;   /* 1,000,000; less makes the pauses shorter (tests) */
};

struct delivery *delivery_new(const struct delivery_config *config);
/* Takes no more; what is under way is settled or, after 6 s, left to its lease. on_done comes on
 * the delivery loop; then delivery_free(). */
void delivery_stop(struct delivery *delivery, void (*on_done)(void *arg), void *arg);
void delivery_free(struct delivery *delivery);

/* Rows were committed: look now instead of at the next second. any; cheap, may come often. */
void delivery_wake(struct delivery *delivery);

/* One signed delivery without retry: POST /v1/webhooks/:id/test. */
struct delivery_test {
    const char *url;
    const char *secret; /* NULL or "": unsigned */
    const char *event_id;
    const char *type;
    const char *body;
};
struct delivery_test_result {
    bool is_ok;        /* the endpoint answered 2xx */
    int status;        /* 0: it did not answer */
    const char *error; /* NULL when it answered */
};
typedef void delivery_test_fn(void *arg, const struct delivery_test_result *result);
/* All is copied. fn comes on done_loop. any. */
void delivery_send_test(struct delivery *delivery, const struct delivery_test *test,
                        struct loop *done_loop, delivery_test_fn *fn, void *arg);
