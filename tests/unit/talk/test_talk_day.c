/* A day of conversation: questions, barge-ins, typed text, tools whose results come late, noise,
 * silence, losses. What the conversation holds in memory does not grow with it. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/llm.h"
#include "engine/stt.h"
#include "engine/tts.h"
#include "talk/internal.h"
#include "test.h"

enum {
    DAY_TURNS = 24 * 3600 / 4,
    HELD_MAX_BYTES = 96 * 1024, /* history has 64 KB of texts */
};

struct day {
    struct talk_config config;
    struct talk *talk;
    int64_t now_us;
    uint32_t model_gen, voice_gen, tool_gen;
    size_t queued;
    unsigned turns, errors, hang_ups, most_actions;
};

static void act_all(struct day *day)
{
    struct talk_action action;
    unsigned count = 0;
    while (talk_action(day->talk, &action)) {
        count++;
        if (action.what == TALK_DO_ASK)
            day->model_gen = action.gen;
        if (action.what == TALK_DO_SPEAK)
            day->voice_gen = action.gen;
        if (action.what == TALK_DO_RUN_TOOL)
            day->tool_gen = action.gen;
        if (action.what == TALK_DO_UNSPEAK)
            day->queued = 0;
        if (action.what == TALK_DO_FLUSH)
            talk_heard(day->talk, &(struct stt_event){.kind = STT_FLUSHED, .gen = action.gen},
                       day->now_us);
        day->turns += action.what == TALK_DO_TURN;
        day->errors += action.what == TALK_DO_ERROR;
        day->hang_ups += action.what == TALK_DO_HANG_UP;
    }
    day->most_actions = count > day->most_actions ? count : day->most_actions;
}

static void pass(struct day *day, int64_t ms)
{
    day->now_us += ms * 1000;
    talk_time(day->talk, day->now_us);
    act_all(day);
}

static void speak(struct day *day, const char *words)
{
    talk_voice_started(day->talk, day->now_us);
    pass(day, 400);
    if (words)
        talk_heard(day->talk, &(struct stt_event){.kind = STT_PARTIAL, .text = words}, day->now_us);
    pass(day, 400);
    if (words)
        talk_heard(day->talk, &(struct stt_event){.kind = STT_FINAL, .text = words}, day->now_us);
    talk_voice_stopped(day->talk, day->now_us - 200000, day->now_us);
    pass(day, 600);
}

static void tell_model(struct day *day, struct llm_event event)
{
    event.gen = day->model_gen;
    talk_model(day->talk, &event, day->now_us);
    act_all(day);
}

static void give_voice(struct day *day, bool is_done)
{
    struct tts_event sound = {.kind = TTS_AUDIO, .gen = day->voice_gen, .count = 48000};
    if (talk_voice(day->talk, &sound, day->now_us))
        day->queued += sound.count;
    sound.kind = TTS_DONE;
    if (is_done && talk_voice(day->talk, &sound, day->now_us))
        abort();
    act_all(day);
    talk_played(day->talk, day->queued / 2, day->now_us);
    day->queued -= day->queued / 2;
    act_all(day);
}

/* One of the things that happen; the reply to it may be heard, cut, or still be made. */
static void live(struct day *day, unsigned i)
{
    static const char *const questions[] = {"what time do you open", "and on sunday",
                                            "where is my order", "can I bring my cat"};
    speak(day, i % 7 == 3 ? NULL : questions[i % 4]);
    if (i % 11 == 5)
        talk_chat(day->talk, "typed in between", day->now_us);
    if (i % 5 == 2) {
        tell_model(day, (struct llm_event){
                            .kind = LLM_TOOL_CALL,
                            .call = {.id = "t", .name = "order_status", .arguments = "{}"}});
        tell_model(day, (struct llm_event){.kind = LLM_DONE});
        if (i % 10 == 2)
            speak(day, "never mind that"); /* its result comes late, or never */
        if (i % 20 != 12)
            talk_tool_done(day->talk, day->tool_gen, i % 3 > 0, "shipped", day->now_us);
        act_all(day);
    }
    tell_model(day, (struct llm_event){.kind = LLM_TEXT, .text = "We open at nine. "});
    if (i % 9 != 4)
        tell_model(day, (struct llm_event){.kind = LLM_DONE});
    if (i % 13 == 6)
        tell_model(day, (struct llm_event){.kind = LLM_ERROR, .error = ENGINE_TRANSIENT});
    give_voice(day, i % 3 > 0);
    if (i % 17 == 8) {
        talk_left(day->talk, day->now_us);
        pass(day, 5000);
        talk_joined(day->talk, day->now_us);
        act_all(day);
    }
    if (i % 23 == 11)
        (void)!talk_say(day->talk, "The shop closes soon.", day->now_us);
    for (int k = 0; k < 6; k++)
        pass(day, 500);
}

static size_t held_bytes(void)
{
    return mallinfo2().uordblks;
}

TEST(a_day_of_conversation_holds_no_more_than_its_first_minutes)
{
    static const struct llm_tool tool = {
        .name = "order_status", .description = "", .parameters = "{}"};
    struct day day = {.now_us = 1000000};
    day.config = (struct talk_config){
        .iso = "en",
        .system = "Be brief.",
        .greeting_text = "",
        .greeting_instruction = "",
        .is_interruptible = true,
        .tools = &tool,
        .tool_count = 1,
        .endpoint_min_us = 500000,
        .silence_us = 550000,
    };
    size_t before = held_bytes();
    day.talk = talk_new(&day.config);
    for (int i = 0; i < 3; i++)
        talk_engine_opened(day.talk, (enum talk_engine)i, false, day.now_us);
    talk_begin(day.talk, day.now_us);
    talk_joined(day.talk, day.now_us);
    act_all(&day);
    for (unsigned i = 0; i < DAY_TURNS; i++) {
        live(&day, i);
        size_t held = held_bytes() - before;
        CHECK(day.talk->mind.history.count <= HISTORY_MAX_ENTRIES);
        CHECK(day.talk->mind.history.bytes <= HISTORY_MAX_BYTES);
        if (!CHECK(held <= HELD_MAX_BYTES)) /* under a sanitizer nothing is counted */
            break;
    }
    CHECK(day.now_us > INT64_C(24) * 3600 * 1000000);
    CHECK(day.turns > DAY_TURNS);
    CHECK_INT(day.hang_ups, 0);
    CHECK(day.most_actions < 100);
    talk_free(day.talk);
}
