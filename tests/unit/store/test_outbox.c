/* The outbox: who receives an event, leases, outcomes, drops, the log. */
#include <string.h>

#include "store/call.h"
#include "store/event.h"
#include "store/node.h"
#include "store/tx.h"
#include "store/webhook.h"
#include "unit/store/call_fixture.h"
#include "unit/store/fixture.h"

enum { LEASE_MS = 8000 };

static struct webhook subscribe(struct fix *fix, struct tx *tx, const char **events, size_t n)
{
    struct webhook webhook = {0};
    field_defaults(&webhook_table, &webhook);
    webhook.user_id = fix->workspace_id;
    webhook.url = "https://example.com/all";
    webhook.events = (struct text_list){events, n};
    webhook.secret = "whsec_subscription";
    webhook.is_enabled = true;
    CHECK_INT(store_webhook_insert(tx, &webhook), OK);
    return webhook;
}

struct batch {
    struct outbox_item *items;
    size_t n;
    int64_t next_due_ms;
};

static struct batch take(struct tx *tx, unsigned limit)
{
    struct batch batch = {0};
    CHECK_INT(store_outbox_take(tx, limit, LEASE_MS, &batch.items, &batch.n, &batch.next_due_ms),
              OK);
    return batch;
}

static void settle(struct tx *tx, const struct outbox_item *item, int status, int64_t retry_ms)
{
    struct outbox_result result = {.id = item->id,
                                   .attempt = item->attempt,
                                   .status = status,
                                   .latency_ms = 12,
                                   .retry_wall_ms = retry_ms,
                                   .is_delivered = status == 200};
    CHECK_INT(store_outbox_settle(tx, &result, 1), OK);
}

static const char *all[] = {"*"};
static const char *only_ended[] = {"call.ended"};

STORE_TEST(event_goes_to_each_receiver_that_wants_it)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    subscribe(fix, tx, all, 1);
    subscribe(fix, tx, only_ended, 1);
    struct webhook off = subscribe(fix, tx, all, 1);
    off.is_enabled = false;
    CHECK_INT(store_webhook_update(tx, &off), OK);
    const char *id = fix_call(fix, tx, 6000);
    CHECK_INT(store_call_started(tx, id), OK);
    struct batch batch = take(tx, 10);
    REQUIRE(batch.n == 3); /* subscription, agent, call */
    bool has_subscription = false, has_agent = false, has_call = false;
    for (size_t i = 0; i < 3; i++) {
        const struct outbox_item *item = &batch.items[i];
        CHECK_TEXT(item->type, "call.started");
        CHECK_INT(item->attempt, 1);
        CHECK(strstr(item->body, item->event_id) != NULL);
        CHECK(strstr(item->body, "\"order\":7") != NULL);
        if (strcmp(item->url, "https://example.com/all") == 0)
            has_subscription = strcmp(item->secret, "whsec_subscription") == 0;
        if (strcmp(item->url, "https://example.com/agent") == 0)
            has_agent = *item->secret == '\0';
        if (strcmp(item->url, "https://example.com/call") == 0)
            has_call = strcmp(item->secret, "whsec_of_the_call") == 0;
    }
    CHECK(has_subscription && has_agent && has_call);
    CHECK_INT(take(tx, 10).n, 0); /* leased */
    struct call_end end = {.reason = END_API, .ended_wall_ms = tx->now_ms};
    CHECK_INT(store_call_end(tx, id, &end, NULL), OK);
    CHECK_INT(take(tx, 10).n, 4);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(attempts_follow_their_schedule)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    const char *id = fix_call(fix, tx, 6000);
    CHECK_INT(store_call_started(tx, id), OK);
    struct batch batch = take(tx, 1);
    REQUIRE(batch.n == 1);
    CHECK(batch.next_due_ms <= tx->now_ms); /* the other one */
    settle(tx, &batch.items[0], 500, tx->now_ms + 1000);
    batch = take(tx, 10);
    CHECK_INT(batch.n, 1);
    settle(tx, &batch.items[0], 200, 0);
    batch = take(tx, 10);
    CHECK_INT(batch.n, 0);
    CHECK_INT(batch.next_due_ms, tx->now_ms + 1000);
    tx->now_ms += 1000;
    batch = take(tx, 10);
    REQUIRE(batch.n == 1);
    CHECK_INT(batch.items[0].attempt, 2);
    CHECK_INT(batch.items[0].due_wall_ms, tx->now_ms);
    settle(tx, &batch.items[0], 0, 0);
    settle(tx, &batch.items[0], 200, 0); /* settled already: nothing changes */
    struct call call;
    REQUIRE(store_call_get(tx, fix->workspace_id, NULL, id, &call) == OK);
    CHECK_INT(call.webhooks.items[0].delivered + call.webhooks.items[0].failed, 1);
    int64_t waiting = -1;
    CHECK_INT(store_outbox_waiting(tx, &waiting), OK);
    CHECK_INT(waiting, 0);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(lease_that_ran_out_is_taken_again)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    const char *id = fix_call(fix, tx, 6000);
    CHECK_INT(store_call_started(tx, id), OK);
    struct batch first = take(tx, 10);
    REQUIRE(first.n == 2);
    tx->now_ms += LEASE_MS - 1;
    CHECK_INT(take(tx, 10).n, 0);
    tx->now_ms += 1;
    struct batch second = take(tx, 10);
    CHECK_INT(second.n, 2);
    CHECK_INT(second.items[0].attempt, 1); /* the first one was not settled */
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(restart_does_not_wait_for_its_own_leases)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    CHECK_INT(store_node_start(tx, ""), OK);
    const char *id = fix_call(fix, tx, 6000);
    CHECK_INT(store_call_started(tx, id), OK);
    struct batch first = take(tx, 10);
    CHECK_INT(first.n, 2);
    CHECK_INT(store_node_start(tx, ""), OK);
    settle(tx, &first.items[0], 200, 0); /* of the process before: fenced off */
    struct batch again = take(tx, 10);
    CHECK_INT(again.n, 2);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(disabling_drops_what_waits)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    struct webhook webhook = subscribe(fix, tx, all, 1);
    const char *id = fix_call(fix, tx, 6000);
    CHECK_INT(store_call_started(tx, id), OK);
    CHECK_INT(take(tx, 1).n, 1); /* leased ones are dropped too */
    webhook.is_enabled = false;
    CHECK_INT(store_webhook_update(tx, &webhook), OK);
    int64_t waiting = -1;
    CHECK_INT(store_outbox_waiting(tx, &waiting), OK);
    CHECK_INT(waiting, 2);
    struct delivery_list log;
    REQUIRE(store_delivery_list(tx, fix->workspace_id, webhook.id, 10, NULL, &log) == OK);
    REQUIRE(log.count == 1);
    CHECK_INT(log.items[0].state, DELIVERY_DROPPED);
    struct delivery resent;
    CHECK_INT(store_delivery_resend(tx, fix->workspace_id, webhook.id, log.items[0].id, &resent),
              ERR_CONFLICT);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(log_is_kept_and_events_are_sent_again)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    struct webhook webhook = subscribe(fix, tx, only_ended, 1);
    const char *id = fix_call(fix, tx, 6000);
    struct call_end end = {.reason = END_API, .ended_wall_ms = tx->now_ms};
    CHECK_INT(store_call_end(tx, id, &end, NULL), OK);
    struct batch batch = take(tx, 10);
    for (size_t i = 0; i < batch.n; i++)
        settle(tx, &batch.items[i], 503, 0);
    struct delivery_list log;
    REQUIRE(store_delivery_list(tx, fix->workspace_id, webhook.id, 10, NULL, &log) == OK);
    REQUIRE(log.count == 1);
    CHECK_INT(log.items[0].state, DELIVERY_FAILED);
    CHECK_INT(log.items[0].status, 503);
    CHECK_INT(log.items[0].attempts, 1);
    CHECK_TEXT(log.items[0].type, "call.ended");
    CHECK_TEXT(log.items[0].url, webhook.url);
    struct delivery resent;
    REQUIRE(store_delivery_resend(tx, fix->workspace_id, webhook.id, log.items[0].id, &resent) ==
            OK);
    CHECK_TEXT(resent.event_id, log.items[0].event_id);
    CHECK_INT(resent.state, DELIVERY_WAITING);
    batch = take(tx, 10);
    REQUIRE(batch.n == 1);
    CHECK_TEXT(batch.items[0].event_id, log.items[0].event_id);
    settle(tx, &batch.items[0], 200, 0);
    CHECK_INT(store_delivery_list(tx, fix->workspace_id, webhook.id, 1, NULL, &log), OK);
    CHECK_INT(log.count, 1);
    CHECK_INT(store_delivery_list(tx, fix->workspace_id, webhook.id, 9, log.items[0].id, &log), OK);
    CHECK_INT(log.count, 1);
    CHECK_INT(store_delivery_list(tx, fix->workspace_id, webhook.id, 9, "x", &log), ERR_INVALID);
    CHECK_INT(store_delivery_list(tx, "usr_other", webhook.id, 9, NULL, &log), ERR_NOT_FOUND);
    unsigned n = 0;
    CHECK_INT(store_delivery_expire(tx, tx->now_ms - 1000, 100, &n), OK);
    CHECK_INT(n, 0);
    CHECK_INT(store_delivery_expire(tx, tx->now_ms + 100000, 100, &n), OK);
    CHECK_INT(n, 5); /* four deliveries, one event */
    CHECK_INT(fix_commit(tx), OK);
}
