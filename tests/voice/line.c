#include "line.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "audio/codec.h"
#include "audio/inlet.h"
#include "audio/resample.h"
#include "audio/vad.h"
#include "base/attr.h"
#include "base/mem.h"
#include "speaking.h"

enum {
    SPOKEN_HZ = 16000,
    SOUND_MAX_BYTES = SPOKEN_HZ * 60 * 2,
    BEFORE_FRAMES = 25,
    BEHIND_FRAMES = 40,
    HEARD_MAX_BYTES = 4 * 1024 * 1024,
    WORDS_MAX = 64,
    TEXT_SIZE = 512,
};

static bool keep(void *arg, const int16_t *samples, size_t count)
{
    return buf_append(arg, samples, count * sizeof(*samples)) == OK;
}

void said_by(const char *speaker, const char *text, struct said *out)
{
    struct synth_wish wish = {.language = "en", .speed = 1};
    struct fault fault;
    int rate_hz;
    AUTO_BUF spoken = BUF_INIT(SOUND_MAX_BYTES);
    snprintf(wish.speaker, sizeof(wish.speaker), "%s", speaker);
    *out = (struct said){0};
    if (flite_synth.open(&wish, &rate_hz, &fault) != OK)
        return;
    flite_synth.say(&wish, text, keep, &spoken);
    AUTO(resampler) up = resampler_new(rate_hz, AUDIO_OUT_RATE_HZ);
    size_t count = spoken.len / sizeof(int16_t), before = BEFORE_FRAMES * AUDIO_OUT_SAMPLES;
    size_t room = before + resampler_out_max(up, count) + BEHIND_FRAMES * AUDIO_OUT_SAMPLES;
    out->samples = mem_new_n(int16_t, room);
    size_t made =
        resampler_run(up, (const int16_t *)(void *)spoken.data, count, out->samples + before);
    out->count = before + made + BEHIND_FRAMES * AUDIO_OUT_SAMPLES;
}

void said_clear(struct said *said)
{
    mem_free(said->samples);
}

static double level(const int16_t *samples, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)samples[i] * samples[i];
    return count ? sqrt(sum / (double)count) : 0;
}

/* White noise, summed up and slowly forgotten. */
static void make_brown(int16_t *out, size_t count, unsigned seed)
{
    uint32_t state = seed * 2654435761u + 1;
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        sum = sum * 0.998 + ((double)(state >> 8) / (1 << 24) - 0.5) * 400;
        out[i] = (int16_t)fmax(-32000, fmin(32000, sum));
    }
}

/* Six who talk at once, none of whom is near. */
static void make_babble(int16_t *out, size_t count, unsigned seed)
{
    static const char *const lines[] = {
        "and then she told him that the garden had been sold long before anybody asked about it",
        "they were walking along the river when it started to snow and nobody had brought a coat",
        "seventeen of the books on that shelf belong to my uncle who lives near the mountains",
        "if we leave at once there is still time to see the second half of the football match",
        "never in my life have i eaten such a good apple cake as the one that your aunt made",
        "the old mayor said nothing at all while the others shouted at each other for an hour",
    };
    AUTO_MEM int32_t *sum = mem_new_n(int32_t, count);
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        struct said one;
        said_by(i % 2 ? "slt" : "rms", lines[i], &one);
        size_t at = (seed * 7919u + i * 20011u) % one.count;
        for (size_t k = 0; k < count; k++)
            sum[k] += one.samples[(at + k) % one.count] / 4;
        said_clear(&one);
    }
    for (size_t k = 0; k < count; k++)
        out[k] = (int16_t)MAX(MIN(sum[k], 32000), -32000);
}

void said_in_noise(struct said *said, enum noise noise, double db, unsigned seed)
{
    if (noise == NOISE_NONE)
        return;
    AUTO_MEM int16_t *added = mem_new_n(int16_t, said->count);
    if (noise == NOISE_BROWN)
        make_brown(added, said->count, seed);
    else
        make_babble(added, said->count, seed);
    size_t before = BEFORE_FRAMES * AUDIO_OUT_SAMPLES;
    size_t words = said->count - before - BEHIND_FRAMES * AUDIO_OUT_SAMPLES;
    double gain =
        level(said->samples + before, words) / level(added, said->count) / pow(10, db / 20);
    for (size_t i = 0; i < said->count; i++)
        said->samples[i] = (int16_t)fmax(-32767, fmin(32767, said->samples[i] + gain * added[i]));
}

static void hear(struct inlet *inlet, struct vad *vad, int64_t now_us, struct carried *out)
{
    struct audio_frame frame;
    struct vad_result result;
    while (inlet_output(inlet, now_us, &frame)) {
        vad_input(vad, &frame, &result);
        out->starts += result.change == VAD_STARTED;
        out->stops += result.change == VAD_STOPPED;
        if (result.change == VAD_STARTED) {
            int16_t prefix[16000];
            size_t count = vad_prefix(vad, prefix, 16000);
            (void)buf_append(&out->heard, prefix, count * sizeof(*prefix));
        } else if (result.is_speaking) {
            (void)buf_append(&out->heard, frame.samples, sizeof(frame.samples));
        }
    }
}

void line_carry(const struct said *said, size_t loss_every, struct carried *out)
{
    AUTO(codec_encoder) encoder = codec_encoder_new(CODEC_VOIP);
    AUTO(inlet) inlet = inlet_new();
    AUTO(vad) vad = vad_new(&vad_defaults);
    uint8_t packet[CODEC_PACKET_MAX_BYTES];
    *out = (struct carried){0};
    buf_init(&out->heard, HEARD_MAX_BYTES);
    if (loss_every)
        codec_encoder_set_loss(encoder, (int)(100 / loss_every));
    for (size_t i = 0; (i + 1) * AUDIO_OUT_SAMPLES <= said->count; i++) {
        int16_t frame[AUDIO_OUT_SAMPLES];
        memcpy(frame, said->samples + i * AUDIO_OUT_SAMPLES, sizeof(frame));
        size_t len = codec_encode(encoder, frame, packet);
        int64_t now_us = (int64_t)i * AUDIO_FRAME_US;
        if (!loss_every || i % loss_every != loss_every / 2)
            inlet_input(inlet, packet, len, (uint16_t)i, (uint32_t)i * 960, now_us);
        hear(inlet, vad, now_us, out);
    }
}

void carried_clear(struct carried *carried)
{
    buf_clear(&carried->heard);
}

static size_t split(char *text, char *words[WORDS_MAX])
{
    size_t count = 0;
    for (char *word; count < WORDS_MAX && (word = strsep(&text, " "));)
        if (*word)
            words[count++] = word;
    return count;
}

unsigned word_errors(const char *want, const char *got)
{
    char a[TEXT_SIZE], b[TEXT_SIZE], *x[WORDS_MAX], *y[WORDS_MAX];
    snprintf(a, sizeof(a), "%s", want);
    snprintf(b, sizeof(b), "%s", got);
    size_t n = split(a, x), m = split(b, y);
    unsigned row[WORDS_MAX + 1];
    for (size_t k = 0; k <= m; k++)
        row[k] = (unsigned)k;
    for (size_t i = 1; i <= n; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t k = 1; k <= m; k++) {
            unsigned same = diagonal + (strcmp(x[i - 1], y[k - 1]) != 0);
            diagonal = row[k];
            row[k] = MIN(same, MIN(row[k], row[k - 1]) + 1);
        }
    }
    return row[m];
}

size_t words_of(const char *text)
{
    size_t count = 1;
    for (; *text; text++)
        count += *text == ' ';
    return count;
}
