/* Delivery of events to webhooks: the delivery loop takes outbox rows that are due (store/event.h),
 * signs and posts them, and settles each with success or the time of its next attempt. Rows live in
 * the store until they are settled, so that a restart goes on where a crash left off; in memory
 * stands only what is under way. A receiver has a bounded number of connections; what is due beyond
 * them is put back for half a second, so that a slow or dead receiver delays no other.
 *
 *   due row --take, leased--> attempt --2xx--> settled: delivered
 *      ^                         |--no, 1st to 3rd--> due again 1, 5, 15 s after its end
 *      '-------------------------'     '--no, 4th--> settled: failed
 *
 * Thread: its own loop (one for the process); what says `any`, any. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

struct deliverer;
struct loop;
struct resolver;
struct store;

/* Zeros mean the standard value. */
struct delivery_config {
    struct loop *loop;         /* the delivery loop; borrowed */
    struct store *store;       /* borrowed */
    struct resolver *resolver; /* borrowed */
    const char *ca_path;       /* further authorities, NULL: none */
    unsigned max_under_way;    /* 4,096 attempts at once */
    unsigned max_per_receiver; /* 1,024 of them to one host and port */
    int64_t answer_ms;         /* 5,000: contract, Delivery behaviour */
    int64_t pause_scale_ppm;   /* 1,000,000; less makes the pauses shorter (tests) */
    int64_t keep_ms;           /* how long settled deliveries stay as the log: 30 days */
};

/* Before the loop runs, or on it. */
struct deliverer *delivery_new(const struct delivery_config *config);
/* Takes no more; what is under way is settled or, after 6 s, left to its lease. on_done comes on
 * the delivery loop; then delivery_free(). */
void delivery_stop(struct deliverer *delivery, void (*on_done)(void *arg), void *arg);
void delivery_free(struct deliverer *delivery);

/* Rows were committed: look now instead of at the next second. any; cheap, may come often. */
void delivery_wake(struct deliverer *delivery);

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
void delivery_send_test(struct deliverer *delivery, const struct delivery_test *test,
                        struct loop *done_loop, delivery_test_fn *fn, void *arg);

/* The pause after so many failed attempts (contract, Retries); -1: no further one. Thread: any. */
int64_t delivery_pause_ms(int failed_attempts);
