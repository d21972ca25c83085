/* What the tests of delivery need: a store, the deliverer and its receivers on one loop. The path
 * says how a receiver behaves: /fail answers 500, /redirect 302, /hold never, any other 204. */
#pragma once

#include <stdbool.h>

#include "base/ids.h"
#include "base/loop.h"
#include "event/delivery.h"
#include "event/sign.h"
#include "net/http_server.h"
#include "unit/store/fixture.h"

enum {
    POSTS_MAX = 2000,
    WAIT_US = 90 * 1000000,
    SCALE_PPM = 10000, /* pauses of 10, 50, 150 ms */
    PROMPT_MS = 5000,  /* the answer's time where receivers answer, however slow the machine */
    SHORT_MS = 300,    /* where they do not */
};

struct post {
    char path[32], type[40], event_id[ID_SIZE], timestamp[24], signature[SIGN_HEADER_SIZE];
    char *body;
    int64_t at_us;
};

struct post_office {
    struct fix *fix;
    struct loop *loop;
    struct guard *guard;
    struct resolver *resolver;
    struct http_server *server;
    struct deliverer *deliverer;
    struct post posts[POSTS_MAX];
    size_t count, wanted;
    struct http_exchange *held[POSTS_MAX];
    size_t held_count;
    struct timer limit, look;
    bool is_stopped, timed_out;
    struct delivery_test_result test_result;
    bool has_test_result;
    size_t refused_tests;
};

struct tenant {
    const char *workspace_id, *agent_id;
};

/* Zeros of `given` are the standard, but pauses are short. */
void office_start_with(struct post_office *office, const struct delivery_config *given);
void office_start(struct post_office *office, unsigned per_receiver, int64_t answer_ms);
void office_open_with(struct post_office *office, struct fix *fix,
                      const struct delivery_config *given);
void office_open(struct post_office *office, struct fix *fix, unsigned per_receiver,
                 int64_t answer_ms);
/* Runs the loop until so many have come in all. */
bool wait_posts(struct post_office *office, size_t wanted);
void wait_us(struct post_office *office, int64_t us);
void on_stopped(void *arg);
void office_stop(struct post_office *office);
void office_close(struct post_office *office);
/* How many different events have come. */
size_t distinct_events(const struct post_office *office);
const char *url_to(struct post_office *office, const char *path);
/* Each host is a receiver of its own: 127.0.0.1 to 127.0.0.250. */
const char *url_at(struct post_office *office, int host, const char *path);
const char *subscribe(struct post_office *office, const char *url, const char *event);
/* A call with the agent's webhookUrl and webhooks of its own, then `count` events of it. */
void emit(struct post_office *office, const char *agent_url, struct call_webhook *own,
          size_t own_count, int count);
/* One event; nobody but the store tells the deliverer of it. */
void emit_for_the_store_to_tell(struct post_office *office);
const struct post *post_at(struct post_office *office, const char *path);
struct delivery newest(struct post_office *office, const char *webhook_id);
/* The newest delivery once it is settled: outcomes are written a little after they came. */
struct delivery settled(struct post_office *office, const char *webhook_id);
int64_t still_waiting(struct post_office *office);
void send_test(struct post_office *office, const char *path);
/* Events that are written from now on are this tenant's; NULL: a new one's. */
struct tenant switch_tenant(struct post_office *office, const struct tenant *tenant);
bool wait_post_at(struct post_office *office, const char *path);
size_t posts_at(const struct post_office *office, const char *path);
