/* What engines do wrong: slow, failing, mute, off. No call hangs, each failure is told, the talk
 * goes on. */
#include "base/attr.h"
#include "base/config.h"
#include "test.h"
#include "world.h"

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

/* Between the end of the caller's voice and the last sound of the agent. */
static int64_t longest_silence_ms(const struct sim_caller *caller, int64_t from_ms)
{
    int64_t longest_ms = 0, last_us = from_ms * 1000;
    size_t count;
    const struct sim_frame *frames = sim_frames(caller, &count);
    for (size_t i = 0; i < count; i++) {
        if (!frames[i].is_loud || frames[i].at_us < last_us)
            continue;
        longest_ms = MAX(longest_ms, (frames[i].at_us - last_us) / 1000);
        last_us = frames[i].at_us;
    }
    return last_us == from_ms * 1000 ? INT64_MAX : longest_ms;
}

/* The caller asks, what is scripted to fail fails, and for so long they never wait in silence. */
static struct sim_caller *ask_and_wait(struct world *world, const char *words, int64_t ms)
{
    struct sim_caller *caller = ask(world, words);
    int64_t end_ms = world_ms() + 1000;
    if (!caller)
        return NULL;
    world_run(ms);
    CHECK(longest_silence_ms(caller, end_ms) < 4000);
    return caller;
}

TEST(one_failure_of_the_model_is_told_and_answered_all_the_same)
{
    RICH_WORLD(world);
    sim_engines.llm_failures = 1;
    REQUIRE(ask_and_wait(&world, "hello there", 8000) != NULL);
    CHECK_INT(sim_told_count("call.error llm"), 1);
    CHECK(sim_told("transcript.assistant This is the answer."));
}

TEST(a_model_that_fails_again_is_replaced)
{
    RICH_WORLD(world);
    sim_engines.llm_failures = 1000;
    struct sim_caller *caller = ask_and_wait(&world, "hello there", 8000);
    REQUIRE(caller != NULL);
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
    RICH_WORLD(world);
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
    RICH_WORLD(world);
    sim_engines.llm_us = 5000000;
    REQUIRE(ask_and_wait(&world, "hello there", 12000) != NULL);
    CHECK_INT(sim_told_count("call.error"), 0);
    CHECK(sim_told("transcript.assistant One moment, please. This is the answer."));
}

TEST(a_mute_model_is_replaced_after_its_deadline)
{
    RICH_WORLD(world);
    sim_engines.is_llm_mute = true;
    REQUIRE(ask_and_wait(&world, "hello there", 20000) != NULL);
    CHECK_INT(sim_told_count("call.error llm"), 1);
    CHECK(sim_told("One moment, please. This is the answer."));
}

TEST(a_voice_that_fails_is_opened_again_and_then_replaced)
{
    RICH_WORLD(world);
    sim_engines.tts_failures = 1000;
    REQUIRE(ask_and_wait(&world, "hello there", 8000) != NULL);
    CHECK_INT(sim_told_count("call.error tts"), 1);
    CHECK(sim_told("transcript.assistant This is the answer."));
}

TEST(a_mute_voice_is_replaced_after_its_deadline)
{
    RICH_WORLD(world);
    sim_engines.is_tts_mute = true;
    REQUIRE(ask_and_wait(&world, "hello there", 15000) != NULL);
    CHECK_INT(sim_told_count("call.error tts"), 1);
    CHECK(sim_told("transcript.assistant This is the answer."));
}

/* However long the model had taken before. */
TEST(a_mute_voice_behind_a_slow_model_leaves_no_long_silence)
{
    for (int64_t llm_ms = 700; llm_ms <= 3500; llm_ms += 400) {
        RICH_WORLD(world);
        sim_engines.llm_us = llm_ms * 1000;
        sim_engines.is_tts_mute = true;
        REQUIRE(ask_and_wait(&world, "hello there", 15000) != NULL);
        CHECK(sim_told("This is the answer."));
    }
}

static const char *say_two(const struct llm_request *request)
{
    (void)request;
    return "We are open today. Our shop closes at nine in the evening.";
}

/* Whatever two engines do at the same time. */
enum fault_of { NO_FAULT, BREAKS, IS_MUTE, IS_SLOW, FAULTS_OF_ONE };

static void script_stt(enum fault_of fault)
{
    sim_engines.stt_breaks = fault == BREAKS ? 1 : 0;
    sim_engines.is_stt_mute = fault == IS_MUTE;
    sim_engines.stt_us = fault == IS_SLOW ? 1500000 : 120000;
}

static void script_llm(enum fault_of fault)
{
    sim_engines.llm_breaks_at = fault == BREAKS ? 30 : 0;
    sim_engines.is_llm_mute = fault == IS_MUTE;
    sim_engines.llm_us = fault == IS_SLOW ? 3000000 : 200000;
}

static void script_tts(enum fault_of fault)
{
    sim_engines.tts_breaks_at = fault == BREAKS ? 30000 : 0;
    sim_engines.is_tts_mute = fault == IS_MUTE;
    sim_engines.tts_us = fault == IS_SLOW ? 700000 : 80000;
}

TEST(no_two_faults_at_once_leave_a_long_silence)
{
    enum { CASES = FAULTS_OF_ONE * FAULTS_OF_ONE * FAULTS_OF_ONE };
    for (int i = 0; i < CASES; i++) {
        enum fault_of stt = i % FAULTS_OF_ONE, llm = i / FAULTS_OF_ONE % FAULTS_OF_ONE,
                      tts = i / FAULTS_OF_ONE / FAULTS_OF_ONE;
        if (!stt + !llm + !tts != 1)
            continue;
        RICH_WORLD(world);
        sim_engines.reply = say_two;
        script_stt(stt);
        script_llm(llm);
        script_tts(tts);
        struct sim_caller *caller = ask(&world, "when are you open");
        REQUIRE(caller != NULL);
        int64_t end_ms = world_ms() + 1000;
        world_run(9000);
        int64_t silent_ms = longest_silence_ms(caller, end_ms);
        if (silent_ms >= 4000)
            test_fail(__FILE__, __LINE__, "faults %d, %d, %d: %lld ms without a word", stt, llm,
                      tts, (long long)silent_ms);
    }
}

TEST(a_recogniser_that_fails_is_opened_again)
{
    RICH_WORLD(world);
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
    RICH_WORLD(world);
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
    RICH_WORLD(world);
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
    WORLD_WITH_CALL(world, call);
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

TEST(a_model_that_breaks_after_a_sentence_is_followed_by_an_apology)
{
    RICH_WORLD(world);
    sim_engines.reply = say_two;
    sim_engines.llm_breaks_at = 30;
    REQUIRE(ask_and_wait(&world, "when are you open", 12000) != NULL);
    CHECK(sim_told("transcript.assistant We are open today."));
    CHECK(sim_told("transcript.assistant I'm sorry, I could not check that just now."));
}

TEST(a_model_that_stalls_after_a_sentence_leaves_no_long_silence)
{
    RICH_WORLD(world);
    sim_engines.reply = say_two;
    sim_engines.llm_stalls_at = 30;
    REQUIRE(ask_and_wait(&world, "when are you open", 20000) != NULL);
    CHECK(sim_told("We are open today. One moment, please."));
    CHECK(sim_told("transcript.assistant I'm sorry, I could not check that just now."));
}

TEST(a_voice_that_dies_in_mid_sentence_is_followed_by_the_rest_in_the_next)
{
    RICH_WORLD(world);
    sim_engines.reply = say_two;
    sim_engines.tts_breaks_at = 48000; /* the first sentence has 57,600 samples */
    REQUIRE(ask_and_wait(&world, "when are you open", 15000) != NULL);
    CHECK_INT(sim_told_count("call.error tts"), 1);
    CHECK_INT(sim_told_count("transcript.assistant"), 1);
    CHECK(sim_told("We are open today. Our shop closes at nine in the evening."));
}

TEST(a_recogniser_that_fails_in_an_utterance_is_followed_by_a_question)
{
    RICH_WORLD(world);
    sim_engines.stt_breaks = 1;
    struct sim_caller *caller = ask_and_wait(&world, NULL, 6000);
    REQUIRE(caller != NULL);
    CHECK_INT(sim_told_count("call.error stt"), 1);
    CHECK(sim_told("transcript.assistant Sorry, I did not catch that."));
    sim_engines.utterances[sim_engines.next_utterance] = "hello there";
    sim_speak(caller, 1000);
    world_run(6000);
    CHECK(sim_told("transcript.assistant This is the answer."));
}

TEST(what_a_recogniser_lost_is_heard_by_the_next)
{
    RICH_WORLD(world);
    sim_engines.stt_breaks = 1;
    struct sim_caller *caller = ask(&world, "hello there");
    REQUIRE(caller != NULL);
    int64_t end_ms = world_ms() + 1000;
    world_run(6000);
    CHECK_INT(sim_told_count("call.error stt"), 1);
    CHECK_INT(sim_told_count("transcript.user hello there"), 1);
    CHECK(sim_told("transcript.assistant This is the answer."));
    CHECK(!sim_told("Sorry"));
    CHECK(sim_engines.stt_samples > 16 * 1600); /* the first 600 ms twice */
    CHECK(longest_silence_ms(caller, end_ms) < 4000);
}

/* Fifteen seconds of a turn are kept: the next one gets what the first had not told of them. */
TEST(of_a_long_turn_the_next_recogniser_hears_what_was_not_told)
{
    enum { SECOND = 16000 };
    RICH_WORLD(world);
    struct world_call call;
    world_defaults(&call);
    sim_engines.utterances[0] = "my order came late";
    sim_engines.utterances[1] = "and two plates are broken";
    sim_engines.stt_breaks = 1;
    sim_engines.stt_tells_at = 10 * SECOND;
    sim_engines.stt_breaks_at = 20 * SECOND;
    struct sim_caller *caller = world_talk(&world, &call);
    REQUIRE(caller != NULL);
    sim_speak(caller, 22000);
    world_run(30000);
    CHECK_INT(sim_told_count("call.error stt"), 1);
    CHECK(sim_told("transcript.user my order came late and two plates are broken"));
    CHECK(sim_engines.stt_samples > 31 * SECOND && sim_engines.stt_samples < 34 * SECOND);
}

TEST(a_recogniser_that_answers_no_flush_is_noticed)
{
    RICH_WORLD(world);
    sim_engines.is_stt_mute = true; /* the first one, for ever */
    struct sim_caller *caller = ask_and_wait(&world, "hello there", 7000);
    REQUIRE(caller != NULL);
    CHECK(sim_told("transcript.assistant Sorry, I did not catch that."));
    CHECK_INT(sim_told_count("call.error"), 0); /* once is slow */
    sim_speak(caller, 1000);
    world_run(7000);
    CHECK_INT(sim_told_count("call.error stt"), 1);
    sim_speak(caller, 1000);
    world_run(7000);
    CHECK(sim_told("transcript.user hello there")); /* by the second engine */
    CHECK(sim_told("transcript.assistant This is the answer."));
}
