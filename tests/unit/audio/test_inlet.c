#include "audio/inlet.h"

#include "audio/codec.h"
#include "signal.h"
#include "test.h"

enum { PACKETS = 100 };

struct line { /* a caller's encoder and what arrived */
    struct codec_encoder *encoder;
    struct inlet *inlet;
    int counts[3]; /* by audio_source */
    double level;  /* sum of the frames' RMS */
    int16_t voice[PACKETS * AUDIO_OUT_SAMPLES];
};

static void drain(struct line *line, int64_t now_us)
{
    struct audio_frame frame;
    while (inlet_output(line->inlet, now_us, &frame)) {
        line->counts[frame.source]++;
        line->level += signal_rms(frame.samples, AUDIO_IN_SAMPLES);
    }
}

static struct line *line_new(void)
{
    static struct line line;
    line = (struct line){.encoder = codec_encoder_new(CODEC_VOIP), .inlet = inlet_new()};
    signal_voice(line.voice, PACKETS * AUDIO_OUT_SAMPLES, AUDIO_OUT_RATE_HZ, 12000);
    return &line;
}

static void line_clear(struct line *line)
{
    codec_encoder_free(line->encoder);
    inlet_free(line->inlet);
}

TEST(inlet_gives_a_frame_for_each_packet_and_for_each_lost_one)
{
    struct line *line = line_new();
    uint8_t payload[CODEC_PACKET_MAX_BYTES];
    for (unsigned i = 0; i < PACKETS; i++) {
        size_t len = codec_encode(line->encoder, line->voice + i * AUDIO_OUT_SAMPLES, payload);
        if (i % 10 != 5)
            inlet_input(line->inlet, payload, len, (uint16_t)i, i * 960, i * 20000);
        drain(line, i * 20000);
    }
    CHECK_INT(line->counts[AUDIO_HEARD], 90);
    CHECK_INT(line->counts[AUDIO_CONCEALED], 10);
    CHECK_INT(line->counts[AUDIO_SILENCE], 0);
    CHECK(line->level / PACKETS > 500);
    struct jitter_stats stats;
    inlet_stats(line->inlet, &stats);
    CHECK_INT(stats.lost, 10);
    line_clear(line);
}

/* Packets of code 3 (RFC 6716 section 3.2.5) with two frames of 10 ms, as a sender of another
 * packet time makes them, are here made by the table of contents alone: one of 10 ms. */
TEST(inlet_joins_short_packets_to_frames)
{
    struct line *line = line_new();
    static const uint8_t silk_10ms[] = {0x40, 0x0B, 0xE4, 0xC1, 0x36, 0xEC, 0xC5, 0x80};
    for (unsigned i = 0; i < 10; i++)
        inlet_input(line->inlet, silk_10ms, sizeof(silk_10ms), (uint16_t)i, i * 480, i * 10000);
    drain(line, 90000);
    CHECK_INT(line->counts[AUDIO_HEARD], 5);
    line_clear(line);
}

TEST(inlet_survives_any_payload)
{
    struct line *line = line_new();
    uint32_t state = 1;
    for (unsigned i = 0; i < 2000; i++) {
        uint8_t payload[64];
        for (size_t k = 0; k < sizeof(payload); k++)
            payload[k] = (uint8_t)((state = state * 1664525 + 1013904223) >> 24);
        inlet_input(line->inlet, payload, state >> 26, (uint16_t)(i + (state >> 30)), i * 960,
                    i * 20000);
        drain(line, i * 20000);
    }
    CHECK(line->counts[AUDIO_HEARD] > 100);
    line_clear(line);
}

TEST(inlet_keeps_time_while_nothing_is_sent)
{
    struct line *line = line_new();
    uint8_t payload[CODEC_PACKET_MAX_BYTES];
    size_t len = codec_encode(line->encoder, line->voice, payload);
    inlet_input(line->inlet, payload, len, 1, 960, 0);
    for (int64_t now_us = 0; now_us <= 1000000; now_us += 20000)
        drain(line, now_us);
    CHECK_INT(line->counts[AUDIO_HEARD], 1);
    CHECK_INT(line->counts[AUDIO_SILENCE], 49);
    line_clear(line);
}

TEST(inlet_takes_no_more_sound_than_time)
{
    struct line *line = line_new();
    uint8_t payload[CODEC_PACKET_MAX_BYTES];
    size_t len = codec_encode(line->encoder, line->voice, payload);
    int64_t now_us = 1000000;
    for (unsigned i = 0; i < 100000; i++, now_us += 200) { /* 20 s, a hundred times as fast */
        inlet_input(line->inlet, payload, len, (uint16_t)i, i * 960, now_us);
        drain(line, now_us);
    }
    int heard = line->counts[AUDIO_HEARD];
    CHECK(heard >= 1500 && heard <= 1560); /* 10 s at once, and 20 s by and by */
    struct jitter_stats stats;
    inlet_stats(line->inlet, &stats);
    CHECK(stats.refused > 98000);
    line_clear(line);
}

TEST(inlet_takes_what_a_network_held_back)
{
    struct line *line = line_new();
    uint8_t payload[CODEC_PACKET_MAX_BYTES];
    size_t len = codec_encode(line->encoder, line->voice, payload);
    unsigned i = 0;
    for (; i < 5000; i++) { /* a clock that is a percent fast */
        inlet_input(line->inlet, payload, len, (uint16_t)i, i * 960, 1000000 + i * 19800);
        drain(line, 1000000 + i * 19800);
    }
    int64_t now_us = 1000000 + i * 19800 + 5000000;
    for (int k = 0; k < 250; k++, i++)
        inlet_input(line->inlet, payload, len, (uint16_t)i, i * 960, now_us);
    struct jitter_stats stats;
    inlet_stats(line->inlet, &stats);
    CHECK_INT(stats.refused, 250 - JITTER_SLOTS); /* of its slots, not of this */
    line_clear(line);
}
