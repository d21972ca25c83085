/* Joins the order of packets with their decoding. A step of the jitter buffer gives 2.5 to 120 ms
 * of samples; frames are cut from those. */
#include "audio/inlet.h"

#include <string.h>

#include "audio/codec.h"
#include "base/bucket.h"
#include "base/mem.h"

enum {
    TICKS_PER_SAMPLE = AUDIO_OUT_RATE_HZ / AUDIO_IN_RATE_HZ,
    AHEAD_MAX_US = 10000000, /* of sound over time: what a network held back may come at once */
    TICKS_PER_MS = AUDIO_OUT_RATE_HZ / 1000,
    FAST_CLOCK = 50, /* a sender's clock may be two percent fast */
};

struct inlet {
    struct jitter jitter;
    struct bucket sound; /* microseconds */
    struct codec_decoder *decoder;
    int16_t pending[CODEC_DECODED_MAX_SAMPLES + AUDIO_IN_SAMPLES];
    size_t start, end; /* of what is not yet cut */
    enum audio_source source;
};

struct inlet *inlet_new(void)
{
    struct inlet *inlet = mem_new(struct inlet);
    jitter_init(&inlet->jitter);
    inlet->decoder = codec_decoder_new();
    return inlet;
}

void inlet_free(struct inlet *inlet)
{
    if (!inlet)
        return;
    codec_decoder_free(inlet->decoder);
    mem_free(inlet);
}

void inlet_input(struct inlet *inlet, const uint8_t *payload, size_t len, uint16_t sequence,
                 uint32_t timestamp, int64_t now_us)
{
    struct jitter_arrival arrival = {.payload = payload,
                                     .len = len,
                                     .ticks = (uint32_t)codec_packet_ticks(payload, len),
                                     .sequence = sequence,
                                     .timestamp = timestamp};
    int64_t sound_us = (int64_t)arrival.ticks * 1000 / TICKS_PER_MS;
    if (!bucket_take(&inlet->sound, 1, AHEAD_MAX_US, sound_us - sound_us / FAST_CLOCK, now_us)) {
        inlet->jitter.stats.refused++;
        return;
    }
    jitter_input(&inlet->jitter, &arrival, now_us);
}

static size_t decode_step(struct inlet *inlet, const struct jitter_step *step, int16_t *out)
{
    size_t samples = step->ticks / TICKS_PER_SAMPLE;
    switch (step->kind) {
    case JITTER_PACKET:
        inlet->source = AUDIO_HEARD;
        return codec_decode(inlet->decoder, step->payload, step->len, out);
    case JITTER_RECOVER:
        inlet->source = AUDIO_CONCEALED;
        return codec_recover(inlet->decoder, step->payload, step->len, samples, out);
    case JITTER_LOST:
        inlet->source = AUDIO_CONCEALED;
        return codec_conceal(inlet->decoder, samples, out);
    case JITTER_SILENCE:
        break;
    }
    inlet->source = AUDIO_SILENCE;
    memset(out, 0, samples * sizeof(*out));
    return samples;
}

bool inlet_output(struct inlet *inlet, int64_t now_us, struct audio_frame *out)
{
    while (inlet->end - inlet->start < AUDIO_IN_SAMPLES) {
        struct jitter_step step;
        if (!jitter_output(&inlet->jitter, now_us, &step))
            return false;
        inlet->end -= inlet->start;
        memmove(inlet->pending, inlet->pending + inlet->start, inlet->end * sizeof(int16_t));
        inlet->start = 0;
        inlet->end += decode_step(inlet, &step, inlet->pending + inlet->end);
    }
    memcpy(out->samples, inlet->pending + inlet->start, sizeof(out->samples));
    out->source = inlet->source;
    inlet->start += AUDIO_IN_SAMPLES;
    return true;
}

void inlet_stats(const struct inlet *inlet, struct jitter_stats *out)
{
    *out = inlet->jitter.stats;
}
