/* A voice that delivers Opus: its packets reach the caller as they are, and all else of a call is
 * as with samples: pauses, cuts, transcript, fixed lines, another voice in between. */
#include <string.h>

#include "../unit/audio/signal.h"
#include "audio/codec.h"
#include "base/attr.h"
#include "base/buf.h"
#include "test.h"
#include "world.h"

static const char long_answer[] = "One two three four five six seven eight nine ten eleven twelve "
                                  "thirteen fourteen fifteen sixteen. And this comes much later.";

enum {
    FRAME_US = 20000,
    LOUDEST = 16000, /* of a tone of 9,000 whose phase jumps, as a codec has it */
    SUMS_MAX_BYTES = 64 * 1024,
};

static const char *say_long(const struct llm_request *request)
{
    (void)request;
    return long_answer;
}

static struct scene {
    struct world world;
    struct world_call call;
    struct buf sums; /* of the packets that the voice has made */
    struct sim_caller *caller;
} scene;

static void scene_open(void)
{
    world_begin(&scene.world, RICH_USD4);
    world_defaults(&scene.call);
    buf_init(&scene.sums, SUMS_MAX_BYTES);
    sim_engines.has_packets = true;
    sim_engines.packets = &scene.sums;
}

static void scene_close(void)
{
    world_end(&scene.world);
    buf_clear(&scene.sums);
    scene = (struct scene){0};
}

static bool ask(void)
{
    sim_engines.utterances[0] = "count please";
    scene.caller = world_talk(&scene.world, &scene.call);
    if (!CHECK(scene.caller != NULL))
        return false;
    sim_speak(scene.caller, 800);
    world_run(4000);
    return true;
}

static uint32_t made(size_t i)
{
    uint32_t sum = 0;
    if (i < scene.sums.len / sizeof(sum))
        memcpy(&sum, scene.sums.data + i * sizeof(sum), sizeof(sum));
    return sum;
}

static size_t made_count(void)
{
    return scene.sums.len / sizeof(uint32_t);
}

static bool is_silence(const struct sim_frame *frame)
{
    return frame->sum == sim_sum(codec_silence, sizeof(codec_silence));
}

/* How many of the voice's packets the caller has got from a frame on: each as it was made, in their
 * order, none twice, none missing; between them silence alone. -1: something else. */
static int relayed(const struct sim_caller *caller, size_t from, size_t first)
{
    size_t count, at = first;
    const struct sim_frame *frames = sim_frames(caller, &count);
    for (size_t i = from; i < count; i++) {
        if (is_silence(&frames[i]))
            continue;
        if (frames[i].sum != made(at++))
            return -1;
    }
    return (int)(at - first);
}

/* Media time goes on by the frame and, in silence, with the clock; nothing cracks. */
static void check_stream(const struct sim_caller *caller)
{
    size_t count;
    const struct sim_frame *frames = sim_frames(caller, &count);
    for (size_t i = 1; i < count; i++) {
        uint32_t step = frames[i].timestamp - frames[i - 1].timestamp;
        int64_t gap_us = frames[i].at_us - frames[i - 1].at_us;
        CHECK(step > 0 && step % AUDIO_OUT_SAMPLES == 0);
        CHECK(frames[i].is_first == (step > AUDIO_OUT_SAMPLES));
        int64_t off_us = gap_us - (int64_t)(step / AUDIO_OUT_SAMPLES) * FRAME_US;
        CHECK(off_us >= -FRAME_US && off_us <= FRAME_US);
        CHECK(frames[i].loudest <= LOUDEST);
    }
}

TEST(packets_of_the_voice_reach_the_caller_as_they_are)
{
    scene_open();
    sim_engines.reply = say_long;
    REQUIRE(ask());
    world_run(12000);
    CHECK(made_count() > 400);
    CHECK_INT(relayed(scene.caller, 0, 0), made_count());
    CHECK(sim_told("transcript.assistant One two three"));
    CHECK(sim_told("sixteen. And this comes much later."));
    check_stream(scene.caller);
    size_t count;
    const struct sim_frame *frames = sim_frames(scene.caller, &count);
    CHECK_INT(count, made_count() + 3); /* silence after it, then nothing */
    CHECK(count > 3 && is_silence(&frames[count - 1]) && !frames[count - 1].is_loud);
    scene_close();
}

TEST(a_cough_pauses_packets_and_none_is_lost)
{
    scene_open();
    sim_engines.reply = say_long;
    REQUIRE(ask());
    sim_engines.utterances[1] = ""; /* sound without words */
    sim_speak(scene.caller, 200);
    world_run(1000);
    CHECK_INT(sim_loud(scene.caller, world_ms() - 400, world_ms() - 200), 0);
    world_run(15000);
    CHECK_INT(relayed(scene.caller, 0, 0), made_count());
    CHECK(sim_told("sixteen. And this comes much later."));
    CHECK_INT(sim_engines.tts_speaks, 2);
    check_stream(scene.caller);
    CHECK_INT(world_end_call(&scene.world, "c1"), OK);
    CHECK_INT(sim_store_row("c1")->false_interruptions, 1);
    scene_close();
}

TEST(packets_that_follow_a_cut_are_not_heard)
{
    scene_open();
    sim_engines.reply = say_long;
    REQUIRE(ask());
    sim_engines.has_partials = true;
    sim_engines.utterances[1] = "stop please";
    int64_t from_ms = world_ms();
    sim_speak(scene.caller, 1000);
    world_run(900);
    int heard = relayed(scene.caller, 0, 0);
    CHECK(heard > 50 && heard < (int)made_count());
    CHECK(sim_last_loud_ms(scene.caller, world_ms()) - from_ms <= 60 + 100 + 2 * 20);
    size_t old = made_count(), frames;
    sim_frames(scene.caller, &frames);
    world_run(12000);
    CHECK_INT(relayed(scene.caller, frames, old), made_count() - old); /* the next answer whole */
    CHECK(made_count() > old);
    check_stream(scene.caller);
    scene_close();
}

TEST(a_fixed_line_of_packets_is_kept_for_the_next_call)
{
    scene_open();
    scene.call.agent.greeting_mode = GREETING_STATIC;
    scene.call.agent.greeting_text = "Welcome to the desk. How can I help you?";
    struct sim_caller *first = world_talk(&scene.world, &scene.call);
    REQUIRE(first != NULL);
    world_run(6000);
    size_t packets = made_count();
    CHECK(packets > 100);
    CHECK_INT(relayed(first, 0, 0), packets);
    struct sim_caller *second = world_talk(&scene.world, &scene.call);
    REQUIRE(second != NULL);
    world_run(6000);
    CHECK_INT(sim_engines.tts_speaks, 2); /* its two sentences, once */
    CHECK_INT(made_count(), packets);
    CHECK_INT(relayed(second, 0, 0), packets);
    scene_close();
}

TEST(another_voice_says_the_rest_and_nothing_cracks)
{
    scene_open();
    sim_engines.reply = say_long;
    sim_engines.tts_breaks_at = 96000;
    sim_engines.utterances[0] = "count please";
    scene.caller = world_talk(&scene.world, &scene.call);
    REQUIRE(scene.caller != NULL);
    sim_speak(scene.caller, 800);
    for (int i = 0; i < 500 && sim_engines.tts_breaks_at; i++)
        world_run(10);
    sim_engines.has_packets = false; /* of the one that is opened in its place */
    world_run(18000);
    int packets = 0; /* heard of the first */
    CHECK_INT(made_count(), 100);
    CHECK(sim_told("sixteen. And this comes much later."));
    size_t count;
    const struct sim_frame *frames = sim_frames(scene.caller, &count);
    while ((size_t)packets < count && frames[packets].sum == made((size_t)packets))
        packets++;
    CHECK(packets > 1);
    CHECK((int)count > packets + 300); /* the rest, encoded */
    check_stream(scene.caller);
    scene_close();
}

static bool was_made(uint32_t sum)
{
    for (size_t i = 0; i < made_count(); i++)
        if (made(i) == sum)
            return true;
    return false;
}

/* The first frame that our encoder makes after the voice's packets goes on from nothing: the far
 * side has not heard what it encoded before. */
static int fresh_frames(const struct sim_caller *caller)
{
    int16_t tone[AUDIO_OUT_SAMPLES];
    uint8_t packet[CODEC_PACKET_MAX_BYTES];
    AUTO(codec_encoder) encoder = codec_encoder_new(CODEC_VOIP);
    signal_tone(tone, AUDIO_OUT_SAMPLES, AUDIO_OUT_RATE_HZ, 440, 9000);
    uint32_t fresh = sim_sum(packet, codec_encode(encoder, tone, packet));
    size_t count;
    const struct sim_frame *frames = sim_frames(caller, &count);
    int found = 0;
    for (size_t i = 1; i < count; i++) {
        bool is_ours = !was_made(frames[i].sum) && !is_silence(&frames[i]);
        if (!is_ours || !was_made(frames[i - 1].sum))
            continue;
        CHECK_INT(frames[i].sum, fresh);
        found++;
    }
    return found;
}

/* Sentences of two kinds in turn, none waiting for the other. */
TEST(samples_and_packets_follow_each_other_in_one_call)
{
    scene_open();
    sim_engines.reply = say_long;
    REQUIRE(ask());
    world_run(9000);
    for (int i = 0; i < 8; i++) {
        sim_engines.has_packets = i % 2 == 0;
        CHECK_INT(world_say(&scene.world, "c1", "This is said just between."), OK);
        world_run(100);
    }
    world_run(25000);
    CHECK_INT(sim_told_count("transcript.assistant This is said just between."), 8);
    CHECK(sim_told("sixteen"));
    CHECK(fresh_frames(scene.caller) > 1);
    check_stream(scene.caller);
    scene_close();
}
