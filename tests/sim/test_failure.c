/* What engines do wrong: slow, failing, mute, off. No call hangs, each failure is told, the talk
 * goes on. */
#include "base/config.h"
#include "test.h"
#include "world.h"

#define WORLD __attribute__((cleanup(world_end))) struct world

enum { RICH_USD4 = 1000000 };

static struct sim_caller *ask(struct world *world, const char *words)
{
    struct world_call call;
    world_defaults(&call);
    sim_engines.next_utterance = 0;
    sim_engines.utterances[0] = words;
    struct sim_caller *caller = world_talk(world, &call);
    if (caller)
        sim_speak(caller, 1000);
    return caller;
}

TEST(one_failure_of_the_model_is_told_and_answered_all_the_same)
{
    WORLD world;
    world_begin(&world, RICH_USD4);
    sim_engines.llm_failures = 1;
    REQUIRE(ask(&world, "hello there") != NULL);
    world_run(8000);
    CHECK_INT(sim_told_count("call.error llm"), 1);
    CHECK(sim_told("transcript.assistant This is the answer."));
}

TEST(a_model_that_fails_again_is_replaced)
{
    WORLD world;
    world_begin(&world, RICH_USD4);
    sim_engines.llm_failures = 1000;
    struct sim_caller *caller = ask(&world, "hello there");
    REQUIRE(caller != NULL);
    world_run(8000);
    CHECK_INT(sim_told_count("call.error llm"), 1);
    CHECK(sim_told("transcript.assistant This is the answer."));
    sim_engines.utterances[sim_engines.next_utterance] = "and again";
    sim_speak(caller, 1000);
    world_run(8000);
    CHECK_INT(sim_told_count("call.error"), 1); /* the second engine serves the call now */
    CHECK_INT(sim_told_count("transcript.assistant"), 2);
}

TEST(a_model_that_five_calls_failed_on_is_left_out_for_half_a_minute)
{
    WORLD world;
    world_begin(&world, RICH_USD4);
    sim_engines.llm_failures = 1000;
    for (int i = 0; i < 5; i++) {
        struct sim_caller *caller = ask(&world, "hello there");
        REQUIRE(caller != NULL);
        world_run(8000);
        CHECK_INT(sim_told_count("call.error llm"), i + 1);
        sim_leave(caller);
    }
    int left = sim_engines.llm_failures;
    REQUIRE(ask(&world, "hello there") != NULL);
    world_run(8000);
    CHECK_INT(sim_engines.llm_failures, left); /* it was not asked */
    CHECK_INT(sim_told_count("transcript.assistant This is the answer."), 6);
    world_run(30000);
    REQUIRE(ask(&world, "hello there") != NULL);
    world_run(8000);
    CHECK(sim_engines.llm_failures < left); /* it is tried again */
    CHECK_INT(sim_told_count("transcript.assistant This is the answer."), 7);
}

TEST(a_slow_model_only_delays_the_answer)
{
    WORLD world;
    world_begin(&world, RICH_USD4);
    sim_engines.llm_us = 5000000;
    struct sim_caller *caller = ask(&world, "hello there");
    REQUIRE(caller != NULL);
    int64_t end_ms = world_ms() + 1000;
    world_run(12000);
    CHECK_INT(sim_told_count("call.error"), 0);
    CHECK(sim_told("transcript.assistant This is the answer."));
    int64_t heard_ms = sim_first_loud_ms(caller, end_ms);
    CHECK(heard_ms - end_ms >= 5000 && heard_ms - end_ms <= 6500);
}

TEST(a_mute_model_is_replaced_after_its_deadline)
{
    WORLD world;
    world_begin(&world, RICH_USD4);
    sim_engines.is_llm_mute = true;
    struct sim_caller *caller = ask(&world, "hello there");
    REQUIRE(caller != NULL);
    int64_t end_ms = world_ms() + 1000;
    world_run(20000);
    CHECK_INT(sim_told_count("call.error llm"), 1);
    CHECK(sim_told("transcript.assistant This is the answer."));
    CHECK(sim_first_loud_ms(caller, end_ms) - end_ms <= 9500);
}

TEST(a_voice_that_fails_is_opened_again_and_then_replaced)
{
    WORLD world;
    world_begin(&world, RICH_USD4);
    sim_engines.tts_failures = 1000;
    REQUIRE(ask(&world, "hello there") != NULL);
    world_run(8000);
    CHECK_INT(sim_told_count("call.error tts"), 1);
    CHECK(sim_told("transcript.assistant This is the answer."));
}

TEST(a_mute_voice_is_replaced_after_its_deadline)
{
    WORLD world;
    world_begin(&world, RICH_USD4);
    sim_engines.is_tts_mute = true;
    REQUIRE(ask(&world, "hello there") != NULL);
    world_run(15000);
    CHECK_INT(sim_told_count("call.error tts"), 1);
    CHECK(sim_told("transcript.assistant This is the answer."));
}

TEST(a_recogniser_that_fails_is_opened_again)
{
    WORLD world;
    world_begin(&world, RICH_USD4);
    sim_engines.stt_failures = 1;
    struct sim_caller *caller = ask(&world, "hello there");
    REQUIRE(caller != NULL);
    world_run(4000);
    CHECK_INT(sim_told_count("call.error stt"), 1);
    CHECK_INT(sim_engines.stt_opens, 2);
    sim_speak(caller, 1000);
    world_run(6000);
    CHECK(sim_told("transcript.assistant This is the answer."));
}

TEST(a_recogniser_that_never_answers_leaves_the_call_alive)
{
    WORLD world;
    world_begin(&world, RICH_USD4);
    sim_engines.is_stt_mute = true;
    sim_engines.has_partials = true;
    struct sim_caller *caller = ask(&world, "hello there");
    REQUIRE(caller != NULL);
    int64_t end_ms = world_ms() + 1000;
    world_run(8000);
    CHECK(sim_told("transcript.user hello there"));
    CHECK(sim_told("transcript.assistant This is the answer."));
    CHECK(sim_first_loud_ms(caller, end_ms) - end_ms <= 2500 + 500);
}

TEST(all_engines_dead_and_the_call_still_ends_cleanly)
{
    WORLD world;
    world_begin(&world, RICH_USD4);
    sim_engines.is_stt_mute = true;
    sim_engines.is_tts_mute = true;
    sim_engines.is_llm_mute = true;
    struct sim_caller *caller = ask(&world, "hello there");
    REQUIRE(caller != NULL);
    world_run(60000);
    CHECK(!sim_told("call.ended"));
    sim_leave(caller);
    world_run(500);
    CHECK(sim_told("call.ended user-left"));
    CHECK_INT(calls_count(world.calls), 0);
}

TEST(an_engine_that_is_off_is_replaced_and_told)
{
    WORLD world;
    struct world_call call;
    world_begin(&world, RICH_USD4);
    world_defaults(&call);
    call.agent.stt.provider = "no-such-stt";
    REQUIRE(world_talk(&world, &call) != NULL);
    CHECK(sim_told("call.agent_joined first-stt first-llm first-tts"));
    CHECK_INT(sim_told_count("call.error stt"), 1);
}

TEST(a_silent_caller_is_asked_and_then_hung_up_on)
{
    WORLD world;
    struct world_call call;
    struct fault fault;
    world_begin(&world, RICH_USD4);
    world_defaults(&call);
    REQUIRE(config_set(world.config, "call", "caller_silence", "10", &fault) == OK);
    REQUIRE(config_set(world.config, "call", "caller_silence_count", "2", &fault) == OK);
    REQUIRE(world_talk(&world, &call) != NULL);
    world_run(60000);
    CHECK_INT(sim_told_count("transcript.assistant"), 3);
    CHECK(sim_told("call.ended api"));
}
