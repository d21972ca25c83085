/* Opus by libopus. Settings and their costs: docs/engines.md, Sound. */
#include "audio/codec.h"

#include <assert.h>
#include <opus/opus.h>

#include "base/clock.h"
#include "base/mem.h"

enum {
    VOIP_BITRATE = 28000,    /* mono speech is transparent from 24,000 on */
    CELT_BITRATE = 40000,    /* CELT needs half as much again for the same quality */
    COMPLEXITY = 5,          /* 8 costs twice the time, 0 half of it and is audibly rougher */
    PACKET_MAX_TICKS = 5760, /* 120 ms, RFC 6716 section 3.2.5 */
    PACKET_MAX_FRAMES = 48,  /* of 2.5 ms */
    COST_FRAMES = 10,        /* that are encoded at a time to know what one costs, */
    COST_ROUNDS = 6,         /* the quickest of so many: the first ones find cold caches */
};

const uint8_t codec_silence[3] = {0xF8, 0xFF, 0xFE}; /* full band, mono, one frame: the flag */

struct codec_encoder {
    OpusEncoder *opus;
    enum codec_profile profile, wanted; /* wanted: from the next reset on */
};

struct codec_decoder {
    OpusDecoder *opus;
};

struct profile {
    int application;
    int bitrate;
    int has_fec;
    int complexity;
};

static const struct profile profiles[] = {
    [CODEC_VOIP] = {OPUS_APPLICATION_VOIP, VOIP_BITRATE, 1, COMPLEXITY},
    [CODEC_VOIP_PLAIN] = {OPUS_APPLICATION_VOIP, VOIP_BITRATE, 1, 0},
    [CODEC_CELT] = {OPUS_APPLICATION_RESTRICTED_LOWDELAY, CELT_BITRATE, 0, COMPLEXITY},
    [CODEC_CELT_PLAIN] = {OPUS_APPLICATION_RESTRICTED_LOWDELAY, CELT_BITRATE, 0, 0},
};

static void set_up(struct codec_encoder *encoder, enum codec_profile profile)
{
    const struct profile *p = &profiles[profile];
    encoder->profile = encoder->wanted = profile;
    opus_encoder_ctl(encoder->opus, OPUS_SET_BITRATE(p->bitrate));
    opus_encoder_ctl(encoder->opus, OPUS_SET_COMPLEXITY(p->complexity));
    opus_encoder_ctl(encoder->opus, OPUS_SET_INBAND_FEC(p->has_fec));
}

struct codec_encoder *codec_encoder_new(enum codec_profile profile)
{
    struct codec_encoder *encoder = mem_new(struct codec_encoder);
    int error = 0;
    encoder->opus =
        opus_encoder_create(AUDIO_OUT_RATE_HZ, 1, profiles[profile].application, &error);
    assert(encoder->opus && error == OPUS_OK);
    opus_encoder_ctl(encoder->opus, OPUS_SET_SIGNAL(OPUS_SIGNAL_VOICE));
    set_up(encoder, profile);
    return encoder;
}

void codec_encoder_free(struct codec_encoder *encoder)
{
    if (!encoder)
        return;
    opus_encoder_destroy(encoder->opus);
    mem_free(encoder);
}

void codec_encoder_reset(struct codec_encoder *encoder)
{
    opus_encoder_ctl(encoder->opus, OPUS_RESET_STATE);
    if (encoder->wanted == encoder->profile)
        return;
    opus_encoder_ctl(encoder->opus, OPUS_SET_APPLICATION(profiles[encoder->wanted].application));
    set_up(encoder, encoder->wanted);
}

void codec_encoder_change(struct codec_encoder *encoder, enum codec_profile profile)
{
    if (profiles[profile].application == profiles[encoder->profile].application)
        set_up(encoder, profile);
    else
        encoder->wanted = profile;
}

enum codec_profile codec_encoder_profile(const struct codec_encoder *encoder)
{
    return encoder->profile;
}

/* A rich sound, no silence: a sawtooth of 120 Hz whose loudness goes up and down as syllables do.
 */
static void make_voice(int16_t *samples, size_t count)
{
    enum { PERIOD = AUDIO_OUT_RATE_HZ / 120, SYLLABLE = AUDIO_OUT_RATE_HZ / 5 };
    for (size_t i = 0; i < count; i++) {
        int saw = (int)(i % PERIOD) * 16000 / PERIOD - 8000;
        int loudness = (int)(i % SYLLABLE) * 100 / SYLLABLE;
        samples[i] = (int16_t)(saw * (20 + loudness) / 120);
    }
}

int64_t codec_frame_cost_ns(enum codec_profile profile)
{
    int16_t voice[AUDIO_OUT_SAMPLES * 10];
    uint8_t packet[CODEC_PACKET_MAX_BYTES];
    make_voice(voice, ARRAY_LEN(voice));
    AUTO(codec_encoder) encoder = codec_encoder_new(profile);
    int64_t least_us = INT64_MAX;
    for (int round = 0; round < COST_ROUNDS; round++) {
        int64_t began_us = clock_cpu_us();
        for (size_t i = 0; i < COST_FRAMES; i++)
            codec_encode(encoder, voice + i * AUDIO_OUT_SAMPLES, packet);
        least_us = MIN(least_us, clock_cpu_us() - began_us);
    }
    return least_us * 1000 / COST_FRAMES;
}

void codec_encoder_set_loss(struct codec_encoder *encoder, int percent)
{
    opus_encoder_ctl(encoder->opus, OPUS_SET_PACKET_LOSS_PERC(MIN(MAX(percent, 0), 100)));
}

size_t codec_encode(struct codec_encoder *encoder, const int16_t samples[AUDIO_OUT_SAMPLES],
                    uint8_t out[CODEC_PACKET_MAX_BYTES])
{
    opus_int32 len =
        opus_encode(encoder->opus, samples, AUDIO_OUT_SAMPLES, out, CODEC_PACKET_MAX_BYTES);
    assert(len > 0);
    return (size_t)len;
}

static struct codec_decoder *new_decoder(int rate_hz)
{
    struct codec_decoder *decoder = mem_new(struct codec_decoder);
    int error = 0;
    decoder->opus = opus_decoder_create(rate_hz, 1, &error);
    assert(decoder->opus && error == OPUS_OK);
    return decoder;
}

struct codec_decoder *codec_decoder_new(void)
{
    return new_decoder(AUDIO_IN_RATE_HZ);
}

struct codec_decoder *codec_decoder_new_full(int gain_q8_db)
{
    struct codec_decoder *decoder = new_decoder(AUDIO_OUT_RATE_HZ);
    opus_decoder_ctl(decoder->opus, OPUS_SET_GAIN(gain_q8_db));
    return decoder;
}

void codec_decoder_free(struct codec_decoder *decoder)
{
    if (!decoder)
        return;
    opus_decoder_destroy(decoder->opus);
    mem_free(decoder);
}

static size_t decode(struct codec_decoder *decoder, const uint8_t *payload, size_t len,
                     size_t samples, int from_redundancy, int16_t *out)
{
    int count =
        opus_decode(decoder->opus, payload, (opus_int32)len, out, (int)samples, from_redundancy);
    return count > 0 ? (size_t)count : 0;
}

size_t codec_decode(struct codec_decoder *decoder, const uint8_t *payload, size_t len,
                    int16_t out[CODEC_DECODED_MAX_SAMPLES])
{
    if (!codec_packet_ticks(payload, len))
        return 0;
    return decode(decoder, payload, len, CODEC_DECODED_MAX_SAMPLES, 0, out);
}

size_t codec_decode_full(struct codec_decoder *decoder, const uint8_t *payload, size_t len,
                         int16_t out[CODEC_FULL_MAX_SAMPLES])
{
    if (!codec_packet_ticks(payload, len))
        return 0;
    return decode(decoder, payload, len, CODEC_FULL_MAX_SAMPLES, 0, out);
}

size_t codec_recover(struct codec_decoder *decoder, const uint8_t *next, size_t len,
                     size_t lost_samples, int16_t out[CODEC_DECODED_MAX_SAMPLES])
{
    return decode(decoder, next, len, MIN(lost_samples, CODEC_DECODED_MAX_SAMPLES), 1, out);
}

size_t codec_conceal(struct codec_decoder *decoder, size_t lost_samples,
                     int16_t out[CODEC_DECODED_MAX_SAMPLES])
{
    return decode(decoder, NULL, 0, MIN(lost_samples, CODEC_DECODED_MAX_SAMPLES), 0, out);
}

size_t codec_packet_ticks(const uint8_t *payload, size_t len)
{
    if (len == 0)
        return 0;
    int ticks = opus_packet_get_nb_samples(payload, (opus_int32)len, AUDIO_OUT_RATE_HZ);
    return ticks > 0 && ticks <= PACKET_MAX_TICKS ? (size_t)ticks : 0;
}

size_t codec_packet_check(const uint8_t *payload, size_t len)
{
    const unsigned char *frames[PACKET_MAX_FRAMES];
    opus_int16 sizes[PACKET_MAX_FRAMES];
    size_t ticks = codec_packet_ticks(payload, len);
    if (!ticks || opus_packet_parse(payload, (opus_int32)len, NULL, frames, sizes, NULL) <= 0)
        return 0;
    return ticks;
}
