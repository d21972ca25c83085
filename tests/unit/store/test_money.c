/* Money: exact, shared, never below zero, never lost, whatever the order of joins and ends. */
#include <string.h>

#include "base/attr.h"
#include "store/agent.h"
#include "store/call.h"
#include "store/funds.h"
#include "store/money.h"
#include "store/node.h"
#include "store/tx.h"
#include "store/workspace.h"
#include "unit/store/call_fixture.h"
#include "unit/store/fixture.h"

TEST(cost_is_rounded_half_up)
{
    static const struct {
        int64_t rate, seconds, cost;
    } rows[] = {
        {600, 1, 10}, {600, 0, 0},      {1, 29, 0},
        {1, 30, 1},   {1, 89, 1},       {1, 90, 2},
        {700, 1, 12}, {1001, 61, 1018}, {123456, 86400, 177776640},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        CHECK_INT(money_cost_usd4(rows[i].rate, rows[i].seconds), rows[i].cost);
    CHECK_INT(money_seconds_up(0), 0);
    CHECK_INT(money_seconds_up(1), 1);
    CHECK_INT(money_seconds_up(1000), 1);
    CHECK_INT(money_seconds_up(1001), 2);
    CHECK_INT(money_seconds_up(-5), 0);
}

TEST(what_is_left_is_computed)
{
    struct money_use uses[] = {{.rate_usd4 = 600}, {.rate_usd4 = 1200}}; /* 10, 20 a second */
    CHECK_INT(money_left_ms(100, uses, 0), MONEY_NEVER_MS);
    CHECK_INT(money_left_ms(100, uses, 1), 10000);
    uses[0].used_ms = 3000;
    CHECK_INT(money_left_ms(100, uses, 1), 7000);
    uses[0].taken_usd4 = 20; /* the balance has paid for two seconds already */
    CHECK_INT(money_left_ms(80, uses, 1), 7000);
    CHECK_INT(money_left_ms(80, uses, 2), 7000 / 3);
    uses[0].used_ms = 30000;
    CHECK_INT(money_left_ms(80, uses, 1), -20000);
    uses[0] = (struct money_use){.rate_usd4 = 7, .used_ms = 1};
    CHECK_INT(money_left_ms(0, uses, 1), -1);
    uses[0] = (struct money_use){.rate_usd4 = 1};
    CHECK_INT(money_left_ms(INT64_C(1000000000000), uses, 1), MONEY_NEVER_MS);
}

/* `workspace credit` takes up to 999,999,999,999.9999 USD, and more than once. */
TEST(the_greatest_balance_lasts)
{
    enum { YEAR_S = 365 * 24 * 3600 };
    const struct money_use use = {.rate_usd4 = 10000 * 1000}; /* 1,000 USD a minute */
    static const int64_t balances_usd4[] = {INT64_C(153722867280913), INT64_C(9999999999999999),
                                            INT64_MAX};
    for (size_t i = 0; i < ARRAY_LEN(balances_usd4); i++)
        CHECK(money_left_ms(balances_usd4[i], &use, 1) > 10 * INT64_C(1000) * YEAR_S);
}

static int64_t balance_now(struct fix *fix, struct tx *tx)
{
    struct workspace workspace = {0};
    CHECK_INT(store_workspace_get(tx, fix->workspace_id, &workspace), OK);
    return workspace.balance_usd4;
}

static void set_balance(struct fix *fix, struct tx *tx, int64_t usd4)
{
    EXEC(tx, "UPDATE workspaces SET balance_usd4 = ? WHERE id = ?", NUMBER(usd4),
         TEXT(fix->workspace_id));
}

/* The usual beginning: people, a transaction, so much in the workspace. */
static struct tx *begin_with(struct fix *fix, int64_t usd4)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    set_balance(fix, tx, usd4);
    return tx;
}

/* The transaction's moment, by both clocks. */
static void go_to(struct tx *tx, int64_t ms)
{
    tx->begun_us += (ms - tx->now_ms) * 1000;
    tx->now_ms = ms;
}

static int64_t us_at(const struct tx *tx, int64_t ms)
{
    return tx->begun_us + (ms - tx->now_ms) * 1000;
}

/* What is reckoned in microseconds of our own clock, as milliseconds of the test's. */
static int64_t ms_of(const struct tx *tx, int64_t us)
{
    return us == MONEY_NEVER_US ? MONEY_NEVER_MS : tx->now_ms + (us - tx->begun_us) / 1000;
}

static int64_t joined_at(struct tx *tx, const char *id)
{
    return QUERY_NUMBER(tx, 0, "SELECT user_joined_ms FROM calls WHERE id = ?", TEXT(id));
}

static int64_t join(struct tx *tx, const char *id, int64_t at_ms)
{
    go_to(tx, MAX(tx->now_ms, at_ms));
    struct call_funds funds = {.at_us = us_at(tx, at_ms), .embed_limit_usd4 = 1000000};
    CHECK_INT(store_call_user_joined(tx, id, "caller", at_ms, &funds), OK);
    return ms_of(tx, funds.exhausted_us);
}

static int64_t checkpoint(struct tx *tx, const char *id, int64_t until_ms)
{
    go_to(tx, MAX(tx->now_ms, until_ms));
    int64_t lasted_ms = until_ms - joined_at(tx, id);
    struct call_checkpoint point = {.at_us = us_at(tx, until_ms),
                                    .lasted_ms = lasted_ms,
                                    .billed_ms = lasted_ms,
                                    .embed_limit_usd4 = 1000000};
    strcpy(point.call_id, id);
    CHECK_INT(store_call_checkpoint(tx, &point, 1, false), OK);
    CHECK(!point.is_fenced && !point.is_passed);
    return ms_of(tx, point.exhausted_us);
}

static struct call end_at(struct tx *tx, const char *id, int64_t at_ms, bool is_limit)
{
    struct call call = {0};
    struct call_end end = {.reason = is_limit ? END_MAX_DURATION : END_API,
                           .ended_wall_ms = at_ms,
                           .billed_ms = at_ms - joined_at(tx, id),
                           .is_limit = is_limit};
    go_to(tx, MAX(tx->now_ms, at_ms));
    CHECK_INT(store_call_end(tx, id, &end, &call), OK);
    return call;
}

/* Two calls that share 20 cents, 1 cent a second each: both are out after 10 s. */
STORE_TEST(a_call_that_is_asked_late_ends_when_the_money_was_out)
{
    struct tx *tx = begin_with(fix, 2000);
    int64_t t0 = tx->now_ms;
    const char *first = fix_call(fix, tx, 6000), *second = fix_call(fix, tx, 6000);
    CHECK_INT(join(tx, first, t0), t0 + 20000);
    CHECK_INT(join(tx, second, t0), t0 + 10000);
    CHECK_INT(checkpoint(tx, first, t0 + 4000), t0 + 10000);
    CHECK_INT(checkpoint(tx, second, t0 + 4000), t0 + 10000);
    CHECK_INT(checkpoint(tx, first, t0 + 10200), t0 + 10000);
    CHECK_INT(end_at(tx, first, t0 + 10000, true).cost_usd4, 1000);
    CHECK_INT(checkpoint(tx, second, t0 + 10700), t0 + 10000);
    struct call call = end_at(tx, second, t0 + 10000, true);
    CHECK_INT(call.cost_usd4, 1000);
    CHECK_INT(call.duration_s, 10);
    CHECK_INT(balance_now(fix, tx), 0);
    CHECK_INT(fix_commit(tx), OK);
}

/* What a call has paid for it was given, whatever another one owes. */
STORE_TEST(a_call_is_never_out_before_what_it_has_paid_for)
{
    struct tx *tx = begin_with(fix, 1000);
    int64_t t0 = tx->now_ms;
    const char *payer = fix_call(fix, tx, 6000), *debtor = fix_call(fix, tx, 6000);
    join(tx, payer, t0);
    join(tx, debtor, t0);
    CHECK_INT(checkpoint(tx, payer, t0 + 8000), t0 + 8000);
    CHECK_INT(checkpoint(tx, debtor, t0 + 8000), t0 + 5000);
    CHECK_INT(end_at(tx, payer, t0 + 8000, true).cost_usd4, 800);
    CHECK_INT(end_at(tx, debtor, t0 + 5000, true).cost_usd4, 200);
    CHECK_INT(balance_now(fix, tx), 0);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(balance_runs_out_at_the_computed_moment)
{
    struct tx *tx = begin_with(fix, 100);
    const char *id = fix_call(fix, tx, 600);
    int64_t t0 = tx->now_ms;
    CHECK_INT(join(tx, id, t0), t0 + 10000);
    CHECK_INT(checkpoint(tx, id, t0 + 4321), t0 + 10000);
    CHECK_INT(balance_now(fix, tx), 60);
    CHECK_INT(checkpoint(tx, id, t0 + 9999), t0 + 10000);
    struct call call = end_at(tx, id, t0 + 10000, true);
    CHECK_INT(call.duration_s, 10);
    CHECK_INT(call.cost_usd4, 100);
    CHECK_INT(balance_now(fix, tx), 0);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(shared_balance_runs_out_for_all_at_once)
{
    struct tx *tx = begin_with(fix, 100);
    const char *a = fix_call(fix, tx, 600), *b = fix_call(fix, tx, 1200);
    int64_t t0 = tx->now_ms;
    CHECK_INT(join(tx, a, t0), t0 + 10000);
    /* After 4 s 60 are left, burning at 30 a second: 2 s more. */
    CHECK_INT(join(tx, b, t0 + 4000), t0 + 6000);
    CHECK_INT(checkpoint(tx, a, t0 + 4500), t0 + 6000);
    CHECK_INT(checkpoint(tx, b, t0 + 5200), t0 + 6000);
    CHECK_INT(store_workspace_credit(tx, fix->workspace_id, 30, NULL), OK);
    CHECK_INT(checkpoint(tx, a, t0 + 5500), t0 + 7000);
    struct call first = end_at(tx, a, t0 + 7000, true), second = end_at(tx, b, t0 + 7000, true);
    CHECK_INT(first.duration_s, 7);
    CHECK_INT(first.cost_usd4, 70);
    CHECK_INT(second.duration_s, 3);
    CHECK_INT(second.cost_usd4, 60);
    CHECK_INT(balance_now(fix, tx), 0);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(balance_never_falls_below_zero)
{
    struct tx *tx = begin_with(fix, 25);
    const char *a = fix_call(fix, tx, 600), *b = fix_call(fix, tx, 600);
    int64_t t0 = tx->now_ms;
    join(tx, a, t0);
    join(tx, b, t0);
    struct call first = end_at(tx, a, t0 + 60000, false), second = end_at(tx, b, t0 + 61000, false);
    CHECK_INT(first.cost_usd4, 25);
    CHECK_INT(second.cost_usd4, 0);
    CHECK_INT(balance_now(fix, tx), 0);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(call_that_leaves_frees_its_share)
{
    struct tx *tx = begin_with(fix, 1000);
    const char *a = fix_call(fix, tx, 600), *b = fix_call(fix, tx, 600);
    int64_t t0 = tx->now_ms;
    join(tx, a, t0);
    CHECK_INT(join(tx, b, t0), t0 + 50000);
    end_at(tx, b, t0 + 10000, false); /* took 100; 900 for the other one from its begin */
    CHECK_INT(checkpoint(tx, a, t0 + 11000), t0 + 90000);
    CHECK_INT(fix_commit(tx), OK);
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* Many calls of odd rates in random order: what left the balance is what the calls cost. */
STORE_TEST(ledger_adds_up)
{
    enum { CALLS = 24, STEPS = 400 };
    struct tx *tx = begin_with(fix, 10000000);
    const char *ids[CALLS];
    int state[CALLS] = {0};
    uint32_t seed = 7;
    int64_t now = tx->now_ms;
    for (int i = 0; i < CALLS; i++)
        ids[i] = fix_call(fix, tx, 301 + 77 * i);
    for (int step = 0; step < STEPS; step++) {
        now += next_random(&seed) % 3000;
        go_to(tx, now);
        int i = (int)(next_random(&seed) % CALLS);
        int64_t late = (int64_t)(next_random(&seed) % 200);
        if (state[i] == 0 && ++state[i])
            join(tx, ids[i], now - late);
        else if (state[i] == 1 && next_random(&seed) % 8)
            checkpoint(tx, ids[i], now - late);
        else if (state[i] == 1 && ++state[i])
            end_at(tx, ids[i], now - late, false);
    }
    for (int i = 0; i < CALLS; i++)
        if (state[i] == 1)
            end_at(tx, ids[i], now, false);
    int64_t costs = QUERY_NUMBER(tx, -1, "SELECT SUM(cost_usd4) FROM calls");
    CHECK(costs > 0);
    CHECK_INT(balance_now(fix, tx), 10000000 - costs);
    CHECK_INT(QUERY_NUMBER(tx, -1,
                           "SELECT COUNT(*) FROM calls WHERE cost_usd4 <>"
                           " (rate_usd4 * duration_s + 30) / 60"),
              0);
    CHECK_INT(fix_commit(tx), OK);
}

/* Clocks that are set. */

STORE_TEST(a_step_of_the_database_s_clock_changes_no_bill)
{
    static const int64_t steps_ms[] = {3600000, -3600000};
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    for (size_t i = 0; i < ARRAY_LEN(steps_ms); i++) {
        set_balance(fix, tx, 400);
        const char *a = fix_call(fix, tx, 600), *b = fix_call(fix, tx, 600);
        int64_t t0 = tx->now_ms;
        join(tx, a, t0);
        CHECK_INT(join(tx, b, t0), t0 + 20000);
        CHECK_INT(checkpoint(tx, b, t0 + 4000), t0 + 20000);
        CHECK_INT(checkpoint(tx, a, t0 + 4000), t0 + 20000);
        tx->now_ms += steps_ms[i]; /* begun_us, our own clock, goes on as before */
        struct call_checkpoint point = {
            .at_us = tx->begun_us, .lasted_ms = 4000, .billed_ms = 4000};
        strcpy(point.call_id, a);
        CHECK_INT(store_call_checkpoint(tx, &point, 1, false), OK);
        /* What is known of b is older than the step: at most the longest pause is added. */
        int64_t left_ms = (point.exhausted_us - tx->begun_us) / 1000;
        CHECK(left_ms == 16000 || left_ms == 16000 - 10000 / 2);
        strcpy(point.call_id, b);
        CHECK_INT(store_call_checkpoint(tx, &point, 1, false), OK);
        CHECK_INT((point.exhausted_us - tx->begun_us) / 1000, 16000);
        struct call call;
        REQUIRE(store_call_get(tx, fix->workspace_id, NULL, a, &call) == OK);
        CHECK_INT(call.duration_s, 4); /* so far */
        struct call_end end = {.reason = END_API, .ended_wall_ms = t0 + 10000, .billed_ms = 10000};
        REQUIRE(store_call_end(tx, a, &end, &call) == OK);
        CHECK_INT(call.duration_s, 10);
        CHECK_INT(call.cost_usd4, 100);
        REQUIRE(store_call_end(tx, b, &end, &call) == OK);
        CHECK_INT(balance_now(fix, tx), 200);
    }
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(recovery_bills_what_was_durable_whatever_the_clocks_say)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    CHECK_INT(store_node_start(tx, "http://a"), OK);
    const char *id = fix_call(fix, tx, 600);
    int64_t t0 = tx->now_ms;
    CHECK_INT(store_call_started(tx, id), OK);
    join(tx, id, t0 + 1000);
    checkpoint(tx, id, t0 + 6000);
    tx->now_ms += 3600000;
    CHECK_INT(store_node_start(tx, "http://a"), OK);
    unsigned n = 0;
    CHECK_INT(store_call_recover(tx, 10, false, &n), OK);
    struct call call;
    REQUIRE(store_call_get(tx, fix->workspace_id, NULL, id, &call) == OK);
    CHECK_INT(call.duration_s, 5);
    CHECK_INT(call.cost_usd4, 50);
    CHECK_INT(call.ended_wall_ms, t0 + 6000);
    CHECK_INT(fix_commit(tx), OK);
}

/* The agent that comes after its caller is the last sign of life there is. */
STORE_TEST(recovery_bills_a_caller_who_waited_for_the_agent)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    CHECK_INT(store_node_start(tx, "http://a"), OK);
    const char *id = fix_call(fix, tx, 600);
    const struct event_agent_joined engines = {"stt", "llm", "tts"};
    int64_t t0 = tx->now_ms;
    CHECK_INT(store_call_started(tx, id), OK);
    join(tx, id, t0 + 1000);
    CHECK_INT(store_call_agent_joined(tx, id, t0 + 4000, &engines), OK);
    CHECK_INT(store_node_start(tx, "http://a"), OK);
    unsigned n = 0;
    CHECK_INT(store_call_recover(tx, 10, false, &n), OK);
    struct call call;
    REQUIRE(store_call_get(tx, fix->workspace_id, NULL, id, &call) == OK);
    CHECK_INT(call.duration_s, 3);
    CHECK_INT(call.cost_usd4, 30);
    CHECK_INT(call.ended_wall_ms, t0 + 4000);
    CHECK_INT(fix_commit(tx), OK);
}

/* Rows that others hold. */

STORE_TEST(a_checkpoint_passes_a_workspace_that_is_held)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    CHECK_INT(store_node_start(tx, "http://a"), OK);
    const char *held_workspace = fix->workspace_id, *held = fix_call(fix, tx, 600);
    join(tx, held, tx->now_ms);
    fix_people_in(fix, tx);
    const char *other = fix_call(fix, tx, 600);
    join(tx, other, tx->now_ms);
    CHECK_INT(fix_commit(tx), OK);
    if (!fix->is_pg)
        return; /* one writer: nobody holds anything */
    struct fix second = *fix;
    second.store = fix_open(fix, "", "");
    REQUIRE(second.store != NULL);
    struct tx *holder = fix_write(&second);
    CHECK_INT(store_workspace_lock(holder, held_workspace), OK);
    tx = fix_write(fix);
    struct call_checkpoint points[2] = {
        {.at_us = tx->begun_us, .lasted_ms = 3000, .billed_ms = 3000},
        {.at_us = tx->begun_us, .lasted_ms = 3000, .billed_ms = 3000}};
    strcpy(points[0].call_id, held);
    strcpy(points[1].call_id, other);
    CHECK_INT(store_call_checkpoint(tx, points, 2, false), OK);
    CHECK(points[0].is_passed && !points[1].is_passed);
    CHECK_INT(fix_commit(tx), OK);
    CHECK_INT(fix_commit(holder), OK);
    tx = fix_write(fix);
    CHECK_INT(QUERY_NUMBER(tx, -1, "SELECT cost_usd4 FROM calls WHERE id = ?", TEXT(held)), 0);
    CHECK_INT(QUERY_NUMBER(tx, -1, "SELECT cost_usd4 FROM calls WHERE id = ?", TEXT(other)), 30);
    CHECK_INT(fix_commit(tx), OK);
    store_close(second.store);
}

/* Embed. */

enum { DAY = 86400000 };

static void set_day_limit(struct fix *fix, struct tx *tx, int64_t usd4)
{
    struct agent agent;
    REQUIRE(store_agent_lock(tx, fix->workspace_id, fix->agent_id, &agent) == OK);
    agent.embed.daily_spend_limit_usd4 = usd4;
    CHECK_INT(store_agent_update(tx, &agent), OK);
}

STORE_TEST(embed_spend_counts_running_calls)
{
    struct tx *tx = begin_with(fix, 1000000);
    go_to(tx, tx->now_ms / DAY * DAY + 3600000); /* far from midnight */
    const char *a = fix_embed_call(fix, tx, 600), *b = fix_embed_call(fix, tx, 600);
    int64_t t0 = tx->now_ms, spent = -1;
    join(tx, a, t0);
    join(tx, b, t0);
    end_at(tx, a, t0 + 5000, false);
    checkpoint(tx, b, t0 + 7000);
    CHECK_INT(store_embed_spent(tx, fix->agent_id, &spent), OK);
    CHECK_INT(spent, 50 + 70);
    go_to(tx, t0 + 9000);
    CHECK_INT(store_embed_spent(tx, fix->agent_id, &spent), OK);
    CHECK_INT(spent, 50 + 90);
    CHECK_INT(store_embed_spent(tx, "ua_other", &spent), OK);
    CHECK_INT(spent, 0);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(embed_calls_end_together_at_the_day_s_limit)
{
    struct tx *tx = begin_with(fix, 1000000);
    go_to(tx, tx->now_ms / DAY * DAY + 3600000);
    set_day_limit(fix, tx, 28);
    const char *a = fix_embed_call(fix, tx, 336); /* 5.6 a second */
    const char *by_api = fix_call(fix, tx, 6000);
    int64_t t0 = tx->now_ms;
    CHECK(join(tx, by_api, t0) > t0 + 60000); /* not an embed's matter */
    CHECK_INT(join(tx, a, t0), t0 + 5000);
    CHECK_INT(checkpoint(tx, a, t0 + 3000), t0 + 5000);
    set_day_limit(fix, tx, 56); /* raised while it runs */
    CHECK_INT(checkpoint(tx, a, t0 + 4000), t0 + 10000);
    const char *b = fix_embed_call(fix, tx, 336);
    CHECK_INT(join(tx, b, t0 + 4000), t0 + 7000);
    CHECK_INT(checkpoint(tx, a, t0 + 4500), t0 + 7000);
    set_day_limit(fix, tx, 42); /* lowered */
    CHECK(checkpoint(tx, a, t0 + 5000) == t0 + 5749 || checkpoint(tx, a, t0 + 5000) == t0 + 5750);
    struct call first = end_at(tx, a, t0 + 5000, true);
    CHECK_INT(first.cost_usd4, 28);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(a_new_day_has_a_new_limit)
{
    struct tx *tx = begin_with(fix, 1000000);
    set_day_limit(fix, tx, 100); /* 10 s of one call */
    int64_t midnight = (tx->now_ms / DAY + 1) * DAY;
    go_to(tx, midnight - 8000);
    const char *id = fix_embed_call(fix, tx, 600);
    CHECK_INT(join(tx, id, midnight - 8000), midnight + 10000);
    CHECK_INT(checkpoint(tx, id, midnight - 3000), midnight + 10000);
    CHECK_INT(checkpoint(tx, id, midnight + 2000), midnight + 10000);
    CHECK_INT(QUERY_NUMBER(tx, -1, "SELECT usd4 FROM embed_spend WHERE day = ?",
                           NUMBER(midnight / DAY - 1)),
              80);
    struct call call = end_at(tx, id, midnight + 10000, true);
    CHECK_INT(call.duration_s, 18);
    CHECK_INT(
        QUERY_NUMBER(tx, -1, "SELECT usd4 FROM embed_spend WHERE day = ?", NUMBER(midnight / DAY)),
        100);
    CHECK_INT(fix_commit(tx), OK);
}
