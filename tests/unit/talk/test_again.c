/* A recogniser that breaks within a turn: another one gets the turn's sound. */
#include "engine/stt.h"
#include "rig.h"
#include "test.h"

#define RIG __attribute__((cleanup(rig_clear))) struct rig

static void hear(struct rig *rig, enum stt_event_kind kind, const char *text)
{
    talk_heard(
        rig->talk,
        &(struct stt_event){
            .kind = kind, .text = text, .error = ENGINE_TRANSIENT, .is_fatal = kind == STT_ERROR},
        rig->now_us);
    rig_run(rig, rig_ms(rig));
}

static void break_after(struct rig *rig, const char *words)
{
    rig_init(rig);
    rig->is_stt_mute = true; /* the test speaks for it */
    rig_begin(rig);
    rig_run(rig, 2000);
    talk_voice_started(rig->talk, rig->now_us);
    rig_run(rig, 3000);
    hear(rig, STT_FINAL, words);
    CHECK(talk_is_hearing(rig->talk));
    hear(rig, STT_ERROR, NULL);
    CHECK_INT(rig->reopened, 1);
}

TEST(words_of_a_turn_that_is_heard_again_are_told_anew)
{
    RIG rig;
    break_after(&rig, "my name is");
    talk_hears_again(rig.talk, true, rig.now_us);
    talk_voice_stopped(rig.talk, rig.now_us, rig.now_us);
    hear(&rig, STT_FINAL, "my name is John");
    rig_run(&rig, 8000);
    CHECK(rig_has(&rig, "caller turn my name is John"));
    CHECK_INT(rig_count(&rig, "caller turn"), 1);
}

TEST(what_follows_the_words_that_are_told_anew_is_added_to_them)
{
    RIG rig;
    break_after(&rig, "my name is");
    talk_hears_again(rig.talk, true, rig.now_us);
    hear(&rig, STT_FINAL, "my name is John");
    hear(&rig, STT_FINAL, "and I live in Pune.");
    talk_voice_stopped(rig.talk, rig.now_us, rig.now_us);
    rig_run(&rig, 8000);
    CHECK(rig_has(&rig, "caller turn my name is John and I live in Pune."));
}

TEST(of_a_turn_that_is_kept_in_part_the_told_words_stay)
{
    RIG rig;
    break_after(&rig, "my name is");
    talk_hears_again(rig.talk, false, rig.now_us);
    talk_voice_stopped(rig.talk, rig.now_us, rig.now_us);
    hear(&rig, STT_FINAL, "John");
    rig_run(&rig, 8000);
    CHECK(rig_has(&rig, "caller turn my name is John"));
}

TEST(words_stand_when_the_second_hearing_brings_none)
{
    RIG rig;
    break_after(&rig, "my name is John.");
    talk_hears_again(rig.talk, true, rig.now_us);
    talk_voice_stopped(rig.talk, rig.now_us, rig.now_us);
    rig_run(&rig, 8000);
    CHECK(rig_has(&rig, "caller turn my name is John."));
}

TEST(a_break_in_the_pause_is_flushed_again_and_waited_for)
{
    RIG rig;
    rig_init(&rig);
    rig.is_stt_mute = true;
    rig_begin(&rig);
    rig_run(&rig, 2000);
    talk_voice_started(rig.talk, rig.now_us);
    rig_run(&rig, 3000);
    talk_voice_stopped(rig.talk, rig.now_us, rig.now_us);
    rig_run(&rig, 4500); /* the flush is owed */
    hear(&rig, STT_ERROR, NULL);
    CHECK(talk_is_hearing(rig.talk)); /* it is not void yet */
    uint32_t turn = talk_turn(rig.talk);
    talk_hears_again(rig.talk, true, rig.now_us);
    rig_run(&rig, 5800); /* longer than a first hearing may take */
    CHECK_INT(talk_turn(rig.talk), turn);
    hear(&rig, STT_FINAL, "hello there");
    rig_run(&rig, 9000);
    CHECK(rig_has(&rig, "caller turn hello there"));
    CHECK(talk_turn(rig.talk) > turn);
    CHECK_INT(rig_count(&rig, "Sorry"), 0);
}

TEST(nothing_heard_twice_is_asked_for_within_four_seconds)
{
    RIG rig;
    rig_init(&rig);
    rig.is_stt_mute = true;
    rig_begin(&rig);
    rig_run(&rig, 2000);
    talk_voice_started(rig.talk, rig.now_us);
    rig_run(&rig, 3000);
    talk_voice_stopped(rig.talk, rig.now_us, rig.now_us);
    rig_run(&rig, 4500);
    hear(&rig, STT_ERROR, NULL);
    talk_hears_again(rig.talk, true, rig.now_us);
    rig_run(&rig, 9000);
    CHECK(rig_has(&rig, "speak Sorry, I did not catch that."));
    CHECK(rig_when(&rig, "speak Sorry") - 3000 <= 3900);
}
