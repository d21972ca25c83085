/* The life of calls: who comes and goes, what time and money allow, what is stored and told. */
#include <math.h>

#include "base/config.h"
#include "base/loop.h"
#include "fake/loop.h"
#include "store/money.h"
#include "test.h"
#include "tool/run.h"
#include "world.h"

TEST(a_call_tells_its_steps_in_order)
{
    WORLD_WITH_CALL(world, call);
    sim_engines.utterances[0] = "hello there";
    struct sim_caller *caller = world_talk(&world, &call);
    REQUIRE(caller != NULL);
    sim_speak(caller, 800);
    world_run(5000);
    sim_leave(caller);
    world_run(1000);
    static const char *const steps[] = {"call.started",
                                        "call.agent_joined first-stt first-llm first-tts",
                                        "call.user_joined caller-1",
                                        "transcript.user hello there",
                                        "transcript.assistant This is the answer.",
                                        "call.user_left caller-1",
                                        "call.ended user-left"};
    CHECK(sim_told_in_order(steps, sizeof(steps) / sizeof(steps[0])));
    CHECK_INT(sim_store_row("c1")->turns, 2);
    CHECK(sim_store_row("c1")->voice_to_voice_p50 > 500);
    const struct reply_times *replies = &sim_store_row("c1")->reply_times; /* what usage adds up */
    CHECK_INT(reply_times_count(replies), 1);
    CHECK(fabs(reply_times_percentile(replies, 50) / sim_store_row("c1")->voice_to_voice_p50 - 1) <
          0.15);
    CHECK(!sim_room_is_open("r1"));
    CHECK_INT(calls_count(world.calls), 0);
}

TEST(a_clean_leave_ends_the_call_at_once)
{
    WORLD_WITH_CALL(world, call);
    struct sim_caller *caller = world_talk(&world, &call);
    REQUIRE(caller != NULL);
    world_run(10200); /* 10.7 s in the room */
    sim_leave(caller);
    world_run(100);
    struct sim_row *row = sim_store_row("c1");
    CHECK_INT(row->reason, END_USER_LEFT);
    CHECK_INT(row->duration_s, 11);
    CHECK_INT(row->cost_usd4, 110);
}

TEST(end_answers_when_it_is_stored)
{
    WORLD_WITH_CALL(world, call);
    REQUIRE(world_talk(&world, &call) != NULL);
    CHECK_INT(world_end_call(&world, "c1"), OK);
    CHECK(sim_told("call.ended api"));
    CHECK_INT(world_end_call(&world, "c1"), ERR_NOT_FOUND);
    CHECK_INT(world_say(&world, "c1", "hello"), ERR_NOT_FOUND);
    CHECK_INT(world_end_call(&world, "c7"), ERR_NOT_FOUND);
    CHECK_INT(sim_told_count("call.ended"), 1);
}

TEST(a_call_that_nobody_joined_costs_nothing)
{
    WORLD_WITH_CALL(world, call);
    call.join_within_ms = 30000;
    REQUIRE(world_call(&world, &call) == OK);
    world_run(29000);
    CHECK(!sim_told("call.ended"));
    world_run(5000);
    CHECK(sim_told("call.ended no-user"));
    CHECK(!sim_told("call.user_left"));
    CHECK_INT(sim_store_row("c1")->cost_usd4, 0);
    CHECK_INT(sim_store.balance_usd4, RICH_USD4);
}

TEST(a_lost_caller_has_twenty_seconds_and_pays_to_the_last_packet)
{
    WORLD_WITH_CALL(world, call);
    struct sim_caller *caller = world_talk(&world, &call);
    REQUIRE(caller != NULL);
    world_run(7000);
    int64_t cut_ms = world_ms();
    sim_cut(caller);
    world_run(29000);
    CHECK(!sim_told("call.user_left"));
    world_run(2000);
    CHECK(sim_told("call.user_left caller-1"));
    CHECK(sim_told("call.ended socket-lost"));
    CHECK(sim_told_ms("call.ended") - cut_ms >= 29900);
    CHECK_INT(sim_store_row("c1")->duration_s, 8); /* 7.5 s in the room until the cut */
}

TEST(a_caller_whom_the_room_refuses_is_billed_to_the_last_packet)
{
    WORLD_WITH_CALL(world, call);
    struct sim_caller *caller = world_talk(&world, &call);
    REQUIRE(caller != NULL);
    world_run(7000);
    sim_refuse(caller);
    world_run(19000);
    CHECK(!sim_told("call.ended"));
    world_run(2000);
    CHECK(sim_told("call.ended socket-lost"));
    CHECK_INT(sim_store_row("c1")->duration_s, 8);
    CHECK_INT(calls_count(world.calls), 0);
}

TEST(a_return_within_the_window_is_no_event_and_the_agent_goes_on)
{
    WORLD_WITH_CALL(world, call);
    call.agent.greeting_mode = GREETING_STATIC;
    call.agent.greeting_text = "This is a long greeting that goes on for a while, and then some "
                               "more of it comes, until at last it ends here.";
    struct sim_caller *caller = world_talk(&world, &call);
    REQUIRE(caller != NULL);
    world_run(500);
    sim_cut(caller);
    world_run(15000);
    CHECK_INT(sim_loud(caller, world_ms() - 14000, world_ms()), 0);
    sim_return(caller);
    int64_t back_ms = world_ms();
    world_run(30000);
    CHECK(!sim_told("call.user_left"));
    CHECK(!sim_told("call.ended"));
    CHECK_INT(sim_told_count("call.user_joined"), 1);
    CHECK(sim_told("until at last it ends here."));
    CHECK_INT(sim_loud(caller, 0, back_ms) > 0, 1);
    CHECK_INT(world_end_call(&world, "c1"), OK);
}

TEST(the_time_limit_is_the_duration)
{
    WORLD_WITH_CALL(world, call);
    call.start.config.call.max_duration_s = 30;
    REQUIRE(world_talk(&world, &call) != NULL);
    world_run(29000);
    CHECK(!sim_told("call.ended"));
    world_run(1000);
    CHECK(sim_told("call.ended max-duration"));
    CHECK_INT(sim_store_row("c1")->duration_s, 30);
    CHECK_INT(sim_store_row("c1")->cost_usd4, 300);
}

TEST(a_time_limit_met_by_a_lost_caller_bills_the_begun_second)
{
    WORLD_WITH_CALL(world, call);
    call.start.config.call.max_duration_s = 25;
    struct sim_caller *caller = world_talk(&world, &call);
    REQUIRE(caller != NULL);
    world_run(7000);
    sim_cut(caller);
    world_run(18000);
    CHECK(sim_told("call.ended max-duration"));
    CHECK_INT(sim_store_row("c1")->duration_s, 8); /* 7.5 s in the room until the cut */
}

TEST(no_call_is_longer_than_a_day)
{
    WORLD_WITH_CALL(world, call);
    call.join_within_ms = 48 * 3600 * INT64_C(1000);
    REQUIRE(world_call(&world, &call) == OK); /* nobody comes: that is simulated faster */
    world_run((24 * 3600 - 1) * INT64_C(1000));
    CHECK(!sim_told("call.ended"));
    world_run(1000);
    CHECK(sim_told("call.ended max-duration"));
}

TEST(the_balance_runs_out_to_the_second_and_never_below_zero)
{
    WORLD world;
    struct world_call call;
    world_begin(&world, 105); /* 10.5 s at 10 a second */
    world_defaults(&call);
    REQUIRE(world_talk(&world, &call) != NULL);
    world_run(9000);
    CHECK(!sim_told("call.ended"));
    world_run(2000);
    CHECK(sim_told("call.ended max-duration"));
    CHECK_INT(sim_store_row("c1")->duration_s, 10);
    CHECK_INT(sim_store_row("c1")->cost_usd4, 100);
    CHECK_INT(sim_store.balance_usd4, 5);
}

TEST(calls_that_share_a_balance_end_at_the_same_moment)
{
    WORLD world;
    struct world_call call;
    world_begin(&world, 300); /* one call: 30 s; two: the rest in half the time */
    world_defaults(&call);
    REQUIRE(world_talk(&world, &call) != NULL);
    world_run(9500); /* the first has used 100 */
    REQUIRE(world_talk(&world, &call) != NULL);
    world_run(9000);
    CHECK(!sim_told("call.ended"));
    world_run(1500);
    CHECK_INT(sim_told_count("call.ended max-duration"), 2);
    int64_t apart_ms = sim_store_row("c1")->ended_wall_ms - sim_store_row("c2")->ended_wall_ms;
    CHECK(apart_ms >= -1 && apart_ms <= 1);
    CHECK(sim_store.balance_usd4 >= 0 && sim_store.balance_usd4 <= 20);
}

TEST(a_credit_extends_a_running_call)
{
    WORLD world;
    struct world_call call;
    world_begin(&world, 100);
    world_defaults(&call);
    REQUIRE(world_talk(&world, &call) != NULL);
    world_run(8000);
    sim_store_credit(100);
    world_run(10000);
    CHECK(!sim_told("call.ended"));
    world_run(3000);
    CHECK(sim_told("call.ended max-duration"));
    CHECK_INT(sim_store_row("c1")->duration_s, 20);
    CHECK_INT(sim_store.balance_usd4, 0);
}

TEST(a_credit_that_nobody_told_of_still_counts)
{
    WORLD world;
    struct world_call call;
    world_begin(&world, 100);
    world_defaults(&call);
    REQUIRE(world_talk(&world, &call) != NULL);
    world_run(9300);
    sim_store.balance_usd4 += 100; /* by a program beside the service, 200 ms before the end */
    world_run(5000);
    CHECK(!sim_told("call.ended"));
    world_run(7000);
    CHECK_INT(sim_store_row("c1")->duration_s, 20);
}

TEST(the_end_of_one_call_gives_the_other_more_time)
{
    WORLD world;
    struct world_call call;
    world_begin(&world, 400); /* two at 10 a second: 20 s each */
    world_defaults(&call);
    REQUIRE(world_talk(&world, &call) != NULL);
    REQUIRE(world_talk(&world, &call) != NULL);
    world_run(9500);
    CHECK_INT(world_end_call(&world, "c2"), OK);
    world_run(15000);
    CHECK_INT(sim_told_count("call.ended"), 1);
    world_run(8000);
    CHECK_INT(sim_told_count("call.ended max-duration"), 1);
    CHECK_INT(sim_store_row("c1")->duration_s + sim_store_row("c2")->duration_s, 40);
}

TEST(no_more_than_five_seconds_are_ever_at_risk)
{
    WORLD_WITH_CALL(world, call);
    REQUIRE(world_talk(&world, &call) != NULL);
    world_run(60000);
    const struct sim_row *row = sim_store_row("c1");
    CHECK(row->longest_gap_us > 0 && row->longest_gap_us <= 5000000);
}

TEST(a_database_that_stays_away_loses_nothing)
{
    WORLD_WITH_CALL(world, call);
    sim_engines.utterances[0] = "hello there";
    sim_engines.utterances[1] = "and again";
    struct sim_caller *caller = world_talk(&world, &call);
    REQUIRE(caller != NULL);
    sim_store.away_until_us = fake_now_us() + 8000000;
    sim_speak(caller, 800);
    world_run(5000);
    CHECK(!sim_told("transcript.user"));
    CHECK(sim_loud(caller, 0, world_ms()) > 0); /* the talk goes on meanwhile */
    sim_speak(caller, 800);
    world_run(15000);
    static const char *const turns[] = {"transcript.user hello there", "transcript.assistant",
                                        "transcript.user and again", "transcript.assistant"};
    CHECK(sim_told_in_order(turns, 4));
    CHECK_INT(sim_told_count("transcript."), 4);
}

TEST(a_call_that_another_node_has_ended_is_let_go)
{
    WORLD_WITH_CALL(world, call);
    sim_engines.utterances[0] = "hello there";
    struct sim_caller *caller = world_talk(&world, &call);
    REQUIRE(caller != NULL);
    sim_store.is_fenced = true;
    sim_speak(caller, 800);
    world_run(4000);
    CHECK_INT(calls_count(world.calls), 0);
    CHECK(!sim_told("transcript"));
    CHECK(!sim_told("call.ended"));
}

TEST(a_room_closed_from_outside_ends_the_call)
{
    WORLD_WITH_CALL(world, call);
    struct sim_caller *caller = world_talk(&world, &call);
    REQUIRE(caller != NULL);
    sim_room_close(caller);
    world_run(500);
    CHECK(sim_told("call.ended room-finished"));
    CHECK_INT(calls_count(world.calls), 0);
}

static bool is_drained;
static void drained(void *arg, enum err err, const char *message)
{
    (void)arg;
    (void)message;
    is_drained = err == OK;
}

TEST(draining_refuses_new_calls_and_ends_the_others_after_the_grace)
{
    WORLD_WITH_CALL(world, call);
    REQUIRE(world_talk(&world, &call) != NULL);
    calls_drain(world.calls, 5000000, drained, NULL);
    CHECK_INT(world_call(&world, &call), ERR_UNSUPPORTED);
    CHECK(sim_told("call.ended dispatch-failed [c2]"));
    CHECK(!sim_told("call.started  [c2]"));
    world_run(4000);
    CHECK(!is_drained);
    world_run(2000);
    CHECK(sim_told("call.ended agent-shutdown [c1]"));
    CHECK(is_drained);
}

TEST(a_call_that_nobody_joined_does_not_keep_a_drain_waiting)
{
    WORLD_WITH_CALL(world, call);
    REQUIRE(world_call(&world, &call) == OK);
    is_drained = false;
    calls_drain(world.calls, INT64_C(60000000), drained, NULL);
    world_run(4900);
    CHECK(!is_drained); /* who got a token a moment ago may still come */
    world_run(200);
    CHECK(sim_told("call.ended agent-shutdown [c1]"));
    CHECK_INT(sim_store_row("c1")->cost_usd4, 0);
    CHECK(is_drained);
}

TEST(a_drain_ends_although_the_database_is_away)
{
    WORLD_WITH_CALL(world, call);
    REQUIRE(world_talk(&world, &call) != NULL);
    REQUIRE(world_talk(&world, &call) != NULL);
    is_drained = false;
    sim_store.away_until_us = INT64_MAX;
    calls_drain(world.calls, 2000000, drained, NULL);
    world_run(4900);
    CHECK(!is_drained);
    world_run(1200); /* grace, 3 s for the ends, 1 s for the node's own row */
    CHECK(is_drained);
    CHECK_INT(calls_count(world.calls), 0);
    CHECK(!sim_told("call.ended"));
}

TEST(a_drain_ends_although_the_database_does_not_answer)
{
    WORLD_WITH_CALL(world, call);
    REQUIRE(world_talk(&world, &call) != NULL);
    is_drained = false;
    sim_store.is_frozen = true;
    calls_drain(world.calls, 2000000, drained, NULL);
    world_run(6100);
    CHECK(is_drained);
    CHECK_INT(world_call(&world, &call), ERR_CLOSED); /* one that came in to the last */
    sim_store.is_frozen = false; /* the store answers what was under way, at the very end */
    world_run(100);
    CHECK_INT(calls_count(world.calls), 0);
}

static void give_up(void *arg)
{
    calls_give_up(arg);
}

TEST(a_start_that_the_store_takes_no_more_of_is_told_of_the_end)
{
    WORLD_WITH_CALL(world, call);
    struct timer end;
    is_drained = false;
    calls_drain(world.calls, 2000000, drained, NULL);
    world_run(100);
    CHECK(is_drained); /* there was none: these were committed late */
    sim_store.is_refusing = true;
    sim_store.failures = -1;
    timer_init(&end, world.control, give_up, world.calls);
    timer_set_after(&end, 4000000);
    CHECK_INT(world_call(&world, &call), ERR_CLOSED);
    CHECK_INT(world_call(&world, &call), ERR_CLOSED); /* after the end */
    world_run(100);
    CHECK_INT(calls_count(world.calls), 0);
    CHECK(!sim_told("c1")); /* the next start tells of them */
    CHECK(!sim_told("c2"));
}

TEST(a_call_that_cannot_be_set_up_is_not_dispatched)
{
    WORLD_WITH_CALL(world, call);
    static char huge[1100 * 1024];
    memset(huge, 'x', sizeof(huge) - 1);
    call.agent.system_instruction = huge;
    CHECK_INT(world_call(&world, &call), ERR_UNSUPPORTED);
    CHECK(sim_told("call.ended dispatch-failed"));
    CHECK(!sim_told("call.started"));
    CHECK_INT(sim_store_row("c1")->cost_usd4, 0);
    world_run(100);
    CHECK_INT(calls_count(world.calls), 0);
    CHECK(!sim_room_is_open("r1"));
}

TEST(the_agent_hangs_up_after_its_last_word)
{
    WORLD_WITH_CALL(world, call);
    call.agent.system_tools.end_call = true;
    sim_engines.utterances[0] = "that is all";
    sim_engines.tool = "endCall";
    sim_engines.tool_arguments = "{}";
    struct sim_caller *caller = world_talk(&world, &call);
    REQUIRE(caller != NULL);
    sim_speak(caller, 800);
    world_run(15000);
    CHECK(sim_told("call.ended api"));
    CHECK_INT(sim_told_count("transcript.assistant"), 1);
    int64_t last_ms = sim_last_loud_ms(caller, world_ms());
    CHECK(sim_told_ms("call.ended") - last_ms >= 250);
    CHECK(sim_told_ms("call.ended") - last_ms <= 500);
}

static struct js *shown;
static void show(void *arg, struct js *take_tree)
{
    (void)arg;
    shown = take_tree;
}

TEST(show_describes_the_calls)
{
    WORLD_WITH_CALL(world, call);
    REQUIRE(world_talk(&world, &call) != NULL);
    calls_show(world.calls, show, NULL);
    world_run(10);
    REQUIRE(shown != NULL);
    CHECK_INT(js_count(shown), 1);
    CHECK_TEXT(js_text(js_get(js_at(shown, 0), "status")), "active");
    CHECK_TEXT(js_text(js_get(js_at(shown, 0), "floor")), "listening");
    js_free(shown);
}
