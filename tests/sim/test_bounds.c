/* Callers and engines without measure, in whole calls: what they cost, and that the talk goes on.
 */
#include <malloc.h>
#include <stdio.h>

#include "base/metrics.h"
#include "sweep.h"
#include "test.h"
#include "world.h"

enum { BOUNDLESS_USD4 = 100000000 };

static struct sim_caller *talk(struct world *world)
{
    struct world_call call;
    world_begin(world, BOUNDLESS_USD4);
    world_defaults(&call);
    return world_talk(world, &call);
}

TEST(a_thousand_typed_messages_are_two_requests)
{
    WORLD world;
    struct sim_caller *caller = talk(&world);
    REQUIRE(caller != NULL);
    int64_t dropped = metric_read(METRIC_TYPED_DROPPED);
    for (int i = 0; i < 1000; i++) {
        sim_chat(caller, "are you there");
        if (i % 7 == 6)
            world_run(10);
    }
    world_run(10000);
    CHECK(sim_engines.llm_starts <= 3);
    CHECK(sim_told_count("transcript.user") <= 3);
    CHECK(metric_read(METRIC_TYPED_DROPPED) - dropped >= 990);
    CHECK(sim_told("transcript.assistant This is the answer."));
}

static const char *loop_on_tools(const struct llm_request *request)
{
    (void)request;
    sim_engines.tool = "table";
    sim_engines.tool_arguments = "{}";
    return "";
}

TEST(a_model_that_loops_on_tools_is_asked_six_times)
{
    WORLD world;
    struct world_call call;
    struct tool tool = {.id = "tool_1", .name = "table", .sample_output = ""};
    tool.kind = TOOL_DURING_CALL;
    world_begin(&world, BOUNDLESS_USD4);
    world_defaults(&call);
    call.agent.tools = (struct tool_list){&tool, 1};
    sim_engines.utterances[0] = "do you have a table";
    sim_engines.reply = loop_on_tools;
    struct sim_caller *caller = world_talk(&world, &call);
    REQUIRE(caller != NULL);
    sim_speak(caller, 1000);
    world_run(120000);
    CHECK(sim_engines.llm_starts <= 7); /* an early one may have been thrown away */
    CHECK_INT(sim_told_count("transcript.assistant"), 1);
    CHECK(strstr(sim_engines.last_request, "no further tool can be used") != NULL);
}

TEST(the_last_words_are_in_the_transcript)
{
    WORLD world;
    struct sim_caller *caller = talk(&world);
    REQUIRE(caller != NULL);
    sim_engines.has_partials = true;
    sim_engines.utterances[0] = "please call me back";
    sim_speak(caller, 3000);
    world_run(1500);
    sim_leave(caller); /* in mid-sentence */
    world_run(1000);
    CHECK_INT(sim_told_count("transcript.user please call me back"), 1);
    CHECK(sim_told_ms("transcript.user") <= sim_told_ms("call.ended"));
    CHECK_INT(sim_store_row("c1")->turns, 1);
}

TEST(what_an_engine_says_of_its_fault_stays_with_the_operator)
{
    WORLD world;
    struct sim_caller *caller = talk(&world);
    REQUIRE(caller != NULL);
    sim_engines.llm_failures = 1;
    sim_engines.utterances[0] = "hello there";
    sim_speak(caller, 1000);
    world_run(8000);
    CHECK(sim_told("call.error llm The language model could not be reached."));
    CHECK(!sim_told("scripted"));
}

/* The talk goes on, whatever fails. */

/* The caller asks, and asks again when nothing comes. */
static void ask_twice(struct sim_caller *caller)
{
    sim_engines.utterances[0] = sim_engines.utterances[1] = "do you have a table";
    sim_engines.utterances[2] = "do you have a table";
    for (int i = 0; i < 2; i++) {
        sim_speak(caller, 1000);
        world_run(6000);
    }
}

TEST(after_any_one_fault_of_an_engine_the_caller_is_answered)
{
    SWEEP(run)
    {
        sweep_pause();
        struct world world;
        struct sim_caller *caller = talk(&world);
        sweep_resume();
        REQUIRE(caller != NULL);
        int64_t from_ms = world_ms();
        ask_twice(caller);
        sweep_pause();
        CHECK(sim_loud(caller, from_ms, world_ms()) > 20);
        CHECK(sim_told("transcript.assistant"));
        sim_leave(caller);
        world_run(2000);
        CHECK_INT(sim_told_count("call.ended user-left"), 1);
        world_end(&world);
        sweep_resume();
    }
}

/* From the nth on all fail, the store's jobs as well: nobody can be heard, but the call lives, and
 * ends when its caller leaves. */
TEST(with_every_engine_dead_the_call_still_ends)
{
    SWEEP_LASTING(run)
    {
        sweep_pause();
        struct world world;
        struct sim_caller *caller = talk(&world);
        sweep_resume();
        REQUIRE(caller != NULL);
        ask_twice(caller);
        sweep_pause();
        sim_leave(caller);
        world_run(60000);
        CHECK_INT(sim_told_count("call.ended user-left"), 1);
        CHECK_INT(calls_count(world.calls), 0);
        world_end(&world);
        sweep_resume();
    }
}

/* Time alone costs nothing. */

static size_t held_bytes(void)
{
    return mallinfo2().uordblks;
}

TEST(minutes_of_barge_ins_and_noise_hold_no_more_memory)
{
    WORLD world;
    struct sim_caller *caller = talk(&world);
    REQUIRE(caller != NULL);
    sim_engines.has_partials = true;
    size_t after_first = 0;
    for (int i = 0; i < 30; i++) {
        sim_engines.next_utterance = 0;
        sim_engines.utterances[0] = sim_engines.utterances[1] = "stop and tell me more";
        sim_speak(caller, 900);
        world_run(2400);
        if (i % 4 == 3)
            sim_noise(caller, 500);
        if (i == 9)
            after_first = held_bytes();
    }
    world_run(5000);
    CHECK(sim_told_count("transcript.user") >= 15);
    /* The double's own log of events and lines grows; ten more minutes of it are 100 KB. */
    CHECK(held_bytes() <= after_first + 128 * 1024);
}
