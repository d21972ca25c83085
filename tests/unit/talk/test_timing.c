/* Where the time of a turn went. */
#include "rig.h"
#include "test.h"

#define RIG __attribute__((cleanup(rig_clear))) struct rig

static int64_t after_ms(const struct rig *rig, enum timing_point point)
{
    int64_t at_us = rig->timing.at_us[point];
    return at_us ? (at_us - rig->timing.from_us) / 1000 : -1;
}

TEST(an_answer_tells_each_point_that_it_passed)
{
    RIG rig;
    rig_init(&rig);
    rig.config.has_documents = true;
    rig.passage = "We open at nine.";
    rig_begin(&rig);
    rig_run(&rig, 2000);
    rig_speak(&rig, "what time is it", 1000);
    rig_run(&rig, 6000);
    CHECK_INT(rig.timings, 1); /* the caller's turn has none */
    CHECK_INT(rig.timing.from_us, 3000000);
    CHECK_INT(after_ms(&rig, POINT_ENDPOINT), 550);
    int64_t looked = after_ms(&rig, POINT_LOOK_UP), found = after_ms(&rig, POINT_LOOKED_UP);
    int64_t asked = after_ms(&rig, POINT_ASKED), token = after_ms(&rig, POINT_FIRST_TOKEN);
    CHECK(looked >= 200 && looked < 550); /* begun in the pause */
    CHECK(found >= looked && asked == found);
    CHECK_INT(token, asked + rig.model_us / 1000);
    CHECK_INT(after_ms(&rig, POINT_HOLD), -1);
    CHECK_INT(after_ms(&rig, POINT_FIRST_SENTENCE), 550); /* it waited for the endpoint */
    CHECK_INT(after_ms(&rig, POINT_FIRST_BYTE), 550 + rig.voice_us / 1000);
    CHECK_INT(after_ms(&rig, POINT_FIRST_PACKET), (rig.first_sound_us - 3000000) / 1000);
}

TEST(a_reply_that_was_thrown_away_leaves_no_point)
{
    RIG rig;
    rig_init(&rig);
    rig_begin(&rig);
    rig_run(&rig, 2000);
    rig_speak(&rig, "I want to order", 800);
    rig_run(&rig, rig_ms(&rig) + 150); /* an early reply is asked for */
    rig_speak(&rig, "two pizzas please", 800);
    int64_t end_us = rig.now_us - 200000;
    rig_run(&rig, 9000);
    CHECK_INT(rig.timings, 1);
    CHECK_INT(rig.timing.from_us, end_us);
    CHECK(after_ms(&rig, POINT_ASKED) >= 0);
}

TEST(an_apology_and_a_holding_line_are_timed_too)
{
    RIG rig;
    rig_init(&rig);
    rig.is_model_mute = true;
    rig_begin(&rig);
    rig_run(&rig, 2000);
    rig_speak(&rig, "what time is it", 1000);
    rig_run(&rig, 40000);
    REQUIRE(rig.timings >= 1);
    CHECK_INT(after_ms(&rig, POINT_FIRST_TOKEN), -1);
    CHECK(after_ms(&rig, POINT_HOLD) > 2000 && after_ms(&rig, POINT_HOLD) < 4000);
    CHECK(after_ms(&rig, POINT_FIRST_PACKET) > after_ms(&rig, POINT_HOLD));
    CHECK_INT(rig.timings, 1); /* a turn is answered once */
}

TEST(a_typed_turn_counts_from_the_message)
{
    RIG rig;
    rig_init(&rig);
    rig_begin(&rig);
    rig_run(&rig, 2000);
    talk_chat(rig.talk, "what time is it", rig.now_us);
    rig_run(&rig, 6000);
    CHECK_INT(rig.timings, 1);
    CHECK_INT(rig.timing.from_us, 2000000);
    CHECK_INT(after_ms(&rig, POINT_ENDPOINT), -1);
    CHECK_INT(after_ms(&rig, POINT_ASKED), 0);
    CHECK(after_ms(&rig, POINT_FIRST_PACKET) > 0);
}

TEST(what_answers_nobody_is_not_timed)
{
    RIG rig;
    rig_init(&rig);
    rig.config.greeting = TALK_GREETING_STATIC;
    rig.config.greeting_text = "Welcome to the desk.";
    rig_begin(&rig);
    rig_run(&rig, 4000);
    CHECK(talk_say(rig.talk, "A line from the office.", rig.now_us) == OK);
    rig_run(&rig, 9000);
    CHECK_INT(rig_count(&rig, "agent turn"), 2);
    CHECK_INT(rig.timings, 0);
}
