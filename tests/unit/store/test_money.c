/* Money: exact, shared, never below zero, never lost, whatever the order of joins and ends. */
#include <string.h>

#include "store/call.h"
#include "store/money.h"
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

TEST(exhaustion_is_computed)
{
    struct balance balance = {.balance_usd4 = 100, .as_of_ms = 5000};
    CHECK_INT(money_exhausted_ms(&balance), MONEY_NEVER_MS);
    balance.burn_usd4 = 600; /* 10 a second */
    CHECK_INT(money_exhausted_ms(&balance), 5000 + 10000);
    balance.owed = 30 * MONEY_SCALE;
    CHECK_INT(money_exhausted_ms(&balance), 5000 + 7000);
    balance.owed = 300 * MONEY_SCALE;
    CHECK_INT(money_exhausted_ms(&balance), 5000);
    balance = (struct balance){.balance_usd4 = INT64_C(1000000000000), .burn_usd4 = 1};
    CHECK_INT(money_exhausted_ms(&balance), MONEY_NEVER_MS);
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

static int64_t join(struct tx *tx, const char *id, int64_t at_ms)
{
    struct call_funds funds = {0};
    CHECK_INT(store_call_user_joined(tx, id, "caller", at_ms, &funds), OK);
    return funds.exhausted_wall_ms;
}

static int64_t checkpoint(struct tx *tx, const char *id, int64_t until_ms)
{
    struct call_checkpoint point = {.billed_to_wall_ms = until_ms};
    strcpy(point.call_id, id);
    tx->now_ms = until_ms;
    CHECK_INT(store_call_checkpoint(tx, &point, 1), OK);
    CHECK(!point.is_fenced);
    return point.exhausted_wall_ms;
}

static struct call end_at(struct tx *tx, const char *id, int64_t at_ms, bool is_limit)
{
    struct call call = {0};
    struct call_end end = {.reason = is_limit ? END_MAX_DURATION : END_API,
                           .ended_wall_ms = at_ms,
                           .billed_to_wall_ms = at_ms,
                           .is_limit = is_limit};
    tx->now_ms = at_ms;
    CHECK_INT(store_call_end(tx, id, &end, &call), OK);
    return call;
}

STORE_TEST(balance_runs_out_at_the_computed_moment)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    set_balance(fix, tx, 100);
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
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    set_balance(fix, tx, 100);
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
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    set_balance(fix, tx, 25);
    const char *a = fix_call(fix, tx, 600), *b = fix_call(fix, tx, 600);
    int64_t t0 = tx->now_ms;
    join(tx, a, t0);
    join(tx, b, t0);
    struct call first = end_at(tx, a, t0 + 60000, false), second = end_at(tx, b, t0 + 61000, false);
    CHECK_INT(first.cost_usd4, 25);
    CHECK_INT(second.cost_usd4, 0);
    CHECK_INT(balance_now(fix, tx), 0);
    CHECK_INT(QUERY_NUMBER(tx, -1, "SELECT burn_usd4 + owed FROM workspaces"), 0);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(call_that_leaves_frees_its_share)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    set_balance(fix, tx, 1000);
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
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    set_balance(fix, tx, 10000000);
    const char *ids[CALLS];
    int state[CALLS] = {0};
    uint32_t seed = 7;
    int64_t now = tx->now_ms;
    for (int i = 0; i < CALLS; i++)
        ids[i] = fix_call(fix, tx, 301 + 77 * i);
    for (int step = 0; step < STEPS; step++) {
        now += next_random(&seed) % 3000;
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
    CHECK_INT(QUERY_NUMBER(tx, -1, "SELECT burn_usd4 FROM workspaces"), 0);
    CHECK_INT(QUERY_NUMBER(tx, -1, "SELECT owed FROM workspaces"), 0);
    CHECK_INT(QUERY_NUMBER(tx, -1,
                           "SELECT COUNT(*) FROM calls WHERE cost_usd4 <>"
                           " (rate_usd4 * duration_s + 30) / 60"),
              0);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(embed_spend_counts_running_calls)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    EXEC(tx, "UPDATE workspaces SET balance_usd4 = 1000000");
    tx->now_ms = tx->now_ms / 86400000 * 86400000 + 3600000; /* far from midnight */
    const char *a = fix_embed_call(fix, tx, 600), *b = fix_embed_call(fix, tx, 600);
    int64_t t0 = tx->now_ms, spent = -1;
    join(tx, a, t0);
    join(tx, b, t0);
    end_at(tx, a, t0 + 5000, false);
    struct call_checkpoint point = {.billed_to_wall_ms = t0 + 7000};
    strcpy(point.call_id, b);
    tx->now_ms = t0 + 7000;
    CHECK_INT(store_call_checkpoint(tx, &point, 1), OK);
    CHECK_INT(point.embed_spent_usd4, 50 + 70);
    CHECK_INT(store_embed_spent(tx, fix->agent_id, t0 + 9000, &spent), OK);
    CHECK_INT(spent, 50 + 90);
    CHECK_INT(store_embed_spent(tx, "ua_other", t0, &spent), OK);
    CHECK_INT(spent, 0);
    CHECK_INT(fix_commit(tx), OK);
}
