/* Somebody sets the calendar clock under running calls: bills, limits and pauses follow elapsed
 * time, and the times of one call stay consistent. And spending limits, met to the second. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "fake/loop.h"
#include "store/money.h"
#include "test.h"
#include "world.h"

enum { HOUR_MS = 3600000 };

static const int64_t steps_ms[] = {HOUR_MS, -HOUR_MS};

#define EACH_STEP(step)                                                                            \
    for (const int64_t *step = steps_ms; step < steps_ms + sizeof(steps_ms) / sizeof(*steps_ms);   \
         step++)

static void check_consistent(const struct sim_row *row)
{
    CHECK_INT(money_seconds_up(row->ended_wall_ms - row->joined_wall_ms), row->duration_s);
    CHECK_INT(row->cost_usd4, money_cost_usd4(row->rate_usd4, row->duration_s));
}

TEST(a_call_costs_what_it_lasted_whatever_the_clock_does)
{
    EACH_STEP(step)
    {
        WORLD_WITH_CALL(world, call);
        struct sim_caller *caller = world_talk(&world, &call);
        REQUIRE(caller != NULL);
        world_run(4000);
        fake_step_wall(*step);
        world_run(5500); /* over a checkpoint; 10 s in all */
        sim_leave(caller);
        world_run(100);
        const struct sim_row *row = sim_store_row("c1");
        CHECK_INT(row->reason, END_USER_LEFT);
        CHECK_INT(row->duration_s, 10);
        CHECK_INT(row->cost_usd4, 100);
        check_consistent(row);
    }
}

TEST(a_time_limit_is_met_although_the_clock_is_set)
{
    EACH_STEP(step)
    {
        WORLD_WITH_CALL(world, call);
        call.start.config.call.max_duration_s = 30;
        REQUIRE(world_talk(&world, &call) != NULL);
        world_run(15000);
        fake_step_wall(*step);
        world_run(14000);
        CHECK(!sim_told("call.ended"));
        world_run(1000);
        CHECK(sim_told("call.ended max-duration"));
        CHECK_INT(sim_store_row("c1")->duration_s, 30);
        check_consistent(sim_store_row("c1"));
    }
}

TEST(a_balance_lasts_as_long_although_the_clock_is_set)
{
    EACH_STEP(step)
    {
        WORLD world;
        struct world_call call;
        world_begin(&world, 305);
        world_defaults(&call);
        REQUIRE(world_talk(&world, &call) != NULL); /* 30.5 s at 10 a second */
        world_run(9500);
        fake_step_wall(*step);
        world_run(19500);
        CHECK(!sim_told("call.ended"));
        world_run(1500);
        CHECK(sim_told("call.ended max-duration"));
        CHECK_INT(sim_store_row("c1")->duration_s, 30);
        CHECK_INT(sim_store.balance_usd4, 5);
    }
}

TEST(calls_of_before_and_after_a_step_share_a_balance)
{
    EACH_STEP(step)
    {
        WORLD world;
        struct world_call call;
        world_begin(&world, 300);
        world_defaults(&call);
        REQUIRE(world_talk(&world, &call) != NULL);
        world_run(9500); /* 100 are used */
        fake_step_wall(*step);
        REQUIRE(world_talk(&world, &call) != NULL);
        world_run(9000);
        CHECK(!sim_told("call.ended"));
        world_run(1500);
        CHECK_INT(sim_told_count("call.ended max-duration"), 2);
        CHECK_INT(sim_store_row("c1")->duration_s, 20);
        CHECK(sim_store.balance_usd4 >= 0 && sim_store.balance_usd4 <= 10);
    }
}

TEST(who_has_not_joined_has_as_long_although_the_clock_is_set)
{
    EACH_STEP(step)
    {
        WORLD_WITH_CALL(world, call);
        call.join_within_ms = 30000;
        REQUIRE(world_call(&world, &call) == OK);
        world_run(10000);
        fake_step_wall(*step);
        world_run(19000);
        CHECK(!sim_told("call.ended"));
        world_run(5000);
        CHECK(sim_told("call.ended no-user"));
    }
}

TEST(a_lost_caller_has_twenty_seconds_although_the_clock_is_set)
{
    EACH_STEP(step)
    {
        WORLD_WITH_CALL(world, call);
        struct sim_caller *caller = world_talk(&world, &call);
        REQUIRE(caller != NULL);
        world_run(7000);
        int64_t cut_ms = world_ms();
        sim_cut(caller);
        world_run(15000);
        fake_step_wall(*step);
        world_run(14000);
        CHECK(!sim_told("call.ended"));
        world_run(2000);
        CHECK(sim_told("call.ended socket-lost"));
        CHECK(sim_told_ms("call.ended") - cut_ms >= 29900);
        CHECK_INT(sim_store_row("c1")->duration_s, 8);
    }
}

TEST(a_line_is_said_although_the_clock_is_set)
{
    EACH_STEP(step)
    {
        WORLD_WITH_CALL(world, call);
        REQUIRE(world_talk(&world, &call) != NULL);
        fake_step_wall(*step);
        CHECK_INT(world_say(&world, "c1", "Still here."), OK);
        world_run(3000);
        CHECK(sim_told("transcript.assistant Still here."));
        CHECK_INT(world_end_call(&world, "c1"), OK);
        check_consistent(sim_store_row("c1"));
    }
}

/* What an agent's embed calls may spend on a day. */

static void embed(struct world_call *call)
{
    world_defaults(call);
    call->source = CALL_SOURCE_EMBED;
}

TEST(an_embed_limit_is_met_to_the_second)
{
    WORLD world;
    struct world_call call;
    world_begin(&world, RICH_USD4);
    embed(&call);
    call.rate_usd4 = 336; /* 0.0336 USD a minute: 0.0028 are 5 s */
    sim_store.day_limit_usd4 = 28;
    REQUIRE(world_talk(&world, &call) != NULL);
    world_run(4400);
    CHECK(!sim_told("call.ended"));
    world_run(200);
    CHECK(sim_told("call.ended max-duration"));
    CHECK_INT(sim_store_row("c1")->duration_s, 5);
    CHECK_INT(sim_store_row("c1")->cost_usd4, 28);
}

TEST(embed_calls_that_share_a_limit_end_together)
{
    WORLD world;
    struct world_call call, other;
    world_begin(&world, RICH_USD4);
    embed(&call);
    world_defaults(&other); /* by the API: none of the limit's business */
    sim_store.day_limit_usd4 = 300;
    REQUIRE(world_talk(&world, &call) != NULL);
    REQUIRE(world_talk(&world, &other) != NULL);
    world_run(9000);
    REQUIRE(world_talk(&world, &call) != NULL); /* 100 are used: 10 s for the two */
    world_run(9000);
    CHECK(!sim_told("call.ended"));
    world_run(1000);
    CHECK(sim_told("call.ended max-duration [c1]"));
    CHECK(sim_told("call.ended max-duration [c3]"));
    CHECK_INT(sim_told_count("call.ended"), 2);
    int64_t apart_ms = sim_store_row("c1")->ended_wall_ms - sim_store_row("c3")->ended_wall_ms;
    CHECK(apart_ms >= -1 && apart_ms <= 1);
    CHECK(sim_store_row("c1")->cost_usd4 + sim_store_row("c3")->cost_usd4 <= 300);
    CHECK(sim_store_row("c1")->cost_usd4 + sim_store_row("c3")->cost_usd4 >= 290);
}

TEST(an_embed_limit_may_be_raised_or_lowered_during_a_call)
{
    WORLD world;
    struct world_call call;
    world_begin(&world, RICH_USD4);
    embed(&call);
    sim_store.day_limit_usd4 = 100;
    REQUIRE(world_talk(&world, &call) != NULL);
    world_run(9000);
    sim_store_set_limit(200);
    world_run(5000);
    CHECK(!sim_told("call.ended"));
    sim_store_set_limit(160);
    world_run(2000);
    CHECK(sim_told("call.ended max-duration"));
    CHECK_INT(sim_store_row("c1")->duration_s, 16);
    CHECK_INT(sim_store_row("c1")->cost_usd4, 160);
}

TEST(money_that_is_out_ends_a_call_although_the_database_is_away)
{
    WORLD world;
    struct world_call call;
    world_begin(&world, 100);
    world_defaults(&call);
    REQUIRE(world_talk(&world, &call) != NULL);
    world_run(5000);
    sim_store.away_until_us = INT64_MAX;
    world_run(16000); /* 10 s pay; 10 s for the database to say otherwise */
    CHECK(!sim_room_is_open("r1"));
    sim_store.away_until_us = 0;
    world_run(5000);
    CHECK(sim_told("call.ended max-duration"));
    CHECK_INT(sim_store_row("c1")->duration_s, 10);
    CHECK_INT(sim_store.balance_usd4, 0);
}
