#include "event/delivery.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "base/utf8.h"
#include "event/allowance.h"
#include "event/attempt.h"
#include "event/sender.h"
#include "event/test_send.h"
#include "event/upkeep.h"
#include "net/http_client.h"
#include "store/outbox.h"
#include "store/store.h"

enum {
    ATTEMPTS_MAX = 4, /* contract, Delivery behaviour 2 */
    UNDER_WAY_STANDARD = 4096,
    PER_RECEIVER_STANDARD = 1024,
    ANSWER_STANDARD_MS = 5000,
    SCALE_ONE_PPM = 1000000,
    TAKE_MAX = 512,       /* units a transaction: others must not wait long for the writer */
    PUT_BACK_US = 500000, /* what found no connection in time waits so long */
    SETTLE_US = 5000,     /* outcomes are gathered so long for one transaction */
    LOOK_AGAIN_STANDARD_MS = 1000, /* when no hint comes: rows of another process or node */
    STORE_PAUSE_US = 250000,       /* after a database fault; doubled with each in a row */
    STORE_PAUSE_MAX_US = 4000000,
    ROUND_LINES_FREE = 256, /* a round over more lines than that is followed by a rest, ... */
    ROUND_LINE_US = 20,     /* ... so long for each line, so that looking never fills the time */
    STOP_STANDARD_MS = 3000,
    STOP_SETTLE_US = 2 * 1000000, /* for the last outcomes */
    LEASE_SLACK_MS = 5000,        /* beyond the answer time: for the queue and the settling */
};

static const int64_t keep_standard_ms = 30LL * 24 * 3600 * 1000;

/* After the 1st, 2nd and 3rd failed attempt, from its end (contract, Retries). */
static const int64_t pauses_ms[ATTEMPTS_MAX - 1] = {1000, 5000, 15000};

int64_t delivery_pause_ms(int failed_attempts)
{
    return failed_attempts >= 1 && failed_attempts < ATTEMPTS_MAX ? pauses_ms[failed_attempts - 1]
                                                                  : -1;
}

/* One transaction: writes outcomes, takes what is due. What it needs is its own while it is with
 * the store, so that a deliverer can end without it. */
struct cycle {
    struct deliverer *deliverer; /* NULL: freed meanwhile */
    struct outbox_result *results;
    size_t result_count;
    unsigned result_units;
    struct outbox_wish wish; /* units 0: takes nothing */
    struct allowance *allowance;
    struct outbox_turns *turns;
    bool is_careful; /* the last one held something that no attempt would write: settles only */
    struct outbox_clock before, clock;
    struct outbox_taken taken;
};

struct deliverer {
    struct delivery_config config;
    struct http_client *client;
    struct store_watch *watch;
    struct sender *sender;
    struct test_sends *tests;
    struct upkeep *upkeep;
    struct outbox_turns *turns; /* NULL while a cycle has them */
    struct outbox_clock clock;
    struct outbox_result *results; /* to be written */
    size_t result_count, result_cap;
    unsigned result_units;
    unsigned held;       /* units taken and not settled */
    bool is_due;         /* rows may be due now */
    bool is_fresh;       /* since the last take */
    bool has_held;       /* rows are due for which there was no room */
    struct cycle *cycle; /* with the store */
    bool wants_settling;
    unsigned store_faults; /* in a row */
    bool is_careful;
    int64_t rest_until_us;
    struct timer due, settle, stop;
    bool is_stopping;
    void (*on_stopped)(void *arg);
    void *stopped_arg;
    _Atomic bool is_woken; /* any thread: a wake-up is posted already */
};

static void pump(struct deliverer *deliverer);

/* Outcomes. */

static void add_result(struct deliverer *deliverer, const struct outbox_result *one)
{
    if (deliverer->result_count == deliverer->result_cap) {
        deliverer->result_cap = MAX(2 * deliverer->result_cap, (size_t)64);
        deliverer->results =
            mem_realloc_n(deliverer->results, deliverer->result_cap, sizeof(*deliverer->results));
    }
    deliverer->results[deliverer->result_count++] = *one;
    deliverer->result_units += one->units;
    if (!timer_is_set(&deliverer->settle))
        timer_set_after(&deliverer->settle, SETTLE_US);
}

static int64_t retry_at_us(const struct deliverer *deliverer, int attempt)
{
    return clock_now_us() +
           pauses_ms[attempt - 1] * 1000 * deliverer->config.pause_scale_ppm / SCALE_ONE_PPM;
}

/* What it says may hold bytes of the receiver; a database takes only text. */
static void set_error(struct outbox_result *result, const char *error)
{
    AUTO_BUF clean = BUF_INIT(sizeof(result->error));
    if (error)
        (void)utf8_append_clean(&clean, error, strlen(error));
    snprintf(result->error, sizeof(result->error), "%s", clean.len ? clean.data : "");
}

static void judge(struct deliverer *deliverer, const struct attempt_outcome *outcome,
                  struct outbox_result *result)
{
    bool is_last = result->attempt >= ATTEMPTS_MAX;
    result->status = outcome->status;
    result->latency_ms = outcome->latency_ms;
    result->is_delivered = outcome->is_delivered;
    if (!outcome->is_delivered && !is_last)
        result->retry_at_us = retry_at_us(deliverer, result->attempt);
    set_error(result, outcome->error);
    metric_add_label(METRIC_WEBHOOK_ATTEMPTS,
                     outcome->is_delivered ? "delivered"
                     : is_last             ? "failed"
                                           : "retried",
                     1);
    metric_observe_us(METRIC_WEBHOOK_SECONDS, outcome->latency_ms * 1000);
}

static void on_outcome(void *arg, const struct sent *sent, const struct attempt_outcome *outcome)
{
    struct deliverer *deliverer = arg;
    struct outbox_result result = {
        .id = sent->row_id, .attempt = sent->attempt, .units = sent->units};
    if (outcome) {
        judge(deliverer, outcome, &result);
    } else { /* not tried */
        result.attempt--;
        result.retry_at_us = clock_now_us() + PUT_BACK_US;
        set_error(&result, "waits for a connection to its receiver");
    }
    add_result(deliverer, &result);
    deliverer->is_due |= deliverer->has_held; /* it has made room */
    pump(deliverer);
}

/* Cycles. */

static enum err cycle_work(struct tx *tx, void *arg)
{
    struct cycle *cycle = arg;
    cycle->taken = (struct outbox_taken){.next_due_ms = -1};
    cycle->clock = cycle->before;
    int64_t now_ms = store_outbox_now(tx, &cycle->clock);
    if (cycle->is_careful)
        return store_outbox_settle_each(tx, now_ms, cycle->results, cycle->result_count);
    enum err err = store_outbox_settle(tx, now_ms, cycle->results, cycle->result_count);
    if (!err && cycle->wish.units > 0)
        err = store_outbox_take(tx, cycle->turns, &cycle->wish, now_ms, &cycle->taken);
    return err;
}

static void cycle_free(struct cycle *cycle)
{
    outbox_turns_free(cycle->turns);
    allowance_free(cycle->allowance);
    mem_free(cycle->results);
    mem_free(cycle);
}

/* Looks again after so long, or before. */
static void look_after(struct deliverer *deliverer, int64_t delay_us)
{
    int64_t due_us = loop_now_us(deliverer->config.loop) + MAX(delay_us, (int64_t)0);
    if (!timer_is_set(&deliverer->due) || due_us < deliverer->due.due_us)
        timer_set(&deliverer->due, due_us);
}

static void look_when_due(struct deliverer *deliverer, const struct cycle *cycle)
{
    if (cycle->wish.units > 0)
        timer_set_after(&deliverer->due, deliverer->config.look_again_ms * 1000);
    if (cycle->taken.next_due_ms >= 0)
        look_after(deliverer, cycle->taken.next_due_ms * 1000);
    for (size_t i = 0; i < cycle->result_count; i++)
        if (cycle->results[i].retry_at_us > 0)
            look_after(deliverer, cycle->results[i].retry_at_us - clock_now_us());
}

/* What could not be written is written by the next cycle. */
static void cycle_failed(struct deliverer *deliverer, const struct cycle *cycle, enum err err)
{
    int64_t pause_us = MIN((int64_t)STORE_PAUSE_US << MIN(deliverer->store_faults, 10U),
                           (int64_t)STORE_PAUSE_MAX_US);
    deliverer->store_faults++;
    deliverer->is_careful = !store_is_transient(err) && cycle->result_count > 0;
    log_warn("webhooks.store", LOG_S("error", err_name(err)),
             LOG_I("outcomes", (int64_t)cycle->result_count), LOG_I("pause_ms", pause_us / 1000));
    for (size_t i = 0; i < cycle->result_count; i++)
        add_result(deliverer, &cycle->results[i]);
    timer_set_after(&deliverer->due, pause_us);
    timer_set_after(&deliverer->settle, pause_us);
    deliverer->rest_until_us = loop_now_us(deliverer->config.loop) + pause_us;
}

static void note_taken(struct deliverer *deliverer, const struct outbox_taken *taken)
{
    deliverer->held += taken->units;
    deliverer->is_due |= taken->has_more;
    deliverer->has_held = taken->has_held;
    if (taken->unreadable > 0)
        metric_add_label(METRIC_WEBHOOK_GIVEN_UP, "unreadable", taken->unreadable);
    if (taken->round_lines > ROUND_LINES_FREE)
        deliverer->rest_until_us =
            loop_now_us(deliverer->config.loop) + (int64_t)taken->round_lines * ROUND_LINE_US;
    for (size_t i = 0; i < taken->count; i++)
        sender_send(deliverer->sender, &taken->items[i]);
}

static void on_cycle_done(void *arg, enum err err)
{
    struct cycle *cycle = arg;
    struct deliverer *deliverer = cycle->deliverer;
    if (deliverer) {
        deliverer->cycle = NULL;
        deliverer->turns = TAKE(cycle->turns);
        if (err) {
            cycle_failed(deliverer, cycle, err);
        } else {
            deliverer->store_faults = 0;
            deliverer->is_careful = false;
            deliverer->clock = cycle->clock;
            deliverer->held -= cycle->result_units;
            note_taken(deliverer, &cycle->taken);
            metric_set(METRIC_WEBHOOK_UNDER_WAY, deliverer->held);
            look_when_due(deliverer, cycle);
        }
        pump(deliverer);
    }
    cycle_free(cycle);
}

static struct outbox_wish wish_for(struct deliverer *deliverer, unsigned units,
                                   const struct allowance *allowance)
{
    int64_t lease_ms = deliverer->config.answer_ms + LEASE_SLACK_MS;
    return (struct outbox_wish){
        .units = units,
        .lease_ms = lease_ms,
        .longest_ms = MAX(lease_ms, pauses_ms[ATTEMPTS_MAX - 2]),
        .is_fresh = deliverer->is_fresh,
        .line_room = allowance_of_line,
        .workspace_room = allowance_of_workspace,
        .arg = allowance,
    };
}

static void begin_cycle(struct deliverer *deliverer, unsigned units, unsigned free_units)
{
    struct cycle *cycle = deliverer->cycle = mem_new(struct cycle);
    cycle->deliverer = deliverer;
    cycle->results = TAKE(deliverer->results);
    cycle->result_count = deliverer->result_count;
    cycle->result_units = deliverer->result_units;
    cycle->turns = TAKE(deliverer->turns);
    cycle->before = deliverer->clock;
    cycle->is_careful = deliverer->is_careful;
    deliverer->result_count = deliverer->result_cap = 0;
    deliverer->result_units = 0;
    deliverer->wants_settling = false;
    timer_stop(&deliverer->settle);
    if (units > 0) {
        cycle->allowance = sender_allowance(deliverer->sender, free_units);
        cycle->wish = wish_for(deliverer, units, cycle->allowance);
        deliverer->is_due = deliverer->is_fresh = false;
    }
    if (store_job(deliverer->config.store, STORE_WRITE, cycle_work, cycle, deliverer->config.loop,
                  on_cycle_done) == OK)
        return;
    deliverer->cycle = NULL;
    deliverer->turns = TAKE(cycle->turns);
    cycle_failed(deliverer, cycle, ERR_BUSY);
    cycle_free(cycle);
}

static void check_stopped(struct deliverer *deliverer)
{
    if (!deliverer->is_stopping || deliverer->cycle || !upkeep_is_idle(deliverer->upkeep) ||
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
    if (deliverer->cycle)
        return;
    unsigned after = deliverer->held - deliverer->result_units; /* once outcomes are written */
    unsigned free_units = after < config->max_under_way ? config->max_under_way - after : 0;
    bool is_resting = loop_now_us(config->loop) < deliverer->rest_until_us;
    bool may_take = deliverer->is_due && free_units > 0 && !deliverer->is_stopping && !is_resting &&
                    !deliverer->is_careful;
    bool must_settle = deliverer->result_count > 0 &&
                       (deliverer->wants_settling || deliverer->result_count >= TAKE_MAX);
    if (may_take || must_settle)
        begin_cycle(deliverer, may_take ? MIN(free_units, (unsigned)TAKE_MAX) : 0, free_units);
    else if (deliverer->is_due && is_resting)
        look_after(deliverer, deliverer->rest_until_us - loop_now_us(config->loop));
}

static void on_due(void *arg)
{
    struct deliverer *deliverer = arg;
    deliverer->is_due = deliverer->is_fresh = true;
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

/* Subscriptions that are gone. */

struct drop {
    struct deliverer *deliverer;
    char *webhook_id;
};

static void on_drop(void *arg)
{
    struct drop *drop = arg;
    sender_drop(drop->deliverer->sender, drop->webhook_id);
    upkeep_drop(drop->deliverer->upkeep, drop->webhook_id);
    mem_free(drop->webhook_id);
    mem_free(drop);
}

void delivery_drop(struct deliverer *deliverer, const char *webhook_id)
{
    struct drop *drop = mem_new(struct drop);
    *drop = (struct drop){deliverer, mem_strdup(webhook_id)};
    loop_post(deliverer->config.loop, on_drop, drop);
}

void delivery_send_test(struct deliverer *deliverer, const struct delivery_test *test,
                        struct loop *done_loop, delivery_test_fn *fn, void *arg)
{
    test_sends_add(deliverer->tests, test, done_loop, fn, arg);
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
    config.stop_ms = given->stop_ms ? given->stop_ms : STOP_STANDARD_MS;
    config.keep_ms = given->keep_ms ? given->keep_ms : keep_standard_ms;
    config.look_again_ms = given->look_again_ms ? given->look_again_ms : LOOK_AGAIN_STANDARD_MS;
    return config;
}

/* The store does not answer either: the cycle that is with it ends without us. */
static void on_settle_limit(void *arg)
{
    struct deliverer *deliverer = arg;
    void (*on_stopped)(void *) = TAKE(deliverer->on_stopped);
    log_warn("webhooks.stop", LOG_S("error", "the database did not take the last outcomes"),
             LOG_I("outcomes", (int64_t)deliverer->result_count));
    if (on_stopped)
        on_stopped(deliverer->stopped_arg);
}

static void on_stop_limit(void *arg)
{
    struct deliverer *deliverer = arg;
    /* What is cut off is tried again when its lease has run out. */
    deliverer->held -= sender_cancel(deliverer->sender);
    timer_init(&deliverer->stop, deliverer->config.loop, on_settle_limit, deliverer);
    timer_set_after(&deliverer->stop, STOP_SETTLE_US);
    on_settle(deliverer);
}

static void on_upkeep_idle(void *arg)
{
    check_stopped(arg);
}

static void open_parts(struct deliverer *deliverer)
{
    const struct delivery_config *config = &deliverer->config;
    const struct http_client_config client = {
        .resolver = config->resolver,
        .tls = config->tls,
        .max_connections = config->max_under_way,
    };
    deliverer->client = http_client_new(config->loop, &client);
    const struct sender_config sender = {
        .loop = config->loop,
        .client = deliverer->client,
        .answer_ms = config->answer_ms,
        .max_per_receiver = config->max_per_receiver,
        .fn = on_outcome,
        .arg = deliverer,
    };
    deliverer->sender = sender_new(&sender);
    deliverer->tests = test_sends_new(config->loop, deliverer->client, config->answer_ms);
    const struct upkeep_config upkeep = {
        .loop = config->loop,
        .store = config->store,
        .keep_ms = config->keep_ms,
        .most_waiting = config->most_waiting,
        .on_idle = on_upkeep_idle,
        .arg = deliverer,
    };
    deliverer->upkeep = upkeep_new(&upkeep);
}

struct deliverer *delivery_new(const struct delivery_config *config)
{
    struct deliverer *deliverer = mem_new(struct deliverer);
    deliverer->config = with_standards(config);
    deliverer->turns = outbox_turns_new();
    open_parts(deliverer);
    timer_init(&deliverer->due, config->loop, on_due, deliverer);
    timer_init(&deliverer->settle, config->loop, on_settle, deliverer);
    timer_init(&deliverer->stop, config->loop, on_stop_limit, deliverer);
    timer_set_after(&deliverer->due, 0);
    deliverer->watch = store_watch(config->store, STORE_OUTBOX, config->loop, on_store, deliverer);
    return deliverer;
}

void delivery_stop(struct deliverer *deliverer, void (*on_done)(void *arg), void *arg)
{
    deliverer->is_stopping = true;
    deliverer->on_stopped = on_done;
    deliverer->stopped_arg = arg;
    upkeep_stop(deliverer->upkeep);
    test_sends_stop(deliverer->tests);
    timer_set_after(&deliverer->stop, deliverer->config.stop_ms * 1000);
    pump(deliverer);
}

void delivery_free(struct deliverer *deliverer)
{
    if (!deliverer)
        return;
    store_unwatch(deliverer->watch);
    if (deliverer->cycle)
        deliverer->cycle->deliverer = NULL;
    test_sends_free(deliverer->tests);
    upkeep_free(deliverer->upkeep);
    sender_free(deliverer->sender);
    timer_stop(&deliverer->due);
    timer_stop(&deliverer->settle);
    timer_stop(&deliverer->stop);
    http_client_free(deliverer->client);
    outbox_turns_free(deliverer->turns);
    mem_free(deliverer->results);
    mem_free(deliverer);
}
