/* What nobody may do without end: callers who type, speak or come back, models that loop, stream or
 * ask for too much, voices that do not stop. And how a call ends. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/metrics.h"
#include "engine/llm.h"
#include "engine/stt.h"
#include "engine/tts.h"
#include "rig.h"
#include "test.h"

#define RIG __attribute__((cleanup(rig_clear))) struct rig

static char *letters(size_t count)
{
    char *text = mem_zalloc(count + 1);
    for (size_t i = 0; i < count; i++)
        text[i] = i % 8 == 7 ? ' ' : (char)('a' + i % 8);
    return text;
}

/* The end of a call. */

static void say_goodbye(struct rig *rig)
{
    rig->config.has_end_call = true;
    rig->tool = "endCall";
    rig_begin(rig);
    rig_run(rig, 2000);
    rig_speak(rig, "that is all thank you", 500);
    while (!rig_has(rig, "agent turn"))
        rig_run(rig, rig_ms(rig) + 20);
}

TEST(a_question_behind_the_goodbye_keeps_the_call)
{
    RIG rig;
    rig_init(&rig);
    say_goodbye(&rig);
    rig_run(&rig, rig_ms(&rig) + 200);
    rig_speak(&rig, "wait when do you open", 800);
    rig_run(&rig, rig_ms(&rig) + 10000);
    CHECK(rig_has(&rig, "caller turn wait when do you open"));
    CHECK(rig_has(&rig, "agent turn This is the answer."));
    CHECK(!rig.has_hung_up);
}

TEST(a_goodbye_back_or_a_cough_does_not_keep_the_call)
{
    static const char *const words[] = {"thank you bye", "okay", NULL};
    for (size_t i = 0; i < 3; i++) {
        RIG rig;
        rig_init(&rig);
        say_goodbye(&rig);
        rig_run(&rig, rig_ms(&rig) + 200);
        rig_speak(&rig, words[i], 300);
        CHECK(!rig.has_hung_up);
        rig_run(&rig, rig_ms(&rig) + 4000);
        CHECK(rig.has_hung_up);
        CHECK_INT(rig_count(&rig, "agent turn"), 1);
        CHECK_INT(rig_count(&rig, "caller turn"), words[i] ? 2 : 1);
    }
}

TEST(noise_does_not_keep_the_call)
{
    RIG rig;
    rig_init(&rig);
    say_goodbye(&rig);
    talk_voice_started(rig.talk, rig.now_us);
    rig_run(&rig, rig_ms(&rig) + 5000);
    CHECK(rig.has_hung_up);
}

TEST(noise_does_not_keep_back_a_goodbye)
{
    RIG rig;
    rig_init(&rig);
    rig.config.caller_silence_us = 5000000;
    rig.config.caller_silence_count = 1;
    rig_begin(&rig);
    while (!rig_has(&rig, "speak Goodbye"))
        rig_run(&rig, rig_ms(&rig) + 1);
    talk_voice_started(rig.talk, rig.now_us); /* and does not stop */
    rig_run(&rig, rig_ms(&rig) + 3100);
    CHECK(talk_deadline_us(rig.talk) > rig.now_us); /* nothing is due at each moment */
    rig_run(&rig, rig_ms(&rig) + 5000);
    CHECK(rig_has(&rig, "agent turn Goodbye"));
    CHECK(rig.has_hung_up);
}

TEST(words_over_the_goodbye_keep_the_call_where_it_may_not_be_cut)
{
    RIG rig;
    rig_init(&rig);
    rig.config.is_interruptible = false;
    rig.config.has_end_call = true;
    rig.tool = "endCall";
    rig_begin(&rig);
    rig_run(&rig, 2000);
    rig_speak(&rig, "that is all thank you", 500);
    while (!rig.is_playing)
        rig_run(&rig, rig_ms(&rig) + 20);
    rig_speak(&rig, "no wait when do you open", 300);
    CHECK_INT(rig_count(&rig, "pause"), 0); /* the goodbye is a line like any other */
    rig_run(&rig, rig_ms(&rig) + 12000);
    CHECK(rig_has(&rig, "agent turn This is the answer."));
    CHECK(!rig.has_hung_up);
}

TEST(reminders_are_not_cut_where_nothing_is)
{
    RIG rig;
    rig_init(&rig);
    rig.config.is_interruptible = false;
    rig.config.caller_silence_us = 5000000;
    rig_begin(&rig);
    while (!rig.is_playing)
        rig_run(&rig, rig_ms(&rig) + 20);
    talk_voice_started(rig.talk, rig.now_us);
    rig_partial(&rig, "yes I am here");
    CHECK(rig.is_playing);
    CHECK_INT(rig_count(&rig, "pause"), 0);
}

TEST(the_last_words_are_a_turn)
{
    RIG rig;
    rig_init(&rig);
    rig_begin(&rig);
    rig_run(&rig, 2000);
    talk_chat(rig.talk, "typed first", rig.now_us);
    rig_run(&rig, 2020);
    talk_chat(rig.talk, "typed then", rig.now_us); /* while the reply is being made */
    talk_voice_started(rig.talk, rig.now_us);
    talk_heard(rig.talk, &(struct stt_event){.kind = STT_FINAL, .text = "and I also"}, rig.now_us);
    rig_partial(&rig, "want a");
    talk_end(rig.talk, rig.now_us);
    rig_run(&rig, 3000);
    CHECK(rig_has(&rig, "caller turn typed first"));
    CHECK(rig_has(&rig, "caller turn typed then"));
    CHECK(rig_has(&rig, "caller turn and I also want a"));
    CHECK(rig_when(&rig, "typed then") <= rig_when(&rig, "and I also"));
}

TEST(words_before_a_loss_are_a_turn_once)
{
    RIG rig;
    rig_init(&rig);
    rig_begin(&rig);
    rig_run(&rig, 2000);
    talk_voice_started(rig.talk, rig.now_us);
    rig_partial(&rig, "my number is");
    talk_left(rig.talk, rig.now_us);
    rig_run(&rig, 3000);
    CHECK_INT(rig_count(&rig, "caller turn my number is"), 1);
    talk_joined(rig.talk, rig.now_us);
    rig_run(&rig, 4000);
    rig_speak(&rig, "sorry I was away", 800);
    rig_run(&rig, 9000);
    talk_end(rig.talk, rig.now_us);
    rig_run(&rig, 9100);
    CHECK_INT(rig_count(&rig, "caller turn"), 2);
    CHECK(strstr(rig.request, "U:my number is") != NULL);
}

/* Callers. */

TEST(a_flood_of_typed_messages_is_two_answers)
{
    RIG rig;
    rig_init(&rig);
    rig_begin(&rig);
    rig_run(&rig, 2000);
    int64_t dropped = metric_read(METRIC_TYPED_DROPPED);
    for (int i = 0; i < 1000; i++) {
        char text[20];
        snprintf(text, sizeof(text), "message %d", i);
        talk_chat(rig.talk, text, rig.now_us);
        if (i % 5 == 4)
            rig_run(&rig, rig_ms(&rig) + 7); /* 1.4 s in all */
    }
    rig_run(&rig, 12000);
    CHECK(rig.asks <= 3);
    CHECK_INT(metric_read(METRIC_TYPED_DROPPED) - dropped, 1000 - 6);
    CHECK(rig_has(&rig, "caller turn message 0\n"));
    CHECK(rig_has(&rig, "caller turn message 1\nmessage 2\nmessage 3\nmessage 4\n"));
    int before = rig.asks;
    talk_chat(rig.talk, "one more", rig.now_us);
    rig_run(&rig, 16000);
    CHECK_INT(rig.asks, before + 1);
    CHECK(rig_has(&rig, "caller turn one more"));
}

TEST(a_typed_message_is_cut)
{
    RIG rig;
    rig_init(&rig);
    rig_begin(&rig);
    AUTO_MEM char *text = mem_zalloc(3 * 60000 + 1);
    for (size_t i = 0; i < 60000; i++)
        memcpy(text + 3 * i, "\xe0\xa4\x95", 3);
    talk_chat(rig.talk, text, rig.now_us);
    rig_run(&rig, 1500);
    const char *told = strstr(rig.log.data, "caller turn ");
    REQUIRE(told != NULL);
    CHECK_INT(strcspn(told + strlen("caller turn "), "\n"), 3 * 2000);
}

TEST(typed_messages_wait_for_what_may_not_be_cut)
{
    RIG rig;
    rig_init(&rig);
    rig.config.is_interruptible = false;
    rig_begin(&rig);
    for (int i = 0; i < 60; i++) {
        talk_chat(rig.talk, "and", rig.now_us);
        rig_run(&rig, rig_ms(&rig) + 1000);
    }
    rig_run(&rig, rig_ms(&rig) + 10000);
    CHECK(rig.asks <= 45); /* 1.3 s of sound for each */
    CHECK_INT(rig_count(&rig, "unspeak"), 0);
    CHECK(rig_count(&rig, "agent turn") >= rig.asks - 1);
}

TEST(a_turn_has_an_end_and_another_follows)
{
    RIG rig;
    rig_init(&rig);
    rig_begin(&rig);
    rig_run(&rig, 2000);
    AUTO_MEM char *text = letters(40000);
    talk_voice_started(rig.talk, rig.now_us);
    talk_heard(rig.talk, &(struct stt_event){.kind = STT_FINAL, .text = text}, rig.now_us);
    rig_run(&rig, 2200);
    talk_voice_stopped(rig.talk, 2100000, rig.now_us);
    rig_run(&rig, 9000);
    CHECK_INT(rig_count(&rig, "caller turn"), 3);
    CHECK_INT(rig.asks, 1); /* the caller had the floor all the time */
    for (const char *at = rig.log.data; (at = strstr(at, "caller turn ")); at++)
        CHECK(strcspn(at + strlen("caller turn "), "\n") <= 16000);
    CHECK_INT(rig_count(&rig, "agent turn"), 1);
}

TEST(words_that_are_not_final_are_cut_to_a_turn)
{
    RIG rig;
    rig_init(&rig);
    rig_begin(&rig);
    AUTO_MEM char *text = letters(200000);
    talk_voice_started(rig.talk, rig.now_us);
    rig_partial(&rig, text);
    talk_end(rig.talk, rig.now_us);
    rig_run(&rig, 1500);
    const char *told = strstr(rig.log.data, "caller turn ");
    REQUIRE(told != NULL);
    CHECK_INT(strcspn(told + strlen("caller turn "), "\n"), 16000);
}

/* Models. */

static void begin_question(struct rig *rig)
{
    rig_begin(rig);
    rig_run(rig, 2000);
    rig_speak(rig, "where is my order", 500);
}

static void ask_with_mute_model(struct rig *rig)
{
    rig->is_model_mute = true;
    begin_question(rig);
    rig_run(rig, 3300);
    REQUIRE(rig_has(rig, "caller turn"));
}

static void tell_model(struct rig *rig, struct llm_event event)
{
    event.gen = (uint32_t)rig->asks;
    talk_model(rig->talk, &event, rig->now_us);
    rig_run(rig, rig_ms(rig) + 1);
}

TEST(a_model_that_always_calls_tools_is_asked_six_times)
{
    RIG rig;
    rig_init(&rig);
    rig.config.has_change_language = true;
    rig.tool = "no_such_tool";
    rig.is_tool_mad = true;
    begin_question(&rig);
    rig_run(&rig, 120000);
    CHECK_INT(rig.asks, 6);
    CHECK_INT(rig.offered, 0);
    CHECK(strstr(rig.request, "no further tool can be used") != NULL);
    CHECK_INT(rig_count(&rig, "agent turn"), 1); /* the apology */
    rig.tool = NULL;
    rig_speak(&rig, "are you there", 500);
    rig_run(&rig, 130000);
    CHECK(rig_has(&rig, "agent turn This is the answer."));
    CHECK_INT(rig.offered, 1);
}

TEST(a_model_that_calls_tools_to_greet_is_not_heeded)
{
    RIG rig;
    rig_init(&rig);
    rig.config.greeting = TALK_GREETING_GENERATE;
    rig.config.has_end_call = true;
    rig.tool = "endCall";
    rig_begin(&rig);
    rig_run(&rig, 20000);
    CHECK(!rig.has_hung_up);
    CHECK_INT(rig.asks, 1);
    CHECK_INT(rig_count(&rig, "agent turn"), 1); /* the greeting of the service */
}

TEST(a_tool_that_never_answers_does_not_hang_the_call)
{
    RIG rig;
    rig_init(&rig);
    struct llm_tool tool = {.name = "order_status", .description = "", .parameters = "{}"};
    rig.config.tools = &tool;
    rig.config.tool_count = 1;
    rig.tool = "order_status";
    begin_question(&rig);
    rig_run(&rig, 60000);
    CHECK_INT(rig.asks, 2);
    CHECK(strstr(rig.request, "T:Failed: it did not answer in time.") != NULL);
    CHECK(rig_has(&rig, "This is the answer."));
}

TEST(a_failure_behind_the_holding_line_is_apologised_for)
{
    RIG rig;
    rig_init(&rig);
    struct llm_tool tool = {.name = "order_status", .description = "", .parameters = "{}"};
    rig.config.tools = &tool;
    rig.config.tool_count = 1;
    rig.tool = "order_status";
    begin_question(&rig);
    rig_run(&rig, 6000); /* the holding line was said */
    rig.model_failures = 10;
    talk_tool_done(rig.talk, 1, true, "shipped", rig.now_us);
    rig_run(&rig, 30000);
    CHECK_INT(rig_count(&rig, "agent turn"), 2);
    CHECK_INT(rig_count(&rig, " speak "), 2);
}

TEST(a_reply_has_an_end)
{
    RIG rig;
    rig_init(&rig);
    ask_with_mute_model(&rig);
    AUTO_MEM char *text = letters(1000);
    int told = 0;
    while (!rig_has(&rig, "unask") && told++ < 100)
        tell_model(&rig, (struct llm_event){.kind = LLM_TEXT, .text = text});
    CHECK_INT(told, 17);
    CHECK_INT(rig_count(&rig, "unask"), 1);
    size_t spoken = 0;
    rig_run(&rig, 1500 * 1000);
    for (const char *at = rig.log.data; (at = strstr(at, " speak ")); at++)
        spoken += strcspn(at + strlen(" speak "), "\n");
    CHECK(spoken > 14000 && spoken <= 16000);
    CHECK_INT(rig_count(&rig, "agent turn"), 1);
    CHECK_TEXT(talk_state_name(rig.talk), "listening");
}

/* A model that begins and breaks off has not worked: it counts up to the next one's turn. */
TEST(words_before_a_failure_do_not_make_it_good)
{
    RIG rig;
    rig_init(&rig);
    rig.has_more[TALK_LLM] = true;
    ask_with_mute_model(&rig);
    for (int i = 0; i < 2; i++) {
        tell_model(&rig, (struct llm_event){.kind = LLM_TEXT, .text = "We are open today. And "});
        tell_model(&rig,
                   (struct llm_event){.kind = LLM_ERROR, .error = ENGINE_TRANSIENT, .message = ""});
        rig_run(&rig, rig_ms(&rig) + 6000);
        talk_chat(rig.talk, "again", rig.now_us);
        rig_run(&rig, rig_ms(&rig) + 10);
    }
    CHECK_INT(rig_count(&rig, "fall back llm"), 1);
}

TEST(one_huge_delta_is_cut)
{
    RIG rig;
    rig_init(&rig);
    ask_with_mute_model(&rig);
    AUTO_MEM char *text = letters(10 * 1024 * 1024);
    tell_model(&rig, (struct llm_event){.kind = LLM_TEXT, .text = text});
    CHECK_INT(rig_count(&rig, "unask"), 1);
    memset(text, 'x', 100000); /* no space, no sentence */
    rig_run(&rig, rig_ms(&rig) + 10);
    talk_chat(rig.talk, "again", rig.now_us);
    rig_run(&rig, rig_ms(&rig) + 10);
    tell_model(&rig, (struct llm_event){.kind = LLM_TEXT, .text = text});
    CHECK_INT(rig_count(&rig, "unask"), 2);
    CHECK(rig_has(&rig, "speak xxxx"));
}

TEST(a_model_that_trickles_for_ever_is_stopped)
{
    RIG rig;
    rig_init(&rig);
    ask_with_mute_model(&rig);
    int told = 0;
    while (!rig_has(&rig, "unask") && told++ < 100) {
        tell_model(&rig, (struct llm_event){.kind = LLM_TEXT, .text = "and "});
        rig_run(&rig, rig_ms(&rig) + 1000);
    }
    CHECK(told >= 55 && told <= 62);
    rig_run(&rig, rig_ms(&rig) + 30000);
    CHECK_INT(rig_count(&rig, "error"), 0);
    CHECK_INT(rig_count(&rig, "agent turn"), 1);
}

/* The model that goes on after it would be paid for what nobody hears. */
TEST(a_voice_that_is_given_up_ends_the_answer_of_the_model)
{
    RIG rig;
    rig_init(&rig);
    rig.is_voice_mute = true;
    ask_with_mute_model(&rig);
    int told = 0;
    while (!rig_has(&rig, "unask") && told++ < 50) {
        tell_model(&rig, (struct llm_event){.kind = LLM_TEXT, .text = "And one more. "});
        rig_run(&rig, rig_ms(&rig) + 1000);
    }
    CHECK(told <= 20); /* of 50: when the voice was given up */
    CHECK_INT(rig_count(&rig, "unask"), 1);
    CHECK_TEXT(talk_state_name(rig.talk), "listening");
}

/* Nothing of a line is asked for while the voice is away: the caller is not told twice to wait. */
TEST(holding_lines_do_not_pile_up_while_the_voice_is_away)
{
    RIG rig;
    rig_init(&rig);
    ask_with_mute_model(&rig);
    rig.voice_failures = 2; /* the second closes it for a second */
    rig_run(&rig, rig_ms(&rig) + 6000);
    CHECK_INT(rig_count(&rig, "reopen tts"), 2);
    CHECK_INT(rig_count(&rig, "speak One moment, please."), 3); /* as often as it was tried */
    tell_model(&rig, (struct llm_event){.kind = LLM_TEXT, .text = "It is on its way."});
    tell_model(&rig, (struct llm_event){.kind = LLM_DONE});
    rig_run(&rig, rig_ms(&rig) + 5000);
    CHECK(rig_has(&rig, "agent turn One moment, please. It is on its way."));
}

TEST(a_model_that_says_nothing_for_ever_is_a_failure)
{
    RIG rig;
    rig_init(&rig);
    ask_with_mute_model(&rig);
    int64_t from_ms = rig_ms(&rig);
    while (!rig_has(&rig, "error llm") && rig_ms(&rig) < from_ms + 100000) {
        tell_model(&rig, (struct llm_event){.kind = LLM_TEXT, .text = ""});
        rig_run(&rig, rig_ms(&rig) + 1000);
    }
    CHECK(rig_ms(&rig) - from_ms <= 62000);
    rig_run(&rig, rig_ms(&rig) + 10000);
    CHECK_INT(rig_count(&rig, "agent turn"), 2); /* holding lines, and the apology */
}

static void call_tool(struct rig *rig, const char *name, const char *arguments)
{
    tell_model(rig, (struct llm_event){.kind = LLM_TOOL_CALL,
                                       .call = {.id = "t", .name = name, .arguments = arguments}});
}

TEST(what_cannot_be_run_is_said_to_the_model)
{
    RIG rig;
    rig_init(&rig);
    struct llm_tool tool = {.name = "order_status", .description = "", .parameters = "{}"};
    rig.config.tools = &tool;
    rig.config.tool_count = 1;
    ask_with_mute_model(&rig);
    AUTO_MEM char *huge = letters(10 * 1024 * 1024);
    AUTO_MEM char *deep = mem_zalloc(2001);
    memset(deep, '[', 1000);
    memset(deep + 1000, ']', 1000);
    call_tool(&rig, "order_status", huge);
    call_tool(&rig, "order_status", deep);
    call_tool(&rig, "order_status", "[1]");
    call_tool(&rig, huge, "{}");
    call_tool(&rig, NULL, NULL);
    call_tool(&rig, "order_status", "{\"a\":\"\xff\"}");
    for (int i = 0; i < 1000; i++)
        call_tool(&rig, "nothing", "{}");
    tell_model(&rig, (struct llm_event){.kind = LLM_DONE});
    CHECK_INT(rig_count(&rig, " run "), 0);
    CHECK_INT(rig.asks, 2);
    CHECK(strstr(rig.request, "T:Failed: the arguments are too long.") != NULL);
    CHECK(strstr(rig.request, "T:Failed: the arguments are not JSON, or too deep.") != NULL);
    CHECK(strstr(rig.request, "T:Failed: the arguments are not a JSON object.") != NULL);
    CHECK(strstr(rig.request, "T:Failed: there is no such tool.") != NULL);
    CHECK(strstr(rig.request, "S:998 or more tool calls were not run") != NULL);
    rig_run(&rig, rig_ms(&rig) + 100);
    call_tool(&rig, "order_status", "null"); /* no arguments, in the manner of some */
    tell_model(&rig, (struct llm_event){.kind = LLM_DONE});
    CHECK_INT(rig_count(&rig, "run order_status"), 1);
}

/* Vendors refuse a conversation that has an id twice, for good. */
TEST(no_two_calls_of_a_conversation_have_one_id)
{
    RIG rig;
    rig_init(&rig);
    ask_with_mute_model(&rig);
    for (int answers = 0; answers < 2; answers++) {
        call_tool(&rig, "nothing", "{}"); /* each of them is "t" */
        call_tool(&rig, "nothing", "{}");
        tell_model(&rig, (struct llm_event){.kind = LLM_DONE});
        rig_run(&rig, rig_ms(&rig) + 100);
    }
    char *ids[5] = {0}, *rest = rig.ids;
    for (int i = 0; i < 4; i++) {
        REQUIRE((ids[i] = strsep(&rest, " ")) != NULL && *ids[i]);
        for (int k = 0; k < i; k++)
            CHECK(strcmp(ids[i], ids[k]) != 0);
    }
    CHECK_TEXT(ids[0], "t");
}

/* What the tenant is told. */

TEST(a_failure_is_told_in_our_own_words)
{
    static const struct {
        enum engine_error error;
        const char *detail, *text;
    } rows[] = {
        {ENGINE_TIMEOUT, "10.0.0.7:8080 timed out", "The language model did not answer in time."},
        {ENGINE_AUTH, "HTTP 401: bad key sk-123",
         "The language model refused this service's access."},
        {ENGINE_TRANSIENT, "", "The language model could not be reached."},
        {ENGINE_PROTOCOL, NULL, "The language model gave an answer that cannot be understood."},
        {ENGINE_OK, NULL, "The language model failed."},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        RIG rig;
        rig_init(&rig);
        ask_with_mute_model(&rig);
        tell_model(&rig, (struct llm_event){
                             .kind = LLM_ERROR, .error = rows[i].error, .message = rows[i].detail});
        CHECK_TEXT(rig.error, rows[i].text);
        CHECK(rig.detail[0] != 0);
        if (rows[i].detail && *rows[i].detail)
            CHECK_TEXT(rig.detail, rows[i].detail);
    }
}

/* Voices. */

TEST(a_voice_that_does_not_stop_is_stopped)
{
    RIG rig;
    rig_init(&rig);
    rig.is_voice_mute = true;
    begin_question(&rig);
    while (!rig_has(&rig, " speak "))
        rig_run(&rig, rig_ms(&rig) + 10);
    size_t kept = 0;
    for (int i = 0; i < 100000 && !rig_has(&rig, "error tts"); i++) {
        struct tts_event sound = {.kind = TTS_AUDIO, .gen = 1, .count = 4800};
        kept += talk_voice(rig.talk, &sound, rig.now_us) ? sound.count : 0;
        if (i % 64 == 0)
            rig_run(&rig, rig_ms(&rig) + 1);
    }
    CHECK(kept > 0 && kept < 120 * 48000);
    CHECK_TEXT(rig.error, "The voice gave an answer that cannot be understood.");
}
