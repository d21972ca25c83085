#include "audio/vad.h"

#include <stdlib.h>

#include "signal.h"
#include "test.h"

enum { SECOND = AUDIO_IN_RATE_HZ, SECONDS = 8 };

struct heard {
    int started_ms, stopped_ms; /* the first of each, -1: never */
    int starts;
    int voiced_frames;
};

static struct heard listen(struct vad *vad, const int16_t *samples, size_t count)
{
    struct heard heard = {-1, -1, 0, 0};
    struct vad_result result;
    for (size_t i = 0; i + AUDIO_IN_SAMPLES <= count; i += AUDIO_IN_SAMPLES) {
        struct audio_frame frame = {.source = AUDIO_HEARD};
        memcpy(frame.samples, samples + i, sizeof(frame.samples));
        vad_input(vad, &frame, &result);
        int at_ms = (int)(i / 16) + AUDIO_FRAME_MS;
        if (result.change == VAD_STARTED && heard.starts++ == 0)
            heard.started_ms = at_ms;
        if (result.change == VAD_STOPPED && heard.stopped_ms < 0)
            heard.stopped_ms = at_ms;
        heard.voiced_frames += result.is_voiced;
    }
    return heard;
}

/* 3 s of noise, 2 s of voice in it, 3 s of noise */
static int16_t *scene(double noise, double voice)
{
    static int16_t samples[SECONDS * SECOND], speech[2 * SECOND];
    signal_noise(samples, SECONDS * SECOND, noise);
    signal_voice(speech, 2 * SECOND, AUDIO_IN_RATE_HZ, voice);
    for (size_t i = 0; i < 2 * SECOND; i++)
        samples[3 * SECOND + i] = (int16_t)(samples[3 * SECOND + i] + speech[i]);
    return samples;
}

TEST(vad_finds_speech_in_quiet_and_in_noise)
{
    static const struct {
        double noise, voice;
    } rows[] = {{0, 12000}, {30, 12000}, {30, 3000}, {300, 12000}, {1000, 16000}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(vad) vad = vad_new(&vad_defaults);
        struct heard heard = listen(vad, scene(rows[i].noise, rows[i].voice), SECONDS * SECOND);
        CHECK_INT(heard.starts, 1);
        CHECK(abs(heard.started_ms - 3100) < 150);
        CHECK(abs(heard.stopped_ms - 5550) < 200);
    }
}

TEST(vad_ignores_steady_noise)
{
    static int16_t samples[SECONDS * SECOND];
    static const double loud[] = {30, 300, 1000, 3000};
    for (size_t i = 0; i < ARRAY_LEN(loud); i++) {
        AUTO(vad) vad = vad_new(&vad_defaults);
        signal_noise(samples, 3 * SECOND, loud[i]);
        listen(vad, samples, 3 * SECOND);
        CHECK_INT(listen(vad, samples, 3 * SECOND).starts, 0);
    }
}

TEST(vad_keeps_what_came_before_the_start)
{
    static int16_t samples[3 * SECOND], prefix[SECOND];
    AUTO(vad) vad = vad_new(&vad_defaults);
    signal_voice(samples + SECOND, 2 * SECOND, AUDIO_IN_RATE_HZ, 12000);
    struct vad_result result = {0};
    struct audio_frame frame = {.source = AUDIO_HEARD};
    size_t end = 0;
    while (result.change != VAD_STARTED && end < 3 * SECOND) {
        memcpy(frame.samples, samples + end, sizeof(frame.samples));
        vad_input(vad, &frame, &result);
        end += AUDIO_IN_SAMPLES;
    }
    size_t count = vad_prefix(vad, prefix, SECOND);
    CHECK(count >= 16 * 360 && count <= vad_prefix_max_samples(vad));
    CHECK(end > SECOND && end - count < SECOND);
    CHECK(memcmp(prefix, samples + end - count, count * sizeof(*prefix)) == 0);
    CHECK_INT(vad_prefix(vad, prefix, 700), 640);
    CHECK(memcmp(prefix, samples + end - 640, 640 * sizeof(*prefix)) == 0);
}

TEST(vad_stops_when_nothing_is_sent)
{
    AUTO(vad) vad = vad_new(&vad_defaults);
    listen(vad, scene(30, 12000), 4 * SECOND);
    struct audio_frame frame = {.source = AUDIO_SILENCE};
    struct vad_result result;
    int frames = 0;
    do {
        vad_input(vad, &frame, &result);
        frames++;
    } while (result.change == VAD_SAME && frames < 100);
    CHECK_INT(result.change, VAD_STOPPED);
    CHECK_INT(frames, (550 + 19) / 20);
    CHECK(!result.is_speaking);
    CHECK(result.voiced_ms > 600);
}

TEST(vad_settings_move_start_and_stop)
{
    struct vad_config config = vad_defaults;
    config.min_speech_ms = 400;
    config.min_silence_ms = 1000;
    AUTO(vad) vad = vad_new(&config);
    struct heard heard = listen(vad, scene(30, 12000), SECONDS * SECOND);
    CHECK(heard.started_ms > 3350);
    CHECK(heard.stopped_ms > 5900);
    config.threshold = 1;
    AUTO(vad) strict = vad_new(&config);
    config.threshold = 0;
    AUTO(vad) lax = vad_new(&config);
    CHECK(listen(lax, scene(300, 2500), SECONDS * SECOND).voiced_frames >
          listen(strict, scene(300, 2500), SECONDS * SECOND).voiced_frames);
}

/* Somebody was cut off in mid-voice: who comes next begins to speak. */
TEST(vad_that_forgets_hears_a_new_start)
{
    AUTO(vad) vad = vad_new(&vad_defaults);
    const int16_t *samples = scene(30, 12000);
    CHECK_INT(listen(vad, samples, 4 * SECOND).starts, 1);
    vad_forget(vad);
    struct heard heard = listen(vad, samples + 4 * SECOND, 4 * SECOND);
    CHECK_INT(heard.starts, 1);
    CHECK(heard.started_ms < 200);
}
