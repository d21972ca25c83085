/* The store fails under a call: one job after the other, for good, for long. Whatever it is, each
 * call ends once, its money is exact and its events are told once and in order. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "fake/loop.h"
#include "test.h"
#include "world.h"

/* The sweep. */

static const char *const steps[] = {"call.started",
                                    "call.agent_joined",
                                    "call.user_joined",
                                    "transcript.user hello there",
                                    "transcript.assistant This is the answer.",
                                    "call.user_left",
                                    "call.ended user-left"};
enum { STEPS = sizeof(steps) / sizeof(steps[0]) };

enum fault_kind {
    REFUSED,  /* too much waits: the job was not even taken */
    AWAY,     /* it did not take effect */
    IN_DOUBT, /* it took effect, but its answer was lost */
};

/* One call, during which `width` store jobs from number `from` on fail. false: it needed fewer. */
static bool call_with_fault(enum fault_kind kind, int from, int width)
{
    WORLD_WITH_CALL(world, call);
    sim_engines.utterances[0] = "hello there";
    sim_store.is_refusing = kind == REFUSED;
    sim_store.is_done_all_the_same = kind == IN_DOUBT;
    sim_store.fault = kind == IN_DOUBT ? ERR_TIMEOUT : ERR_IO;
    sim_store.fail_at = sim_store.jobs + from;
    sim_store.fail_width = width;
    struct sim_caller *caller = world_talk(&world, &call);
    if (!caller) {
        test_fail(__FILE__, __LINE__, "no call at job %d", from);
        return false;
    }
    int64_t joined_ms = world_ms() - 500;
    sim_speak(caller, 800);
    world_run(12000);
    sim_leave(caller);
    int64_t left_ms = world_ms();
    world_run(8000);
    bool is_met = sim_store.jobs >= sim_store.fail_at;
    CHECK(sim_told_in_order(steps, STEPS));
    for (size_t i = 0; i < STEPS; i++)
        CHECK_INT(sim_told_count(steps[i]), 1);
    const struct sim_row *row = sim_store_row("c1");
    CHECK_INT(row->turns, 2);
    CHECK_INT(row->duration_s, (left_ms - joined_ms + 999) / 1000);
    CHECK_INT(row->cost_usd4, row->duration_s * 10);
    CHECK_INT(sim_store.balance_usd4, RICH_USD4 - row->cost_usd4);
    CHECK_INT(sim_store.set_aside, 0);
    CHECK_INT(calls_count(world.calls), 0);
    return is_met;
}

static void sweep(enum fault_kind kind)
{
    static const int widths[] = {1, 4};
    log_set(LOG_ERROR, LOG_LOGFMT, 2);
    for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
        int from = 1;
        while (call_with_fault(kind, from, widths[i]))
            from++;
        CHECK(from >= 6); /* start, joins, turns, checkpoints, end */
    }
}

TEST(each_job_in_turn_does_not_take_effect)
{
    sweep(AWAY);
}

TEST(each_job_in_turn_takes_effect_and_nobody_is_told)
{
    sweep(IN_DOUBT);
}

TEST(each_job_in_turn_is_refused)
{
    sweep(REFUSED);
}

/* For good. */

TEST(a_turn_that_can_never_be_written_is_set_aside_and_the_call_goes_on)
{
    WORLD_WITH_CALL(world, call);
    sim_engines.utterances[0] = "poison here";
    sim_engines.utterances[1] = "hello there";
    sim_store.poison = "poison";
    struct sim_caller *caller = world_talk(&world, &call);
    REQUIRE(caller != NULL);
    sim_speak(caller, 800);
    world_run(5000);
    sim_speak(caller, 800);
    world_run(5000);
    sim_leave(caller);
    world_run(1000);
    CHECK_INT(sim_store.set_aside, 1);
    CHECK_INT(sim_told_count("transcript.user"), 1);
    CHECK_INT(sim_told_count("transcript.assistant"), 2);
    CHECK_INT(sim_told_count("call.ended user-left"), 1);
    CHECK_INT(calls_count(world.calls), 0);
}

TEST(a_service_starts_when_its_database_comes_up)
{
    world_start_failures = 5;
    WORLD_WITH_CALL(world, call);
    CHECK(world_ms() * 1000 - FAKE_START_US >= 2000000); /* half a second apart */
    CHECK(world_talk(&world, &call) != NULL);
}

TEST(a_start_that_can_never_be_written_is_refused)
{
    WORLD_WITH_CALL(world, call);
    sim_store.start_refusal = ERR_LIMIT;
    CHECK_INT(world_call(&world, &call), ERR_INTERNAL);
    world_run(1000);
    CHECK_INT(sim_store.set_aside, 1);
    CHECK_INT(calls_count(world.calls), 0);
    CHECK(!sim_room_is_open("r1"));
}

/* The database takes what other calls write, so it is not away. */
TEST(a_turn_that_fails_each_time_is_set_aside_in_the_end)
{
    WORLD_WITH_CALL(world, call);
    sim_engines.utterances[0] = "stubborn here";
    sim_store.stubborn = "stubborn";
    struct sim_caller *caller = world_talk(&world, &call);
    REQUIRE(caller != NULL);
    sim_speak(caller, 800);
    world_run(3000);
    REQUIRE(world_talk(&world, &call) != NULL); /* its checkpoints are commits */
    CHECK_INT(sim_store.set_aside, 0);
    CHECK(!sim_told("transcript.assistant"));
    world_run(120000);
    CHECK_INT(sim_store.set_aside, 1);
    CHECK_INT(sim_told_count("transcript.user"), 0);
    CHECK_INT(sim_told_count("transcript.assistant"), 1);
    sim_leave(caller);
    world_run(1000);
    CHECK_INT(sim_told_count("call.ended user-left"), 1);
}

/* For long. */

TEST(a_journal_over_its_ceiling_ends_the_call)
{
    WORLD world;
    struct world_call call;
    static char text[4 * 2000 + 1]; /* the longest that may be typed */
    world_begin(&world, RICH_USD4);
    world_defaults(&call);
    for (int i = 0; i < 2000; i++)
        memcpy(text + 4 * i, "\U0001F600", 5);
    struct sim_caller *caller = world_talk(&world, &call);
    REQUIRE(caller != NULL);
    REQUIRE(world_talk(&world, &call) != NULL);
    sim_store.away_until_us = fake_now_us() + INT64_C(600000000);
    int typed = 0;
    while (sim_room_is_open("r1") && typed++ < 400) {
        sim_chat(caller, text);
        world_run(1100);
    }
    CHECK(typed > 100 && typed < 400);
    sim_store.away_until_us = 0;
    world_run(5000);
    CHECK(sim_told("call.ended agent-shutdown [c1]"));
    CHECK_INT(sim_told_count("call.ended"), 1); /* the other one goes on */
    CHECK_INT(calls_count(world.calls), 1);
}
