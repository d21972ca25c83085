/* Delivery of events to webhooks: the delivery loop takes outbox rows that are due
 * (store/outbox.h), signs and posts them, and settles each with success or the time of its next
 * attempt. Rows live in the store until they are settled, so that a restart goes on where a crash
 * left off; in memory stands only what is under way, and of one workspace no more than is left free
 * for all others. Pauses follow elapsed time. Nobody waits for a slow or dead receiver but its own
 * workspace's deliveries to it (event/sender.h).
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
struct tls_context;

/* Zeros mean the standard value. */
struct delivery_config {
    struct loop *loop;             /* the delivery loop; borrowed */
    struct store *store;           /* borrowed */
    struct resolver *resolver;     /* borrowed */
    const struct tls_context *tls; /* a client context, borrowed; NULL: the system's authorities */
    unsigned max_under_way;        /* 4,096 attempts at once; those with long bodies count more */
    unsigned max_per_receiver;     /* 1,024 of them to one host and port of one workspace */
    int64_t answer_ms;             /* 5,000: contract, Delivery behaviour */
    int64_t pause_scale_ppm;       /* 1,000,000; less makes the pauses shorter (tests) */
    int64_t keep_ms;               /* how long settled deliveries stay as the log: 30 days */
    int64_t most_waiting;          /* of one workspace; 0: no ceiling */
    int64_t stop_ms;               /* for what is under way when it stops: 3,000 */
    int64_t look_again_ms;         /* where nobody says that rows are due: 1,000 (tests: never) */
};

/* Before the loop runs, or on it. */
struct deliverer *delivery_new(const struct delivery_config *config);
/* Takes no more; what is under way is settled or, after 3 s, cut off and left to its lease. on_done
 * comes on the delivery loop, 2 s later at the latest whatever the store does; then
 * delivery_free(). */
void delivery_stop(struct deliverer *delivery, void (*on_done)(void *arg), void *arg);
void delivery_free(struct deliverer *delivery);

/* Rows were committed: look now instead of at the next second. any; cheap, may come often. */
void delivery_wake(struct deliverer *delivery);

/* A subscription was removed or disabled: what waits for it is not sent any more. any. */
void delivery_drop(struct deliverer *delivery, const char *webhook_id);

/* One signed delivery without retry: POST /v1/webhooks/:id/test. */
struct delivery_test {
    const char *workspace_id; /* whose, for its turn */
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
