/* The outbox: who receives an event, leases, outcomes, drops, the log. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "store/call.h"
#include "store/event.h"
#include "store/node.h"
#include "store/outbox.h"
#include "store/tx.h"
#include "store/webhook.h"
#include "unit/store/call_fixture.h"
#include "unit/store/fixture.h"

enum { LEASE_MS = 8000 };

static int64_t waiting(struct tx *tx)
{
    return QUERY_NUMBER(tx, -1, "SELECT COUNT(*) FROM deliveries WHERE state = 'waiting'");
}

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
    int64_t next_due_ms; /* by the clock of the transaction */
    bool has_more, has_held;
};

/* What a test allows: room of lines and workspaces, 1,000 unless it says less. */
static const char *full_line = "", *full_workspace = "";

static unsigned line_room(const void *arg, const char *workspace_id, const char *line)
{
    (void)arg, (void)workspace_id;
    return strcmp(line, full_line) == 0 ? 0 : 1000;
}

static unsigned workspace_room(const void *arg, const char *workspace_id)
{
    (void)arg;
    return strcmp(workspace_id, full_workspace) == 0 ? 0 : 1000;
}

static struct outbox_turns *turns;

static struct batch take_at(struct tx *tx, unsigned limit, int64_t now_ms)
{
    const struct outbox_wish wish = {.units = limit,
                                     .lease_ms = LEASE_MS,
                                     .longest_ms = 15000,
                                     .is_fresh = true,
                                     .line_room = line_room,
                                     .workspace_room = workspace_room};
    struct outbox_taken taken = {0};
    if (!turns)
        turns = outbox_turns_new();
    CHECK_INT(store_outbox_take(tx, turns, &wish, now_ms, &taken), OK);
    return (struct batch){taken.items, taken.count,
                          taken.next_due_ms < 0 ? 0 : now_ms + taken.next_due_ms, taken.has_more,
                          taken.has_held};
}

/* As when the second between two looks at the leases has passed. */
static void forget_turns(void)
{
    outbox_turns_free(TAKE(turns));
}

static struct batch take(struct tx *tx, unsigned limit)
{
    return take_at(tx, limit, tx->now_ms);
}

/* retry_ms: from now; 0: settled. */
static void settle(struct tx *tx, const struct outbox_item *item, int status, int64_t retry_ms)
{
    struct outbox_result result = {.id = item->id,
                                   .attempt = item->attempt,
                                   .status = status,
                                   .latency_ms = 12,
                                   .is_delivered = status == 200};
    if (retry_ms)
        result.retry_at_us = clock_now_us() + retry_ms * 1000;
    CHECK_INT(store_outbox_settle(tx, tx->now_ms, &result, 1), OK);
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
    CHECK(batch.has_more); /* the other one */
    settle(tx, &batch.items[0], 500, 1000);
    batch = take(tx, 10);
    CHECK_INT(batch.n, 1);
    settle(tx, &batch.items[0], 200, 0);
    batch = take(tx, 10);
    CHECK_INT(batch.n, 0);
    CHECK(batch.next_due_ms > tx->now_ms + 900 && batch.next_due_ms <= tx->now_ms + 1000);
    tx->now_ms += 1000;
    batch = take(tx, 10);
    REQUIRE(batch.n == 1);
    CHECK_INT(batch.items[0].attempt, 2);
    CHECK(batch.items[0].late_ms < 100);
    settle(tx, &batch.items[0], 0, 0);
    settle(tx, &batch.items[0], 200, 0); /* settled already: nothing changes */
    struct call call;
    REQUIRE(store_call_get(tx, fix->workspace_id, NULL, id, &call) == OK);
    CHECK_INT(call.webhooks.items[0].delivered + call.webhooks.items[0].failed, 1);
    CHECK_INT(waiting(tx), 0);
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
    forget_turns();
    tx->now_ms += LEASE_MS - 1;
    CHECK_INT(take(tx, 10).n, 0);
    forget_turns();
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
    CHECK_INT(waiting(tx), 2);
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

/* Turns. */

/* `n` deliveries of one event, due now, on a line of a workspace. */
static void crowd(struct tx *tx, const char *workspace_id, const char *line, int n)
{
    EXEC(tx, "INSERT INTO events (id, workspace_id, call_id, type, created_ms, body)"
             " VALUES ('evt_crowd', '', '', 'call.ended', 1, '{}') ON CONFLICT (id) DO NOTHING");
    EXEC(tx,
         "INSERT INTO deliveries (event_id, workspace_id, webhook_id, call_id, position, url, line,"
         " body_bytes, secret, state, attempts, due_ms, was_due_ms, leased_by, status, error,"
         " latency_ms, created_ms, attempted_ms)"
         " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
         " SELECT 'evt_crowd', ?, '', '', -1, 'http://x/', ?, 2, '', 'waiting', 0, ?, 0, '', 0, '',"
         " 0, 1, 0 FROM n",
         NUMBER(n), TEXT(workspace_id), TEXT(line), NUMBER(tx->now_ms));
}

static size_t of_workspace(const struct batch *batch, const char *workspace_id)
{
    size_t n = 0;
    for (size_t i = 0; i < batch->n; i++)
        n += strcmp(batch->items[i].workspace_id, workspace_id) == 0;
    return n;
}

static size_t of_line(const struct batch *batch, const char *line)
{
    size_t n = 0;
    for (size_t i = 0; i < batch->n; i++)
        n += strcmp(batch->items[i].line, line) == 0;
    return n;
}

STORE_TEST(a_crowd_of_one_workspace_costs_others_one_turn)
{
    struct tx *tx = fix_write(fix);
    for (int i = 0; i < 4; i++)
        crowd(tx, "usr_hog", arena_printf(fix->arena, "http://dead-%d", i), 1000);
    crowd(tx, "usr_a", "http://a", 5);
    crowd(tx, "usr_b", "http://b", 40);
    crowd(tx, "usr_z", "http://z", 1);
    struct batch batch = take(tx, 64);
    CHECK_INT(batch.n, 64);
    CHECK_INT(of_workspace(&batch, "usr_a"), 5);
    CHECK_INT(of_workspace(&batch, "usr_z"), 1);
    CHECK(of_workspace(&batch, "usr_b") >= 16);
    CHECK(of_workspace(&batch, "usr_hog") >= 16);
    for (int i = 0; i < 4; i++) /* its lines share its part */
        CHECK(of_line(&batch, arena_printf(fix->arena, "http://dead-%d", i)) >= 4);
    CHECK(batch.has_more);
    crowd(tx, "usr_c", "http://c", 3);
    batch = take(tx, 64);
    CHECK_INT(of_workspace(&batch, "usr_c"), 3);
    CHECK_INT(of_workspace(&batch, "usr_hog") + of_workspace(&batch, "usr_b"), 61);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(less_room_than_workspaces_goes_round)
{
    enum { WORKSPACES = 50 };
    struct tx *tx = fix_write(fix);
    size_t had[WORKSPACES] = {0};
    for (int i = 0; i < WORKSPACES; i++)
        crowd(tx, arena_printf(fix->arena, "usr_%02d", i), "http://x", 10);
    for (int i = 0; i < WORKSPACES; i++) {
        struct batch batch = take(tx, 3);
        CHECK_INT(batch.n, 3);
        for (size_t j = 0; j < batch.n; j++)
            had[atoi(batch.items[j].workspace_id + 4)]++;
    }
    for (int i = 0; i < WORKSPACES; i++)
        CHECK(had[i] >= 2 && had[i] <= 4);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(a_full_line_hides_nothing_behind_it)
{
    struct tx *tx = fix_write(fix);
    crowd(tx, "usr_a", "http://dead", 2000);
    crowd(tx, "usr_a", "http://fine", 2);
    crowd(tx, "usr_full", "http://any", 2000);
    full_line = "http://dead";
    full_workspace = "usr_full";
    struct batch batch = take(tx, 64);
    full_line = full_workspace = "";
    CHECK_INT(batch.n, 2);
    CHECK_INT(of_line(&batch, "http://fine"), 2);
    CHECK(batch.has_held && !batch.has_more);
    CHECK_INT(take(tx, 64).n, 64);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(every_line_of_many_has_its_turn)
{
    enum { LINES = 300, TAKES = 60 };
    struct tx *tx = fix_write(fix);
    size_t taken = 0;
    for (int i = 0; i < LINES; i++)
        crowd(tx, "usr_many", arena_printf(fix->arena, "http://%03d", i), 2);
    crowd(tx, "usr_hog", "http://x", 5000);
    for (int i = 0; i < LINES; i++)
        crowd(tx, arena_printf(fix->arena, "usr_o%03d", i), "http://x", 1);
    for (int i = 0; i < TAKES && taken < 3 * LINES; i++) {
        struct batch batch = take(tx, 64);
        taken += batch.n - of_workspace(&batch, "usr_hog");
    }
    CHECK_INT(taken, 3 * LINES);
    CHECK_INT(fix_commit(tx), OK);
}

/* Every due row is found however takes, rounds and wake-ups fall, and a round over it all ends. */
STORE_TEST(all_that_is_due_is_taken_once)
{
    struct tx *tx = fix_write(fix);
    int added = 0, taken = 0;
    for (int i = 0; i < 200; i++) {
        int more = i < 40 ? 1 + i % 7 * 9 : 0;
        for (int j = 0; j < more; j++, added++)
            crowd(tx, arena_printf(fix->arena, "usr_%d", (i * 7 + j) % 97),
                  arena_printf(fix->arena, "http://%d", j % 11), 1);
        struct batch batch = take(tx, 1 + (unsigned)i % 50);
        taken += (int)batch.n;
        if (i >= 40 && taken == added && !batch.has_more)
            break;
    }
    CHECK_INT(taken, added);
    CHECK_INT(take(tx, 500).n, 0);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(long_bodies_count_for_more)
{
    struct tx *tx = fix_write(fix);
    crowd(tx, "usr_a", "http://a", 10);
    EXEC(tx, "UPDATE deliveries SET body_bytes = ?", NUMBER(30 * OUTBOX_UNIT_BYTES));
    CHECK_INT(take(tx, 64).n, 2); /* 31 units each */
    CHECK_INT(take(tx, 8).n, 1);  /* one, however long it is */
    CHECK_INT(fix_commit(tx), OK);
}

/* What does not read. */

static int64_t count_of(struct tx *tx, const char *state)
{
    return QUERY_NUMBER(tx, -1, "SELECT COUNT(*) FROM deliveries WHERE state = ?", TEXT(state));
}

STORE_TEST(what_does_not_read_is_set_aside_alone)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    struct webhook sealed = subscribe(fix, tx, all, 1), broken = subscribe(fix, tx, all, 1);
    subscribe(fix, tx, all, 1);
    const char *id = fix_call(fix, tx, 6000);
    CHECK_INT(store_call_started(tx, id), OK);
    EXEC(tx,
         "UPDATE webhooks SET settings = replace(settings, '\"secret\":\"', '\"secret\":\"x')"
         " WHERE id = ?",
         TEXT(sealed.id));
    EXEC(tx, "UPDATE webhooks SET settings = '{\"url\":' WHERE id = ?", TEXT(broken.id));
    EXEC(tx, "UPDATE deliveries SET secret = 'x' WHERE position >= 0");
    crowd(tx, fix->workspace_id, "http://gone", 1);
    EXEC(tx, "UPDATE deliveries SET event_id = 'evt_gone' WHERE line = 'http://gone'");
    struct batch batch = take(tx, 20);
    CHECK_INT(batch.n, 2); /* the third subscription, the agent */
    CHECK_INT(count_of(tx, "failed"), 4);
    struct call call;
    REQUIRE(store_call_get(tx, fix->workspace_id, NULL, id, &call) == OK);
    CHECK_INT(call.webhooks.items[0].failed, 1);
    CHECK_INT(fix_commit(tx), OK);
}

/* Subscriptions that go while their events are under way. */

STORE_TEST(what_a_disabled_subscription_left_is_dropped_when_taken)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    struct webhook webhook = subscribe(fix, tx, all, 1);
    crowd(tx, fix->workspace_id, webhook.id, 1200);
    EXEC(tx, "UPDATE deliveries SET webhook_id = ?, call_id = 'c'", TEXT(webhook.id));
    webhook.is_enabled = false;
    CHECK_INT(store_webhook_update(tx, &webhook), OK);
    CHECK_INT(count_of(tx, "dropped"), 500);
    struct delivery_list log;
    REQUIRE(store_delivery_list(tx, fix->workspace_id, webhook.id, 100, NULL, &log) == OK);
    for (size_t i = 0; i < log.count; i++)
        CHECK_INT(log.items[i].state, DELIVERY_DROPPED); /* also those that say so later */
    CHECK_INT(take(tx, 300).n, 0);
    CHECK_INT(count_of(tx, "dropped"), 800);
    webhook.is_enabled = true;
    CHECK_INT(store_webhook_update(tx, &webhook), OK);
    CHECK_INT(take(tx, 300).n, 0); /* enabled again: what was dropped stays so */
    unsigned n;
    CHECK_INT(store_outbox_drop(tx, webhook.id, 1000, &n), OK);
    CHECK_INT(n, 100);
    const char *id = fix_call(fix, tx, 6000);
    CHECK_INT(store_call_started(tx, id), OK);
    CHECK_INT(take(tx, 300).n, 3);
    CHECK_INT(fix_commit(tx), OK);
}

/* The event's transaction saw it enabled; it was disabled, and that committed, before the event's
 * transaction did. */
TEST(a_subscription_disabled_beside_an_event_gets_no_more)
{
    struct fix fix = {0};
    fix_begin(&fix, true);
    fix_people(&fix);
    struct tx *tx = fix_write(&fix);
    struct webhook webhook = subscribe(&fix, tx, all, 1);
    const char *id = fix_call(&fix, tx, 6000);
    CHECK_INT(fix_commit(tx), OK);
    struct fix other = fix;
    other.store = fix_open(&fix, "node-b", "-b");
    tx = fix_write(&fix);
    CHECK_INT(store_call_started(tx, id), OK);
    struct tx *beside = fix_write(&other);
    webhook.is_enabled = false;
    CHECK_INT(store_webhook_update(beside, &webhook), OK);
    CHECK_INT(fix_commit(beside), OK);
    CHECK_INT(fix_commit(tx), OK);
    tx = fix_write(&fix);
    struct batch batch = take(tx, 10);
    CHECK_INT(batch.n, 2); /* agent and call */
    CHECK_INT(count_of(tx, "dropped"), 1);
    CHECK_INT(fix_commit(tx), OK);
    store_close(other.store);
    fix_end(&fix);
}

/* Ceilings. */

STORE_TEST(the_oldest_beyond_the_ceiling_are_given_up)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    const char *id = fix_call(fix, tx, 6000);
    CHECK_INT(store_call_started(tx, id), OK); /* two, the oldest */
    crowd(tx, fix->workspace_id, "http://x", 100);
    crowd(tx, "usr_other", "http://x", 90);
    struct outbox_excess excess;
    REQUIRE(store_outbox_excess(tx, 90, 1000, &excess) == OK);
    CHECK_INT(excess.waiting, 192);
    REQUIRE(excess.count == 12);
    unsigned n = 0;
    CHECK_INT(store_outbox_give_up(tx, excess.ids, excess.count, "too many", &n), OK);
    CHECK_INT(n, 12);
    CHECK_INT(count_of(tx, "failed"), 12);
    struct call call;
    REQUIRE(store_call_get(tx, fix->workspace_id, NULL, id, &call) == OK);
    CHECK_INT(call.webhooks.items[0].failed, 1);
    CHECK_INT(store_outbox_excess(tx, 90, 1000, &excess), OK);
    CHECK_INT(excess.count, 0);
    CHECK_INT(fix_commit(tx), OK);
}

/* Clocks. */

STORE_TEST(the_outbox_follows_elapsed_time)
{
    struct outbox_clock clock = {0}, other = {0};
    struct tx *tx = fix_write(fix);
    int64_t began_ms = store_outbox_now(tx, &clock), before_ms = tx->now_ms;
    CHECK_INT(began_ms, before_ms);
    CHECK_INT(store_outbox_now(tx, &other), before_ms);
    static const int64_t steps_ms[] = {3600000, -7200000, 100, 3600000, -2000};
    for (size_t i = 0; i < ARRAY_LEN(steps_ms); i++) {
        tx->now_ms += steps_ms[i];
        int64_t now_ms = store_outbox_now(tx, &clock);
        CHECK(llabs(now_ms - began_ms) < 1000);
        CHECK_INT(store_outbox_now(tx, &other), now_ms); /* the other node follows */
    }
    struct outbox_clock late = {0}; /* and one that starts now */
    CHECK(llabs(store_outbox_now(tx, &late) - began_ms) < 1000);
    CHECK_INT(fix_commit(tx), OK);
}

/* Set while nobody looked: no pause becomes longer than the longest, no lease hangs. */
STORE_TEST(a_clock_set_back_between_two_runs_delays_little)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    const char *id = fix_call(fix, tx, 6000);
    CHECK_INT(store_call_started(tx, id), OK);
    crowd(tx, "usr_a", "http://fresh", 1);
    struct batch batch = take(tx, 2);
    settle(tx, &batch.items[0], 500, 5000);
    CHECK_INT(store_node_start(tx, ""), OK);
    forget_turns();
    int64_t now_ms = tx->now_ms - 3600000;
    batch = take_at(tx, 10, now_ms);
    REQUIRE(batch.n == 2); /* never tried: due at once */
    for (size_t i = 0; i < batch.n; i++)
        settle(tx, &batch.items[i], 200, 0);
    CHECK_INT(take_at(tx, 10, now_ms + 14000).n, 0);
    batch = take_at(tx, 10, now_ms + 15000);
    REQUIRE(batch.n == 1);
    CHECK_INT(batch.items[0].attempt, 2);
    CHECK_INT(fix_commit(tx), OK);
}
