#include <stdio.h>

#include "engine/llm.h"
#include "engine/stt.h"
#include "engine/tts.h"
#include "rig.h"
#include "test.h"

#define RIG __attribute__((cleanup(rig_clear))) struct rig

static int64_t sound_ms(const struct rig *rig)
{
    return (int64_t)rig->played / 48;
}

TEST(static_greeting_is_said_once_the_caller_is_there)
{
    RIG rig;
    rig_init(&rig);
    rig.config.greeting = TALK_GREETING_STATIC;
    rig.config.greeting_text = "Welcome to the desk.";
    rig.talk = talk_new(&rig.config);
    talk_begin(rig.talk, rig.now_us);
    rig_run(&rig, 3000);
    CHECK_INT(rig.played, 0); /* prepared, and kept for the caller */
    CHECK(rig_has(&rig, "1000 speak Welcome to the desk."));
    talk_joined(rig.talk, rig.now_us);
    rig_run(&rig, 8000);
    CHECK(rig.first_sound_us / 1000 <= 3020);
    CHECK_INT(rig.played, 20 * RIG_CHAR_SAMPLES);
    CHECK(rig_has(&rig, "agent line Welcome"));
    CHECK_TEXT(rig.live, "Welcome to the desk.");
    CHECK(rig_has(&rig, "agent turn Welcome to the desk."));
    CHECK(rig_has(&rig, "state speaking"));
    CHECK_INT(rig_count(&rig, "state listening"), 2);
}

TEST(generated_greeting_asks_the_model_with_the_instruction)
{
    RIG rig;
    rig_init(&rig);
    rig.config.greeting = TALK_GREETING_GENERATE;
    rig.config.greeting_instruction = "Mention the sale.";
    rig.reply = "Hello, we have a sale.";
    rig_begin(&rig);
    rig_run(&rig, 5000);
    CHECK(strstr(rig.request, "Mention the sale.") != NULL);
    CHECK(rig_has(&rig, "agent turn Hello, we have a sale."));
    CHECK_INT(rig.asks, 1);
}

TEST(no_greeting_leaves_the_floor_to_the_caller)
{
    RIG rig;
    rig_init(&rig);
    rig_begin(&rig);
    rig_run(&rig, 10000);
    CHECK_INT(rig.asks, 0);
    CHECK_INT(rig.played, 0);
}

TEST(a_question_is_answered_and_both_turns_are_told)
{
    RIG rig;
    rig_init(&rig);
    rig_begin(&rig);
    rig_run(&rig, 2000);
    rig_speak(&rig, "what time is it", 1000);
    rig_run(&rig, 6000);
    CHECK(rig_has(&rig, "caller turn what time is it"));
    CHECK(rig_has(&rig, "agent turn This is the answer."));
    /* The voice ended at 3,000; the pause of 550 ms decides; the answer was made meanwhile. */
    CHECK_INT(rig_when(&rig, "caller turn"), 3550);
    CHECK(rig.first_sound_us / 1000 - 3550 <= 50 + 20);
    CHECK_INT(rig.asks, 1);
    CHECK(strstr(rig.request, "U:what time is it") != NULL);
}

TEST(early_reply_is_thrown_away_when_the_caller_goes_on)
{
    RIG rig;
    rig_init(&rig);
    rig_begin(&rig);
    rig_run(&rig, 2000);
    rig_speak(&rig, "I want to order", 800);
    rig_run(&rig, rig_ms(&rig) + 150); /* the words have come, the early ask is out */
    CHECK_INT(rig.asks, 1);
    rig_speak(&rig, "two pizzas please", 800);
    rig_run(&rig, 9000);
    CHECK(rig_has(&rig, "caller turn I want to order two pizzas please"));
    CHECK_INT(rig.asks, 2);
    CHECK_INT(rig_count(&rig, "agent turn"), 1);
    CHECK_INT(rig_count(&rig, "caller turn"), 1);
    CHECK(rig_when(&rig, "unask") < rig_when(&rig, "caller turn"));
}

TEST(early_reply_is_kept_when_only_spaces_and_case_differ)
{
    RIG rig;
    rig_init(&rig);
    rig_begin(&rig);
    rig_run(&rig, 2000);
    talk_voice_started(rig.talk, rig.now_us);
    rig_run(&rig, 3000);
    rig.stt_us = 500000;
    rig.words = "What  time is it?";
    talk_voice_stopped(rig.talk, 2800000, rig.now_us);
    talk_heard(rig.talk,
               &(struct stt_event){.kind = STT_PARTIAL, .text = "what time is it", .is_stable = 1},
               rig.now_us);
    rig_run(&rig, 7000);
    CHECK_INT(rig.asks, 1);
    CHECK_INT(rig_count(&rig, "unask"), 0);
    CHECK(rig_has(&rig, "agent turn This is the answer."));
}

TEST(a_static_greeting_without_words_is_none)
{
    RIG rig;
    rig_init(&rig);
    rig.config.greeting = TALK_GREETING_STATIC;
    rig.config.greeting_text = "";
    rig_begin(&rig);
    rig_run(&rig, 10000);
    CHECK_INT(rig.asks, 0);
    CHECK_INT(rig_count(&rig, " speak "), 0);
    CHECK_TEXT(talk_state_name(rig.talk), "listening");
}

static void start_long_reply(struct rig *rig)
{
    rig->reply = "One two three four five six seven eight nine ten eleven twelve thirteen "
                 "fourteen fifteen. And this sentence comes later.";
    rig_begin(rig);
    rig_run(rig, 2000);
    rig_speak(rig, "count please", 500);
    rig_run(rig, 5000); /* the agent is in the middle of its first sentence */
}

TEST(voice_pauses_the_agent_at_once_and_words_cut_it)
{
    RIG rig;
    rig_init(&rig);
    start_long_reply(&rig);
    CHECK(rig.is_playing);
    size_t before = rig.played;
    talk_voice_started(rig.talk, rig.now_us);
    rig_run(&rig, 5001);
    CHECK(!rig.is_playing);
    rig_run(&rig, 5400);
    CHECK_INT(rig.played, before);
    rig_partial(&rig, "stop it");
    CHECK(rig_has(&rig, "5400 unspeak"));
    CHECK_INT(rig_count(&rig, "agent turn"), 1);
    /* The turn holds what was heard: some words of the first sentence, none of the second. */
    CHECK(rig_has(&rig, "agent turn One two three"));
    CHECK(!rig_has(&rig, "fifteen. And"));
    CHECK(!rig_has(&rig, "agent turn One two three four five six seven eight nine ten eleven "
                         "twelve thirteen fourteen fifteen"));
    struct talk_quality quality;
    talk_quality(rig.talk, &quality);
    CHECK_INT(quality.interruptions, 1);
    CHECK_INT(quality.false_interruptions, 0);
}

TEST(live_words_keep_pace_with_the_voice)
{
    RIG rig;
    rig_init(&rig);
    start_long_reply(&rig);
    talk_voice_started(rig.talk, rig.now_us);
    rig_run(&rig, 5200);
    rig_partial(&rig, "wait");
    /* Half a second ahead and to the end of a word, no more: 15 characters a second. */
    size_t heard = rig.played / RIG_CHAR_SAMPLES;
    CHECK(strlen(rig.live) >= heard && strlen(rig.live) <= heard + 8 + 9);
    rig_run(&rig, 12000);
    CHECK(rig_count(&rig, "agent line") > 4);
}

TEST(all_words_of_a_line_that_is_heard_are_shown)
{
    RIG rig;
    rig_init(&rig);
    start_long_reply(&rig);
    rig_run(&rig, 20000);
    CHECK_TEXT(rig.live, rig.reply);
}

TEST(what_was_heard_is_what_the_model_reads_next)
{
    RIG rig;
    rig_init(&rig);
    start_long_reply(&rig);
    talk_voice_started(rig.talk, rig.now_us);
    rig_run(&rig, 5200);
    rig_partial(&rig, "wait");
    rig.words = "wait a moment";
    talk_voice_stopped(rig.talk, 5200000, 5400000);
    rig_run(&rig, 8000);
    CHECK(strstr(rig.request, "A:One two three") != NULL);
    CHECK(strstr(rig.request, "fifteen") == NULL);
    CHECK(strstr(rig.request, "U:wait a moment") != NULL);
}

TEST(sound_without_words_resumes_at_the_same_sample)
{
    RIG rig;
    rig_init(&rig);
    start_long_reply(&rig);
    size_t before = rig.played, queued = rig.queued;
    rig_speak(&rig, NULL, 300); /* a cough */
    CHECK_INT(rig.played, before);
    CHECK_INT(rig.queued, queued);
    rig_run(&rig, 20000);
    CHECK_INT(rig_count(&rig, "unspeak"), 0);
    CHECK(rig_has(&rig, "agent turn One two three four five six seven eight nine ten eleven "
                        "twelve thirteen fourteen fifteen. And this sentence comes later."));
    struct talk_quality quality;
    talk_quality(rig.talk, &quality);
    CHECK_INT(quality.false_interruptions, 1);
    CHECK_INT(quality.interruptions, 0);
    /* flushed at 5,500, answered at 5,600: it goes on 550 ms after the sound. */
    CHECK_INT(rig_when(&rig, "5850 play"), 5850);
}

TEST(a_recogniser_that_owes_its_answer_delays_the_resume_to_two_seconds)
{
    RIG rig;
    rig_init(&rig);
    start_long_reply(&rig);
    rig.is_stt_mute = true;
    rig_speak(&rig, NULL, 300);
    rig_run(&rig, 9000);
    CHECK(rig_has(&rig, "7300 play"));
}

TEST(acknowledgement_does_not_interrupt)
{
    RIG rig;
    rig_init(&rig);
    start_long_reply(&rig);
    size_t queued = rig.queued;
    rig_speak(&rig, "uh-huh", 300);
    CHECK_INT(rig.queued, queued);
    rig_run(&rig, 20000);
    CHECK_INT(rig_count(&rig, "unspeak"), 0);
    CHECK(rig_has(&rig, "caller turn uh-huh"));
    CHECK(rig_has(&rig, "And this sentence comes later."));
    CHECK_INT(rig.asks, 1);
}

TEST(steady_noise_stops_the_agent_for_three_seconds_at_most)
{
    RIG rig;
    rig_init(&rig);
    start_long_reply(&rig);
    talk_voice_started(rig.talk, rig.now_us);
    rig_run(&rig, 9000);
    CHECK(rig_has(&rig, "8000 play"));
    rig_partial(&rig, "hello can you hear me");
    CHECK(rig_has(&rig, "9000 unspeak"));
}

TEST(without_interruption_the_agent_finishes_and_then_answers)
{
    RIG rig;
    rig_init(&rig);
    rig.config.is_interruptible = false;
    start_long_reply(&rig);
    rig_speak(&rig, "can I ask something", 800);
    CHECK(rig.is_playing);
    CHECK_INT(rig_count(&rig, "pause"), 0);
    rig.reply = "Of course.";
    rig_run(&rig, 25000);
    CHECK_INT(rig_count(&rig, "unspeak"), 0);
    CHECK(rig_has(&rig, "And this sentence comes later."));
    CHECK(rig_has(&rig, "caller turn can I ask something"));
    CHECK(rig_when(&rig, "agent turn One two") <= rig_when(&rig, "caller turn can I"));
    CHECK(rig_has(&rig, "agent turn Of course."));
}

TEST(say_cuts_the_agent_and_another_say_waits_for_it)
{
    RIG rig;
    rig_init(&rig);
    rig.config.is_interruptible = false;
    start_long_reply(&rig);
    CHECK_INT(talk_say(rig.talk, "The line closes in one minute.", rig.now_us), OK);
    rig_run(&rig, 5200);
    CHECK(rig_has(&rig, "agent turn One two three"));
    CHECK_INT(talk_say(rig.talk, "Please hurry.", rig.now_us), OK);
    talk_voice_started(rig.talk, rig.now_us);
    rig_run(&rig, 5300);
    CHECK(rig.is_playing);
    rig_partial(&rig, "no wait");
    rig_run(&rig, 10000);
    CHECK(rig_has(&rig, "agent turn The line closes in one minute."));
    CHECK(rig_has(&rig, "agent turn Please hurry."));
    CHECK(rig_when(&rig, "agent turn The line") < rig_when(&rig, "agent turn Please"));
}

TEST(the_caller_may_interrupt_a_say_and_the_next_one_waits)
{
    RIG rig;
    rig_init(&rig);
    start_long_reply(&rig);
    CHECK_INT(talk_say(rig.talk, "The line closes in one minute from now.", rig.now_us), OK);
    rig_run(&rig, 5900);
    CHECK(rig.is_playing);
    CHECK_INT(talk_say(rig.talk, "Please hurry.", rig.now_us), OK);
    rig.reply = "Of course.";
    rig.words = "no wait";
    talk_voice_started(rig.talk, rig.now_us);
    rig_partial(&rig, "no wait");
    rig_run(&rig, 6300);
    CHECK(!rig.is_playing);
    talk_voice_stopped(rig.talk, 6100000, rig.now_us);
    rig_run(&rig, 14000);
    CHECK(rig_has(&rig, "agent turn The line"));
    CHECK(!rig_has(&rig, "agent turn The line closes in one minute from now."));
    CHECK(rig_has(&rig, "caller turn no wait"));
    CHECK(rig_has(&rig, "agent turn Please hurry."));
    CHECK(rig_has(&rig, "agent turn Of course."));
}

/* The voice had both; what it is told to stop, it does not say by itself later. */
TEST(a_line_that_the_voice_already_had_is_said_after_the_interruption)
{
    RIG rig;
    rig_init(&rig);
    start_long_reply(&rig);
    CHECK_INT(talk_say(rig.talk, "The line closes now.", rig.now_us), OK);
    CHECK_INT(talk_say(rig.talk, "Please hurry.", rig.now_us), OK);
    while (!rig_has(&rig, "speak Please hurry.") && rig_ms(&rig) < 20000)
        rig_run(&rig, rig_ms(&rig) + 20);
    CHECK(rig.is_playing && !rig_has(&rig, "agent turn The line"));
    rig.reply = "Of course.";
    rig.words = "no wait";
    talk_voice_started(rig.talk, rig.now_us);
    rig_partial(&rig, "no wait");
    rig_run(&rig, rig_ms(&rig) + 300);
    talk_voice_stopped(rig.talk, rig.now_us - 200000, rig.now_us);
    rig_run(&rig, rig_ms(&rig) + 2500);
    CHECK_INT(rig_count(&rig, "speak Please hurry."), 2); /* at once, by no deadline */
    rig_run(&rig, rig_ms(&rig) + 10000);
    CHECK(rig_has(&rig, "agent turn Please hurry."));
}

TEST(say_has_a_ceiling_and_waits_for_the_caller)
{
    RIG rig;
    rig_init(&rig);
    rig.talk = talk_new(&rig.config);
    talk_begin(rig.talk, rig.now_us);
    int accepted = 0;
    while (accepted < 100 && talk_say(rig.talk, "Hello.", rig.now_us) == OK)
        accepted++;
    CHECK_INT(accepted, TALK_SAY_MAX_WAITING + 1);
    rig_run(&rig, 3000);
    CHECK_INT(rig.played, 0);
    talk_joined(rig.talk, rig.now_us);
    rig_run(&rig, 60000);
    CHECK_INT(rig_count(&rig, "agent turn Hello."), accepted);
}

TEST(a_turn_is_taken_when_the_recogniser_never_finishes)
{
    RIG rig;
    rig_init(&rig);
    rig_begin(&rig);
    rig_run(&rig, 2000);
    rig.is_stt_mute = true;
    talk_voice_started(rig.talk, rig.now_us);
    rig_run(&rig, 3000);
    rig_partial(&rig, "are you there");
    talk_voice_stopped(rig.talk, 3000000, 3200000);
    rig_run(&rig, 9000);
    CHECK_INT(rig_when(&rig, "caller turn are you there"), 5500);
    /* Its words come after all: they are not a second turn. */
    talk_heard(rig.talk, &(struct stt_event){.kind = STT_FINAL, .text = "are you there"},
               rig.now_us);
    rig_run(&rig, 15000);
    CHECK_INT(rig_count(&rig, "caller turn"), 1);
    CHECK_INT(rig_count(&rig, "agent turn"), 1);
}

TEST(words_of_a_slow_recogniser_are_a_turn_all_the_same)
{
    RIG rig;
    rig_init(&rig);
    rig.stt_us = 3000000; /* after the sound was taken for nothing */
    rig_begin(&rig);
    rig_run(&rig, 2000);
    rig_speak(&rig, "are you there", 1000);
    rig_run(&rig, 12000);
    CHECK_INT(rig_count(&rig, "caller turn are you there"), 1);
    CHECK(rig_has(&rig, "agent turn This is the answer."));
}

TEST(words_that_repeat_a_taken_turn_do_not_cut_its_answer)
{
    RIG rig;
    rig_init(&rig);
    rig_begin(&rig);
    rig_run(&rig, 2000);
    rig_speak(&rig, "are you there", 1000);
    rig_run(&rig, 3580);
    rig_partial(&rig, "are you there");
    rig_run(&rig, 8000);
    CHECK_INT(rig_count(&rig, "caller turn"), 1);
    CHECK_INT(rig_count(&rig, "agent turn"), 1);
    CHECK(rig.first_sound_us / 1000 < 3700);
}

TEST(text_that_goes_on_waits_longer)
{
    RIG rig;
    rig_init(&rig);
    rig_begin(&rig);
    rig_run(&rig, 2000);
    rig_speak(&rig, "I would like to book a table for", 1000);
    rig_run(&rig, 9000);
    CHECK_INT(rig_when(&rig, "caller turn"), 3000 + 500 + 600);
}

TEST(model_failure_is_told_once_and_tried_again)
{
    RIG rig;
    rig_init(&rig);
    rig.model_failures = 1;
    rig_begin(&rig);
    rig_run(&rig, 2000);
    rig_speak(&rig, "hello there", 500);
    rig_run(&rig, 8000);
    CHECK_INT(rig_count(&rig, "error llm"), 1);
    CHECK(rig_has(&rig, "agent turn This is the answer."));
}

TEST(model_is_asked_three_times_and_no_sooner_than_it_wishes)
{
    static const struct {
        enum engine_error error;
        int64_t retry_us;
        int asks;
    } rows[] = {
        {ENGINE_TRANSIENT, 0, 3},
        {ENGINE_TRANSIENT, 700000, 3},
        {ENGINE_QUOTA, 700000, 3},
        {ENGINE_QUOTA, 0, 1},
        {ENGINE_TRANSIENT, 2000000, 1},
        {ENGINE_TRANSIENT, ENGINE_NO_RETRY, 1},
        {ENGINE_AUTH, 0, 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        RIG rig;
        rig_init(&rig);
        rig.model_failures = 10;
        rig.model_error = rows[i].error;
        rig.model_retry_us = rows[i].retry_us;
        rig_begin(&rig);
        rig_run(&rig, 2000);
        talk_chat(rig.talk, "hello there", rig.now_us);
        int64_t pauses_ms = (rows[i].asks - 1) * rows[i].retry_us / 1000;
        rig_run(&rig, (int)pauses_ms); /* the model takes its time as well */
        CHECK(10 - rig.model_failures < rows[i].asks);
        rig_run(&rig, 9000);
        CHECK_INT(10 - rig.model_failures, rows[i].asks);
        CHECK_INT(rig_count(&rig, "error llm"), 1);
    }
}

TEST(model_falls_back_after_two_failures)
{
    RIG rig;
    rig_init(&rig);
    rig.has_more[TALK_LLM] = true;
    rig.model_failures = 2;
    rig_begin(&rig);
    rig_run(&rig, 2000);
    rig_speak(&rig, "hello there", 500);
    rig_run(&rig, 8000);
    CHECK_INT(rig_count(&rig, "fall back llm"), 1);
    CHECK_INT(rig_count(&rig, "error llm"), 1);
    CHECK(rig_has(&rig, "agent turn This is the answer."));
}

TEST(a_model_that_never_answers_does_not_hang_the_call)
{
    RIG rig;
    rig_init(&rig);
    rig.is_model_mute = true;
    rig_begin(&rig);
    rig_run(&rig, 2000);
    rig_speak(&rig, "hello there", 500);
    rig_run(&rig, 20000);
    CHECK_INT(rig_count(&rig, "error llm"), 1);
    CHECK_INT(rig_count(&rig, "agent turn"), 2); /* it takes a while, and that it failed */
    CHECK(rig_when(&rig, "agent turn") < 14000);
    CHECK(rig_has(&rig, "state listening"));
}

TEST(voice_failure_reopens_and_says_the_sentence)
{
    RIG rig;
    rig_init(&rig);
    rig.voice_failures = 1;
    rig_begin(&rig);
    rig_run(&rig, 2000);
    rig_speak(&rig, "hello there", 500);
    rig_run(&rig, 8000);
    CHECK_INT(rig_count(&rig, "error tts"), 1);
    CHECK_INT(rig_count(&rig, "reopen tts"), 1);
    CHECK(rig_has(&rig, "agent turn This is the answer."));
}

TEST(a_voice_that_others_interrupt_is_not_given_up)
{
    static const struct {
        int interruptions, fallbacks;
    } cases[] = {{5, 0}, {7, 1}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        RIG rig;
        rig_init(&rig);
        rig.voice_failures = cases[i].interruptions;
        rig.voice_error = ENGINE_INTERRUPTED;
        rig.has_more[TALK_TTS] = true;
        rig_begin(&rig);
        rig_run(&rig, 2000);
        rig_speak(&rig, "hello there", 500);
        rig_run(&rig, 12000);
        CHECK_INT(rig_count(&rig, "fall back tts"), cases[i].fallbacks);
        CHECK(rig_has(&rig, "agent turn This is the answer."));
    }
}

TEST(a_voice_that_is_interrupted_for_ever_is_given_up)
{
    RIG rig;
    rig_init(&rig);
    rig.voice_failures = 1000;
    rig.voice_error = ENGINE_INTERRUPTED;
    rig_begin(&rig);
    rig_run(&rig, 2000);
    rig_speak(&rig, "hello there", 500);
    rig_run(&rig, 60000);
    CHECK(rig.voice_failures > 980);
    CHECK_TEXT(talk_state_name(rig.talk), "listening");
}

TEST(a_sentence_that_the_voice_refuses_is_left_out)
{
    RIG rig;
    rig_init(&rig);
    rig.reply =
        "This sentence is said to its end. The bad one comes next. Then there is a last one.";
    rig.unspeakable = "bad";
    rig_begin(&rig);
    rig_run(&rig, 2000);
    rig_speak(&rig, "hello there", 500);
    rig_run(&rig, 30000);
    CHECK(rig_has(&rig, "agent turn This sentence is said to its end. Then there is a last one."));
    CHECK_INT(rig_count(&rig, "speak The bad one"), 1);
    CHECK_TEXT(talk_state_name(rig.talk), "listening");
}

/* A frame that ends one line and begins the next counts for both, whatever stood between them. */
TEST(a_line_that_the_voice_refuses_leaves_none_behind_it_open)
{
    RIG rig;
    rig_init(&rig);
    rig.unspeakable = "bad";
    rig_begin(&rig);
    CHECK_INT(talk_say(rig.talk, "The first.", rig.now_us), OK);
    CHECK_INT(talk_say(rig.talk, "The bad one.", rig.now_us), OK);
    CHECK_INT(talk_say(rig.talk, "And the last.", rig.now_us), OK);
    rig_run(&rig, 20000);
    CHECK(rig_has(&rig, "agent turn And the last."));
    CHECK_TEXT(talk_state_name(rig.talk), "listening");
}

TEST(a_last_sentence_without_sound_leaves_the_line_to_end)
{
    RIG rig;
    rig_init(&rig);
    rig.reply = "This sentence is said to its end. Of the last one nothing comes.";
    rig.soundless = "nothing";
    rig_begin(&rig);
    rig_run(&rig, 2000);
    rig_speak(&rig, "hello there", 500);
    rig_run(&rig, 20000);
    CHECK_INT(rig_count(&rig, "speak Of the last one"), 1);
    CHECK(rig_has(&rig, "agent turn This sentence is said to its end."));
    CHECK_TEXT(talk_state_name(rig.talk), "listening");
}

TEST(a_voice_that_refuses_all_does_not_hang_the_call)
{
    RIG rig;
    rig_init(&rig);
    rig.reply = "Here is one. Here is another. Here is a third. Here is a fourth. Here is a fifth.";
    rig.unspeakable = "e";
    rig_begin(&rig);
    rig_run(&rig, 2000);
    rig_speak(&rig, "hello there", 500);
    rig_run(&rig, 30000);
    CHECK_INT(rig_count(&rig, "agent turn"), 0);
    CHECK_TEXT(talk_state_name(rig.talk), "listening");
}

TEST(a_mute_voice_does_not_hang_the_call)
{
    RIG rig;
    rig_init(&rig);
    rig.is_voice_mute = true;
    rig_begin(&rig);
    rig_run(&rig, 2000);
    rig_speak(&rig, "hello there", 500);
    rig_run(&rig, 60000);
    CHECK_INT(rig_count(&rig, "error tts"), 1);
    CHECK_INT(rig_count(&rig, "agent turn"), 0); /* nothing was heard, nothing is told */
    CHECK_TEXT(talk_state_name(rig.talk), "listening");
}

TEST(lost_recogniser_is_opened_again)
{
    RIG rig;
    rig_init(&rig);
    rig_begin(&rig);
    rig_run(&rig, 2000);
    struct stt_event lost = {.kind = STT_ERROR, .error = ENGINE_TRANSIENT, .is_fatal = true};
    talk_heard(rig.talk, &lost, rig.now_us);
    rig_run(&rig, 3000);
    CHECK_INT(rig_count(&rig, "error stt"), 1);
    CHECK_INT(rig_count(&rig, "reopen stt"), 1);
    rig_speak(&rig, "hello there", 500);
    rig_run(&rig, 8000);
    CHECK(rig_has(&rig, "agent turn This is the answer."));
}

TEST(end_call_waits_for_the_last_word)
{
    RIG rig;
    rig_init(&rig);
    rig.config.has_end_call = true;
    rig.tool = "endCall";
    rig_begin(&rig);
    rig_run(&rig, 2000);
    rig_speak(&rig, "that is all thank you", 500);
    rig_run(&rig, 20000);
    CHECK(rig.has_hung_up);
    CHECK_INT(rig_count(&rig, "agent turn"), 1); /* a goodbye of its own */
    CHECK(rig_when(&rig, "hang up") * 1000 >= rig.last_sound_us + 300000);
    CHECK(rig_when(&rig, "hang up") * 1000 <= rig.last_sound_us + 350000);
}

TEST(slow_tool_is_covered_by_holding_lines)
{
    RIG rig;
    rig_init(&rig);
    struct llm_tool tool = {.name = "order_status", .description = "", .parameters = "{}"};
    rig.config.tools = &tool;
    rig.config.tool_count = 1;
    rig.tool = "order_status";
    rig.reply = "It is on its way.";
    rig_begin(&rig);
    rig_run(&rig, 2000);
    rig_speak(&rig, "where is my order", 500);
    rig_run(&rig, 8000);
    CHECK(rig_has(&rig, "run order_status"));
    int64_t run_ms = rig_when(&rig, "run order_status");
    CHECK_INT(rig_when(&rig, "speak"), run_ms + 400);
    talk_tool_done(rig.talk, 1, true, "{\"status\":\"shipped\"}", rig.now_us);
    rig_run(&rig, 15000);
    CHECK(strstr(rig.request, "T:{\"status\":\"shipped\"}") != NULL);
    CHECK_INT(rig_count(&rig, "agent turn"), 1); /* holding line and answer are one turn */
    CHECK(rig_has(&rig, "It is on its way."));
    CHECK_INT(rig_count(&rig, " speak "), 3); /* one more after 3 s of silence */
}

TEST(quick_tool_needs_no_holding_line)
{
    RIG rig;
    rig_init(&rig);
    struct llm_tool tool = {.name = "order_status", .description = "", .parameters = "{}"};
    rig.config.tools = &tool;
    rig.config.tool_count = 1;
    rig.tool = "order_status";
    rig_begin(&rig);
    rig_run(&rig, 2000);
    rig_speak(&rig, "where is my order", 500);
    while (!rig_has(&rig, "run order_status"))
        rig_run(&rig, rig_ms(&rig) + 10);
    rig_run(&rig, rig_ms(&rig) + 300);
    talk_tool_done(rig.talk, 1, true, "shipped", rig.now_us);
    rig_run(&rig, 15000);
    CHECK_INT(rig_count(&rig, " speak "), 1);
}

TEST(late_tool_result_is_kept_after_an_interruption)
{
    RIG rig;
    rig_init(&rig);
    struct llm_tool tool = {.name = "order_status", .description = "", .parameters = "{}"};
    rig.config.tools = &tool;
    rig.config.tool_count = 1;
    rig.tool = "order_status";
    rig_begin(&rig);
    rig_run(&rig, 2000);
    rig_speak(&rig, "where is my order", 500);
    rig_run(&rig, 6000);
    talk_voice_started(rig.talk, rig.now_us);
    rig_run(&rig, 6500);
    rig_partial(&rig, "never mind");
    talk_tool_done(rig.talk, 1, true, "shipped", rig.now_us);
    rig.words = "never mind tell me the time";
    talk_voice_stopped(rig.talk, 6500000, 6700000);
    rig_run(&rig, 15000);
    CHECK(strstr(rig.request, "shipped") != NULL);
    CHECK(strstr(rig.request, "Still running") == NULL);
    CHECK(rig_has(&rig, "agent turn This is the answer."));
}

TEST(language_is_changed_by_the_tool)
{
    RIG rig;
    rig_init(&rig);
    rig.config.has_change_language = true;
    rig.tool = "changeLanguage";
    rig_begin(&rig);
    rig_run(&rig, 2000);
    rig_speak(&rig, "hindi please", 500);
    rig_run(&rig, 9000);
    CHECK(!rig_has(&rig, "language hi")); /* no argument: the model is told so, and goes on */
    CHECK(rig_has(&rig, "agent turn This is the answer."));
}

TEST(passages_reach_the_model)
{
    RIG rig;
    rig_init(&rig);
    rig.config.has_documents = true;
    rig.passage = "We open at nine.";
    rig_begin(&rig);
    rig_run(&rig, 2000);
    rig_speak(&rig, "when do you open", 500);
    rig_run(&rig, 9000);
    CHECK(rig_has(&rig, "look up when do you open"));
    CHECK(strstr(rig.request, "We open at nine.") != NULL);
}

TEST(text_in_a_foreign_script_is_not_spoken_and_told_once)
{
    RIG rig;
    rig_init(&rig);
    rig.reply = "नमस्ते, मैं आपकी मदद करूँगी।";
    rig_begin(&rig);
    for (int i = 0; i < 2; i++) {
        rig_run(&rig, rig_ms(&rig) + 2000);
        rig_speak(&rig, "hello there", 500);
        rig_run(&rig, rig_ms(&rig) + 8000);
    }
    CHECK_INT(rig_count(&rig, "error speech"), 1);
    CHECK(!rig_has(&rig, "speak नमस्ते"));
}

TEST(a_greeting_in_a_foreign_script_is_not_spoken_and_told)
{
    RIG rig;
    rig_init(&rig);
    rig.config.greeting = TALK_GREETING_STATIC;
    rig.config.greeting_text = "नमस्ते, मैं आपकी मदद करूँगी।";
    rig_begin(&rig);
    rig_run(&rig, 5000);
    CHECK_INT(rig_count(&rig, "error speech"), 1);
    CHECK_INT(rig_count(&rig, " speak "), 0);
    CHECK_INT(rig_count(&rig, "agent turn"), 0);
    rig_speak(&rig, "hello there", 500); /* the call carries on */
    rig_run(&rig, 12000);
    CHECK(rig_has(&rig, "agent turn This is the answer."));
}

TEST(caller_who_leaves_and_returns_hears_the_rest)
{
    RIG rig;
    rig_init(&rig);
    start_long_reply(&rig);
    size_t played = rig.played;
    talk_left(rig.talk, rig.now_us);
    rig_run(&rig, 12000);
    CHECK(rig.played - played <= 960);
    talk_joined(rig.talk, rig.now_us);
    rig_run(&rig, 30000);
    CHECK(rig_has(&rig, "And this sentence comes later."));
}

TEST(silent_caller_is_reminded_and_then_hung_up_on)
{
    RIG rig;
    rig_init(&rig);
    rig.config.caller_silence_us = 10000000;
    rig.config.caller_silence_count = 2;
    rig_begin(&rig);
    rig_run(&rig, 60000);
    CHECK_INT(rig_count(&rig, "agent turn"), 3); /* two questions and a goodbye */
    CHECK(rig.has_hung_up);
}

TEST(end_tells_what_was_heard_of_an_open_turn)
{
    RIG rig;
    rig_init(&rig);
    start_long_reply(&rig);
    talk_end(rig.talk, rig.now_us);
    rig_run(&rig, 9000);
    CHECK_INT(rig_count(&rig, "agent turn One two three"), 1);
    CHECK_INT(talk_say(rig.talk, "hello", rig.now_us), ERR_CONFLICT);
    CHECK_INT(talk_deadline_us(rig.talk), INT64_MAX);
}

TEST(typed_text_is_a_turn)
{
    RIG rig;
    rig_init(&rig);
    rig_begin(&rig);
    rig_run(&rig, 2000);
    talk_chat(rig.talk, "what time is it", rig.now_us);
    rig_run(&rig, 6000);
    CHECK(rig_has(&rig, "2000 caller turn what time is it"));
    CHECK(rig_has(&rig, "agent turn This is the answer."));
}

TEST(little_audio_is_asked_ahead)
{
    RIG rig;
    rig_init(&rig);
    rig.reply = "This is the first sentence of the answer to you. This is the second sentence of "
                "it all. This is the third sentence of them. This is the fourth one here. This "
                "is the fifth one now. This is the last.";
    rig_begin(&rig);
    rig_run(&rig, 2000);
    rig_speak(&rig, "tell me all", 500);
    size_t most = 0;
    while (rig_ms(&rig) < 30000) {
        rig_run(&rig, rig_ms(&rig) + 100);
        most = rig.queued > most ? rig.queued : most;
    }
    CHECK(most < 10 * 48000);
    CHECK(rig_has(&rig, "This is the last."));
    CHECK_INT(sound_ms(&rig) > 10000, 1);
}
