/* The voice session over a wire that only notes what it is told. */
#include "vendor/speaker.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "engine/registry.h"
#include "rig.h"
#include "test.h"

struct wire { /* one at a time */
    struct speaker *speaker;
    char log[256];
    uint32_t id;
};

static struct wire wire;

static void note(const char *word, const char *text)
{
    size_t len = strlen(wire.log);
    snprintf(wire.log + len, sizeof(wire.log) - len, "%s%s;", word, text);
}

static void *wire_open(struct speaker *speaker)
{
    wire = (struct wire){.speaker = speaker};
    return &wire;
}

static void wire_say(void *arg, uint32_t id, const char *text)
{
    ((struct wire *)arg)->id = id;
    note("say ", text);
}

static void wire_stop(void *arg, uint32_t id)
{
    (void)arg;
    (void)id;
    note("stop", "");
}

static void wire_close(void *arg)
{
    (void)arg;
    note("close", "");
}

struct heard {
    struct loop *loop;
    char log[256];
    struct tts *cancel_in_audio;
};

static void on_event(void *arg, const struct tts_event *event)
{
    static const char *const names[] = {"audio", "done", "error"};
    struct heard *heard = arg;
    size_t len = strlen(heard->log);
    snprintf(heard->log + len, sizeof(heard->log) - len, "%s %u;", names[event->kind], event->gen);
    if (heard->cancel_in_audio)
        speaker_cancel(heard->cancel_in_audio);
}

static struct tts *open_tts(struct heard *heard)
{
    static const struct speaker_wire functions = {wire_open, wire_say, wire_stop, wire_close,
                                                  48000};
    static const struct engine engine = {
        .info = {.id = "x", .speed = {0.6, 1.5}, .volume = {1, 1}, .emotions = "calm glad"}};
    const struct tts_config config = {
        .language = "en", .speaker = "", .emotion = "glad", .speed = 0.2, .volume = 2};
    *heard = (struct heard){.loop = loop_new("speaker")};
    return speaker_open(&engine, heard->loop, &config, on_event, heard, &functions);
}

static void close_tts(struct tts *tts, struct heard *heard)
{
    speaker_close(tts);
    loop_run_for(heard->loop, 1000);
    loop_free(heard->loop);
}

static const int16_t samples[960] = {1000, 1000};

TEST(speaker_says_one_sentence_after_the_other)
{
    struct heard heard;
    struct tts *tts = open_tts(&heard);
    speaker_speak(tts, 1, "One.", false);
    speaker_speak(tts, 2, "Two.", true);
    loop_run_for(heard.loop, 1000);
    CHECK_TEXT(wire.log, "say One.;");
    speaker_sound(wire.speaker, wire.id, samples, sizeof(samples));
    speaker_done(wire.speaker, wire.id);
    loop_run_for(heard.loop, 1000);
    CHECK_TEXT(wire.log, "say One.;say Two.;");
    speaker_sound(wire.speaker, wire.id, samples, sizeof(samples));
    speaker_done(wire.speaker, wire.id);
    CHECK_TEXT(heard.log, "audio 1;done 1;audio 2;done 2;");
    close_tts(tts, &heard);
}

TEST(speaker_drops_what_comes_late)
{
    struct heard heard;
    struct tts *tts = open_tts(&heard);
    speaker_speak(tts, 1, "One.", false);
    speaker_speak(tts, 2, "Two.", false);
    loop_run_for(heard.loop, 1000);
    uint32_t old = wire.id;
    speaker_cancel(tts);
    CHECK_TEXT(wire.log, "say One.;stop;");
    speaker_sound(wire.speaker, old, samples, sizeof(samples));
    speaker_speak(tts, 3, "Three.", true);
    loop_run_for(heard.loop, 1000);
    speaker_sound(wire.speaker, old, samples, sizeof(samples));
    speaker_done(wire.speaker, old);
    speaker_failed(wire.speaker, old, ENGINE_TRANSIENT, "late", false);
    CHECK_TEXT(heard.log, "");
    speaker_sound(wire.speaker, wire.id, samples, sizeof(samples));
    speaker_done(wire.speaker, wire.id);
    speaker_done(wire.speaker, wire.id); /* twice */
    CHECK_TEXT(heard.log, "audio 3;done 3;");
    close_tts(tts, &heard);
}

TEST(speaker_may_be_cancelled_inside_its_own_event)
{
    struct heard heard;
    struct tts *tts = open_tts(&heard);
    speaker_speak(tts, 1, "One.", false);
    loop_run_for(heard.loop, 1000);
    heard.cancel_in_audio = tts;
    int16_t many[9600] = {1000};
    speaker_sound(wire.speaker, wire.id, many, sizeof(many));
    speaker_done(wire.speaker, wire.id);
    CHECK_TEXT(heard.log, "audio 1;");
    close_tts(tts, &heard);
}

TEST(speaker_goes_on_after_a_sentence_that_failed)
{
    struct heard heard;
    struct tts *tts = open_tts(&heard);
    speaker_speak(tts, 1, "One.", false);
    speaker_speak(tts, 2, "Two.", false);
    loop_run_for(heard.loop, 1000);
    speaker_failed(wire.speaker, wire.id, ENGINE_TRANSIENT, "no", false);
    loop_run_for(heard.loop, 1000);
    CHECK_TEXT(heard.log, "error 1;");
    CHECK_TEXT(wire.log, "say One.;say Two.;");
    speaker_sound(wire.speaker, wire.id, "OggS is no sound", 16);
    CHECK_TEXT(heard.log, "error 1;error 2;");
    close_tts(tts, &heard);
}

TEST(speaker_keeps_wishes_within_the_engines_range)
{
    struct heard heard;
    struct tts *tts = open_tts(&heard);
    const struct speaker *speaker = (struct speaker *)tts;
    CHECK(speaker_speed(speaker) == 0.6);
    CHECK(speaker_volume(speaker) == 1);
    CHECK_TEXT(speaker_emotion(speaker), "glad");
    CHECK_TEXT(speaker_voice(speaker), "");
    close_tts(tts, &heard);
}
