/* What is done beside delivery. */
#include "event/upkeep.h"

#include <string.h>

#include "base/clock.h"
#include "base/loop.h"
#include "model/webhook.h"
#include "store/tx.h"
#include "store/webhook.h"
#include "test.h"
#include "unit/store/fixture.h"

enum {
    WAITING = 1200, /* more than are dropped with the subscription, and in one job after it */
    SETTLED = 2000, /* as many as expire in two jobs */
    MOST = 100,
    EXCESS = 600,           /* given up in three jobs */
    SOON_US = 20 * 1000000, /* far less than the minute between two looks */
};

static void on_idle(void *arg)
{
    loop_stop(arg);
}

static struct webhook subscribe(struct fix *fix, struct tx *tx)
{
    static const char *all[] = {"*"};
    struct webhook webhook = {.user_id = fix->workspace_id,
                              .url = "https://example.com/all",
                              .events = {all, 1},
                              .is_enabled = true,
                              .secret = "whsec_of_the_subscription"};
    CHECK_INT(store_webhook_insert(tx, &webhook), OK);
    return webhook;
}

/* So many deliveries of one subscription, long before they are due. */
static void crowd(struct tx *tx, const struct webhook *webhook, int count)
{
    EXEC(tx,
         "INSERT INTO events (id, workspace_id, call_id, type, created_ms, body)"
         " VALUES ('evt_crowd', '', '', 'call.ended', ?, '{}') ON CONFLICT (id) DO NOTHING",
         NUMBER(tx->now_ms)); /* older ones would be removed */
    EXEC(tx,
         "INSERT INTO deliveries (event_id, workspace_id, webhook_id, call_id, position, url, line,"
         " body_bytes, secret, state, attempts, due_ms, was_due_ms, leased_by, status, error,"
         " latency_ms, created_ms, attempted_ms)"
         " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
         " SELECT 'evt_crowd', ?, ?, 'c', -1, 'http://x/', ?, 2, '', 'waiting', 0, ?, 0, '', 0, '',"
         " 0, ?, 0 FROM n",
         NUMBER(count), TEXT(webhook->user_id), TEXT(webhook->id), TEXT(webhook->id),
         NUMBER(tx->now_ms + 3600000), NUMBER(tx->now_ms));
}

static int64_t waiting_of(struct fix *fix, const char *webhook_id)
{
    struct tx *tx = fix_read(fix);
    int64_t count = QUERY_NUMBER(
        tx, -1, "SELECT COUNT(*) FROM deliveries WHERE state = 'waiting' AND webhook_id = ?",
        TEXT(webhook_id));
    fix_rollback(tx);
    return count;
}

STORE_TEST(all_that_waits_for_a_disabled_subscription_is_dropped)
{
    fix_people(fix);
    AUTO(loop) loop = loop_new("upkeep");
    struct tx *tx = fix_write(fix);
    struct webhook gone = subscribe(fix, tx), other = subscribe(fix, tx);
    crowd(tx, &gone, WAITING);
    crowd(tx, &other, WAITING);
    gone.is_enabled = false;
    CHECK_INT(store_webhook_update(tx, &gone), OK);
    CHECK_INT(fix_commit(tx), OK);
    CHECK(waiting_of(fix, gone.id) > 500);
    struct upkeep *upkeep = upkeep_new(&(struct upkeep_config){
        .loop = loop, .store = fix->store, .keep_ms = 1000000, .on_idle = on_idle, .arg = loop});
    upkeep_drop(upkeep, gone.id);
    CHECK(!upkeep_is_idle(upkeep));
    loop_run(loop);
    CHECK(upkeep_is_idle(upkeep));
    CHECK_INT(waiting_of(fix, gone.id), 0);
    CHECK_INT(waiting_of(fix, other.id), WAITING);
    upkeep_free(upkeep);
}

static int64_t count_in(struct fix *fix, const char *state)
{
    struct tx *tx = fix_read(fix);
    int64_t count =
        QUERY_NUMBER(tx, -1, "SELECT COUNT(*) FROM deliveries WHERE state = ?", TEXT(state));
    fix_rollback(tx);
    return count;
}

STORE_TEST(settled_deliveries_expire_in_small_jobs_one_after_the_other)
{
    fix_people(fix);
    AUTO(loop) loop = loop_new("upkeep");
    struct tx *tx = fix_write(fix);
    struct webhook webhook = subscribe(fix, tx);
    crowd(tx, &webhook, SETTLED);
    EXEC(tx, "UPDATE events SET created_ms = 1");
    EXEC(tx, "UPDATE deliveries SET state = 'delivered', created_ms = 1");
    CHECK_INT(fix_commit(tx), OK);
    struct upkeep *upkeep = upkeep_new(&(struct upkeep_config){
        .loop = loop, .store = fix->store, .keep_ms = 1000000, .on_idle = on_idle, .arg = loop});
    struct fix_wait wait = {clock_now_us() + SOON_US};
    while (count_in(fix, "delivered") > 0 && fix_wait(&wait))
        loop_run(loop);
    CHECK_INT(count_in(fix, "delivered"), 0);
    CHECK(clock_now_us() < wait.until_us);
    upkeep_free(upkeep);
}

STORE_TEST(what_is_over_the_ceiling_is_given_up_by_and_by)
{
    fix_people(fix);
    AUTO(loop) loop = loop_new("upkeep");
    struct tx *tx = fix_write(fix);
    struct webhook webhook = subscribe(fix, tx);
    crowd(tx, &webhook, MOST + EXCESS);
    CHECK_INT(fix_commit(tx), OK);
    struct upkeep *upkeep = upkeep_new(&(struct upkeep_config){.loop = loop,
                                                               .store = fix->store,
                                                               .keep_ms = INT64_C(86400000),
                                                               .most_waiting = MOST,
                                                               .on_idle = on_idle,
                                                               .arg = loop});
    struct fix_wait wait = {clock_now_us() + SOON_US};
    while (waiting_of(fix, webhook.id) > MOST && fix_wait(&wait))
        loop_run(loop);
    CHECK_INT(count_in(fix, "failed"), EXCESS);
    CHECK(clock_now_us() < wait.until_us);
    CHECK_INT(waiting_of(fix, webhook.id), MOST);
    upkeep_free(upkeep);
}
