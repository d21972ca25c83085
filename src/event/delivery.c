#include "event/delivery.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "event/attempt.h"
#include "event/sender.h"
#include "net/http_client.h"
#include "store/event.h"
#include "store/store.h"

enum {
    ATTEMPTS_MAX = 4, /* contract, Delivery behaviour 2 */
    UNDER_WAY_STANDARD = 4096,
    PER_RECEIVER_STANDARD = 1024,
    ANSWER_STANDARD_MS = 5000,
    SCALE_ONE_PPM = 1000000,
    TAKE_MAX = 512,          /* rows a transaction: others must not wait long for the writer */
    PUT_BACK_MS = 500,       /* what a receiver's connections have no room for waits so long */
    SETTLE_US = 5000,        /* outcomes are gathered so long for one transaction */
    LOOK_AGAIN_US = 1000000, /* when no hint comes: rows of another process or node */
    STORE_PAUSE_US = 250000, /* after a database fault */
    EXPIRE_US = 60 * 1000000,
    EXPIRE_ROWS = 1000,
    STOP_US = 6 * 1000000,
    LEASE_SLACK_MS = 5000, /* beyond the answer time: for the queue and the settling */
};

static const int64_t keep_standard_ms = 30LL * 24 * 3600 * 1000;

/* After the 1st, 2nd and 3rd failed attempt, from its end (contract, Retries). */
static const int64_t pauses_ms[ATTEMPTS_MAX - 1] = {1000, 5000, 15000};

int64_t delivery_pause_ms(int failed_attempts)
{
    return failed_attempts >= 1 && failed_attempts < ATTEMPTS_MAX ? pauses_ms[failed_attempts - 1]
                                                                  : -1;
}

/* One transaction: writes outcomes, takes what is due. */
struct cycle {
    struct deliverer *deliverer;
    struct outbox_result *results;
    size_t result_count;
    unsigned take;
    struct outbox_item *items;
    size_t item_count;
    int64_t next_due_ms;
    int64_t ahead_ms; /* the database's clock before ours */
};

struct deliverer {
    struct delivery_config config;
    struct http_client *client;
    struct store_watch *watch;
    struct sender *sender;
    struct outbox_result *results; /* to be written */
    size_t result_count, result_cap;
    unsigned held;              /* rows taken and not settled */
    bool is_due;                /* rows may be due now */
    bool has_cycle, has_expiry; /* a job of ours is with the store */
    bool wants_settling;
    int64_t ahead_ms;
    struct timer due, settle, expire, stop;
    bool is_stopping;
    void (*on_stopped)(void *arg);
    void *stopped_arg;
    _Atomic bool is_woken; /* any thread: a wake-up is posted already */
};

static void pump(struct deliverer *deliverer);

/* Outcomes. */

static struct outbox_result *add_result(struct deliverer *deliverer)
{
    if (deliverer->result_count == deliverer->result_cap) {
        deliverer->result_cap = MAX(2 * deliverer->result_cap, (size_t)64);
        deliverer->results =
            mem_realloc_n(deliverer->results, deliverer->result_cap, sizeof(*deliverer->results));
    }
    struct outbox_result *result = &deliverer->results[deliverer->result_count++];
    memset(result, 0, sizeof(*result));
    if (!timer_is_set(&deliverer->settle))
        timer_set_after(&deliverer->settle, SETTLE_US);
    return result;
}

static int64_t retry_at_ms(const struct deliverer *deliverer, int64_t pause_ms)
{
    return clock_wall_ms() + deliverer->ahead_ms +
           pause_ms * deliverer->config.pause_scale_ppm / SCALE_ONE_PPM;
}

static void judge(struct deliverer *deliverer, const struct attempt_outcome *outcome,
                  struct outbox_result *result)
{
    bool is_last = result->attempt >= ATTEMPTS_MAX;
    result->status = outcome->status;
    result->latency_ms = outcome->latency_ms;
    result->is_delivered = outcome->is_delivered;
    if (!outcome->is_delivered && !is_last)
        result->retry_wall_ms = retry_at_ms(deliverer, pauses_ms[result->attempt - 1]);
    snprintf(result->error, sizeof(result->error), "%s", outcome->error ? outcome->error : "");
    metric_add_label(METRIC_WEBHOOK_ATTEMPTS,
                     outcome->is_delivered ? "delivered"
                     : is_last             ? "failed"
                                           : "retried",
                     1);
    metric_observe_us(METRIC_WEBHOOK_SECONDS, outcome->latency_ms * 1000);
}

static void on_outcome(void *arg, int64_t row_id, int attempt,
                       const struct attempt_outcome *outcome)
{
    struct deliverer *deliverer = arg;
    struct outbox_result *result = add_result(deliverer);
    result->id = row_id;
    result->attempt = attempt;
    if (outcome) {
        judge(deliverer, outcome, result);
    } else { /* not tried */
        result->attempt--;
        result->retry_wall_ms = clock_wall_ms() + deliverer->ahead_ms + PUT_BACK_MS;
        snprintf(result->error, sizeof(result->error), "waits for a connection to its receiver");
    }
    pump(deliverer);
}

/* Cycles. */

static enum err cycle_work(struct tx *tx, void *arg)
{
    struct cycle *cycle = arg;
    cycle->items = NULL;
    cycle->item_count = 0;
    cycle->next_due_ms = 0;
    cycle->ahead_ms = store_is_postgres(tx->store) ? tx->now_ms - clock_wall_ms() : 0;
    enum err err = store_outbox_settle(tx, cycle->results, cycle->result_count);
    if (!err && cycle->take > 0)
        err =
            store_outbox_take(tx, cycle->take, cycle->deliverer->config.answer_ms + LEASE_SLACK_MS,
                              &cycle->items, &cycle->item_count, &cycle->next_due_ms);
    return err;
}

/* What could not be written is written by the next cycle. */
static void keep_results(struct deliverer *deliverer, const struct cycle *cycle)
{
    for (size_t i = 0; i < cycle->result_count; i++)
        *add_result(deliverer) = cycle->results[i];
}

/* Looks again then, or before. */
static void look_at(struct deliverer *deliverer, int64_t wall_ms)
{
    int64_t wait_ms = MAX(wall_ms - clock_wall_ms() - deliverer->ahead_ms, 0);
    int64_t due_us = loop_now_us(deliverer->config.loop) + wait_ms * 1000;
    if (!timer_is_set(&deliverer->due) || due_us < deliverer->due.due_us)
        timer_set(&deliverer->due, due_us);
}

static void look_when_due(struct deliverer *deliverer, const struct cycle *cycle)
{
    if (cycle->take > 0)
        timer_set_after(&deliverer->due, LOOK_AGAIN_US);
    if (cycle->next_due_ms > 0)
        look_at(deliverer, cycle->next_due_ms);
    for (size_t i = 0; i < cycle->result_count; i++)
        if (cycle->results[i].retry_wall_ms > 0)
            look_at(deliverer, cycle->results[i].retry_wall_ms);
}

static void cycle_failed(struct deliverer *deliverer, const struct cycle *cycle, enum err err)
{
    log_warn("webhooks.store", LOG_S("error", err_name(err)),
             LOG_I("outcomes", (int64_t)cycle->result_count));
    keep_results(deliverer, cycle);
    timer_stop(&deliverer->settle);
    timer_set_after(&deliverer->due, STORE_PAUSE_US);
    timer_set_after(&deliverer->settle, STORE_PAUSE_US);
}

static void cycle_done(void *arg, enum err err)
{
    struct cycle *cycle = arg;
    struct deliverer *deliverer = cycle->deliverer;
    deliverer->has_cycle = false;
    if (err) {
        cycle_failed(deliverer, cycle, err);
    } else {
        deliverer->ahead_ms = cycle->ahead_ms;
        deliverer->held -= (unsigned)cycle->result_count;
        deliverer->held += (unsigned)cycle->item_count;
        metric_set(METRIC_WEBHOOK_UNDER_WAY, deliverer->held);
        for (size_t i = 0; i < cycle->item_count; i++)
            sender_send(deliverer->sender, &cycle->items[i]);
        if (cycle->take > 0 && cycle->item_count == cycle->take)
            deliverer->is_due = true;
        look_when_due(deliverer, cycle);
        pump(deliverer);
    }
    mem_free(cycle->results);
    mem_free(cycle);
}

static void begin_cycle(struct deliverer *deliverer, unsigned take)
{
    struct cycle *cycle = mem_new(struct cycle);
    cycle->deliverer = deliverer;
    cycle->take = take;
    cycle->results = TAKE(deliverer->results);
    cycle->result_count = deliverer->result_count;
    deliverer->result_count = deliverer->result_cap = 0;
    deliverer->wants_settling = false;
    timer_stop(&deliverer->settle);
    if (take > 0)
        deliverer->is_due = false;
    deliverer->has_cycle = true;
    if (store_job(deliverer->config.store, STORE_WRITE, cycle_work, cycle, deliverer->config.loop,
                  cycle_done) == OK)
        return;
    deliverer->has_cycle = false;
    cycle_failed(deliverer, cycle, ERR_BUSY);
    mem_free(cycle->results);
    mem_free(cycle);
}

static void check_stopped(struct deliverer *deliverer)
{
    if (!deliverer->is_stopping || deliverer->has_cycle || deliverer->has_expiry ||
        deliverer->held > 0)
        return;
    void (*on_stopped)(void *) = TAKE(deliverer->on_stopped);
    timer_stop(&deliverer->stop);
    if (on_stopped)
        on_stopped(deliverer->stopped_arg);
}

/* Begins a cycle if there is a reason: something is due and there is room, or outcomes wait and
 * have gathered long enough, or they hold up what is due. */
static void pump(struct deliverer *deliverer)
{
    const struct delivery_config *config = &deliverer->config;
    check_stopped(deliverer);
    if (deliverer->has_cycle)
        return;
    size_t after = deliverer->held - deliverer->result_count; /* held once outcomes are written */
    unsigned room = deliverer->is_stopping || after >= config->max_under_way
                        ? 0
                        : (unsigned)MIN(config->max_under_way - after, (size_t)TAKE_MAX);
    bool may_take = deliverer->is_due && room > 0;
    bool must_settle = deliverer->result_count > 0 &&
                       (deliverer->wants_settling || deliverer->result_count >= TAKE_MAX);
    if (may_take || must_settle)
        begin_cycle(deliverer, may_take ? room : 0);
}

static void on_due(void *arg)
{
    struct deliverer *deliverer = arg;
    deliverer->is_due = true;
    pump(deliverer);
}

static void on_settle(void *arg)
{
    struct deliverer *deliverer = arg;
    deliverer->wants_settling = true;
    pump(deliverer);
}

static void on_wake(void *arg)
{
    struct deliverer *deliverer = arg;
    atomic_store(&deliverer->is_woken, false);
    on_due(deliverer);
}

void delivery_wake(struct deliverer *deliverer)
{
    if (!atomic_exchange(&deliverer->is_woken, true))
        loop_post(deliverer->config.loop, on_wake, deliverer);
}

static void on_store(void *arg, unsigned topics)
{
    (void)topics;
    on_due(arg);
}

/* The log is kept for a while only. */

struct expiry {
    struct deliverer *deliverer;
    unsigned count;
};

static enum err expire_work(struct tx *tx, void *arg)
{
    struct expiry *expiry = arg;
    int64_t before_ms = tx->now_ms - expiry->deliverer->config.keep_ms;
    return store_delivery_expire(tx, before_ms, EXPIRE_ROWS, &expiry->count);
}

static void expire_done(void *arg, enum err err)
{
    struct expiry *expiry = arg;
    struct deliverer *deliverer = expiry->deliverer;
    bool has_more = !err && expiry->count >= EXPIRE_ROWS;
    timer_set_after(&deliverer->expire, has_more ? STORE_PAUSE_US : EXPIRE_US);
    deliverer->has_expiry = false;
    mem_free(expiry);
    check_stopped(deliverer);
}

static void on_expire(void *arg)
{
    struct deliverer *deliverer = arg;
    if (deliverer->is_stopping)
        return;
    struct expiry *expiry = mem_new(struct expiry);
    expiry->deliverer = deliverer;
    deliverer->has_expiry = true;
    if (store_job(deliverer->config.store, STORE_WRITE, expire_work, expiry, deliverer->config.loop,
                  expire_done) == OK)
        return;
    deliverer->has_expiry = false;
    timer_set_after(&deliverer->expire, EXPIRE_US);
    mem_free(expiry);
}

/* Begin and end. */

static struct delivery_config with_standards(const struct delivery_config *given)
{
    struct delivery_config config = *given;
    config.max_under_way = given->max_under_way ? given->max_under_way : UNDER_WAY_STANDARD;
    config.max_per_receiver =
        given->max_per_receiver ? given->max_per_receiver : PER_RECEIVER_STANDARD;
    config.answer_ms = given->answer_ms ? given->answer_ms : ANSWER_STANDARD_MS;
    config.pause_scale_ppm = given->pause_scale_ppm ? given->pause_scale_ppm : SCALE_ONE_PPM;
    config.keep_ms = given->keep_ms ? given->keep_ms : keep_standard_ms;
    return config;
}

static void on_stop_limit(void *arg)
{
    struct deliverer *deliverer = arg;
    /* What is cut off is tried again when its lease has run out. */
    deliverer->held -= (unsigned)sender_cancel(deliverer->sender);
    on_settle(deliverer);
}

struct deliverer *delivery_new(const struct delivery_config *config)
{
    struct deliverer *deliverer = mem_new(struct deliverer);
    deliverer->config = with_standards(config);
    const struct http_client_config client = {
        .resolver = config->resolver,
        .ca_path = config->ca_path,
        .max_connections = deliverer->config.max_under_way,
    };
    deliverer->client = http_client_new(config->loop, &client);
    const struct sender_config sender = {
        .loop = config->loop,
        .client = deliverer->client,
        .answer_ms = deliverer->config.answer_ms,
        .max_per_receiver = deliverer->config.max_per_receiver,
        .fn = on_outcome,
        .arg = deliverer,
    };
    deliverer->sender = sender_new(&sender);
    timer_init(&deliverer->due, config->loop, on_due, deliverer);
    timer_init(&deliverer->settle, config->loop, on_settle, deliverer);
    timer_init(&deliverer->expire, config->loop, on_expire, deliverer);
    timer_init(&deliverer->stop, config->loop, on_stop_limit, deliverer);
    timer_set_after(&deliverer->expire, EXPIRE_US);
    timer_set_after(&deliverer->due, 0);
    deliverer->watch = store_watch(config->store, STORE_OUTBOX, config->loop, on_store, deliverer);
    return deliverer;
}

void delivery_stop(struct deliverer *deliverer, void (*on_done)(void *arg), void *arg)
{
    deliverer->is_stopping = true;
    deliverer->on_stopped = on_done;
    deliverer->stopped_arg = arg;
    timer_set_after(&deliverer->stop, STOP_US);
    pump(deliverer);
}

void delivery_free(struct deliverer *deliverer)
{
    if (!deliverer)
        return;
    sender_free(deliverer->sender);
    store_unwatch(deliverer->watch);
    timer_stop(&deliverer->due);
    timer_stop(&deliverer->settle);
    timer_stop(&deliverer->expire);
    timer_stop(&deliverer->stop);
    http_client_free(deliverer->client);
    mem_free(deliverer->results);
    mem_free(deliverer);
}

/* Send a test event. */

struct test_send {
    struct deliverer *deliverer;
    struct attempt_request request;
    struct loop *done_loop;
    delivery_test_fn *fn;
    void *arg;
    struct attempt_outcome outcome;
    char *error;
};

static void test_answer(void *arg)
{
    struct test_send *test = arg;
    const struct delivery_test_result result = {
        .is_ok = test->outcome.is_delivered,
        .status = test->outcome.status,
        .error = test->error,
    };
    test->fn(test->arg, &result);
    mem_free((char *)test->request.url);
    mem_free((char *)test->request.secret);
    mem_free((char *)test->request.event_id);
    mem_free((char *)test->request.type);
    mem_free((char *)test->request.body);
    mem_free(test->error);
    mem_free(test);
}

static void test_outcome(void *arg, const struct attempt_outcome *outcome)
{
    struct test_send *test = arg;
    test->outcome = *outcome;
    test->error = mem_strdup(outcome->error);
    loop_post(test->done_loop, test_answer, test);
}

static void test_begin(void *arg)
{
    struct test_send *test = arg;
    attempt_start(test->deliverer->client, &test->request, test_outcome, test);
}

void delivery_send_test(struct deliverer *deliverer, const struct delivery_test *test,
                        struct loop *done_loop, delivery_test_fn *fn, void *arg)
{
    struct test_send *send = mem_new(struct test_send);
    send->deliverer = deliverer;
    send->request = (struct attempt_request){
        .url = mem_strdup(test->url),
        .secret = mem_strdup(test->secret),
        .event_id = mem_strdup(test->event_id),
        .type = mem_strdup(test->type),
        .body = mem_strdup(test->body),
        .answer_ms = deliverer->config.answer_ms,
    };
    send->done_loop = done_loop;
    send->fn = fn;
    send->arg = arg;
    loop_post(deliverer->config.loop, test_begin, send);
}
