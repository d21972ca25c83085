#include "audio/codec.h"

#include <stdlib.h>

#include "base/attr.h"
#include "signal.h"
#include "test.h"

enum { FRAMES = 50 };

static size_t encode_all(enum codec_profile profile, const int16_t *in,
                         uint8_t packets[FRAMES][CODEC_PACKET_MAX_BYTES], size_t lens[FRAMES])
{
    AUTO(codec_encoder) encoder = codec_encoder_new(profile);
    codec_encoder_set_loss(encoder, 10);
    size_t total = 0;
    for (size_t i = 0; i < FRAMES; i++) {
        lens[i] = codec_encode(encoder, in + i * AUDIO_OUT_SAMPLES, packets[i]);
        total += lens[i];
    }
    return total;
}

static void check_round_trip(enum codec_profile profile, size_t most_bytes)
{
    static int16_t in[FRAMES * AUDIO_OUT_SAMPLES];
    static uint8_t packets[FRAMES][CODEC_PACKET_MAX_BYTES];
    size_t lens[FRAMES];
    signal_tone(in, FRAMES * AUDIO_OUT_SAMPLES, AUDIO_OUT_RATE_HZ, 440, 8000);
    CHECK(encode_all(profile, in, packets, lens) < most_bytes);
    AUTO(codec_decoder) decoder = codec_decoder_new();
    int16_t out[CODEC_DECODED_MAX_SAMPLES];
    for (size_t i = 0; i < FRAMES; i++) {
        CHECK_INT(codec_packet_ticks(packets[i], lens[i]), 960);
        CHECK_INT(codec_decode(decoder, packets[i], lens[i], out), AUDIO_IN_SAMPLES);
    }
    double tone = signal_at(out, AUDIO_IN_SAMPLES, AUDIO_IN_RATE_HZ, 440);
    CHECK(tone > 5000 && tone < 11000);
}

TEST(codec_keeps_a_tone_in_both_profiles)
{
    check_round_trip(CODEC_VOIP, FRAMES * 110);
    check_round_trip(CODEC_CELT, FRAMES * 160);
}

TEST(codec_recovers_a_lost_frame)
{
    static int16_t in[FRAMES * AUDIO_OUT_SAMPLES];
    static uint8_t packets[FRAMES][CODEC_PACKET_MAX_BYTES];
    size_t lens[FRAMES];
    signal_voice(in, FRAMES * AUDIO_OUT_SAMPLES, AUDIO_OUT_RATE_HZ, 12000);
    encode_all(CODEC_VOIP, in, packets, lens);
    AUTO(codec_decoder) decoder = codec_decoder_new();
    int16_t out[CODEC_DECODED_MAX_SAMPLES];
    for (size_t i = 0; i < 25; i++)
        CHECK_INT(codec_decode(decoder, packets[i], lens[i], out), AUDIO_IN_SAMPLES);
    CHECK_INT(codec_recover(decoder, packets[26], lens[26], AUDIO_IN_SAMPLES, out),
              AUDIO_IN_SAMPLES);
    CHECK(signal_rms(out, AUDIO_IN_SAMPLES) > 200);
    CHECK_INT(codec_conceal(decoder, 2 * AUDIO_IN_SAMPLES, out), 2 * AUDIO_IN_SAMPLES);
}

TEST(codec_refuses_what_is_no_packet)
{
    AUTO(codec_decoder) decoder = codec_decoder_new();
    int16_t out[CODEC_DECODED_MAX_SAMPLES];
    static const uint8_t bad[][4] = {{0xFF, 0xFF, 0xFF, 0xFF}, {0x03, 0x00, 0, 0}, {0x03, 0x3F}};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        CHECK_INT(codec_decode(decoder, bad[i], 2, out), 0);
    CHECK_INT(codec_decode(decoder, bad[0], 0, out), 0);
    CHECK_INT(codec_packet_ticks(bad[0], 0), 0);
}

TEST(codec_tells_the_length_of_packets)
{
    static const struct {
        uint8_t toc, ticks_20ths;
    } rows[] = {{0x00, 10}, {0x08, 20}, {0x10, 40}, {0x18, 60}, {0xF8, 20}, {0xF0, 10}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint8_t packet[4] = {rows[i].toc, 1, 2, 3};
        CHECK_INT(codec_packet_ticks(packet, sizeof(packet)), rows[i].ticks_20ths * 48);
    }
}

TEST(codec_profiles_are_a_ladder)
{
    for (int i = 1; i < CODEC_PROFILES; i++)
        CHECK(codec_frame_cost_ns((enum codec_profile)i) <
              codec_frame_cost_ns((enum codec_profile)(i - 1)));
}

TEST(codec_changes_its_profile_where_nobody_hears_it)
{
    static int16_t in[AUDIO_OUT_SAMPLES];
    uint8_t packet[CODEC_PACKET_MAX_BYTES];
    int16_t out[CODEC_DECODED_MAX_SAMPLES];
    signal_tone(in, AUDIO_OUT_SAMPLES, AUDIO_OUT_RATE_HZ, 440, 8000);
    AUTO(codec_encoder) encoder = codec_encoder_new(CODEC_VOIP);
    AUTO(codec_decoder) decoder = codec_decoder_new();
    static const struct {
        enum codec_profile to, at_once, after_reset;
    } steps[] = {
        {CODEC_VOIP_PLAIN, CODEC_VOIP_PLAIN, CODEC_VOIP_PLAIN},
        {CODEC_CELT_PLAIN, CODEC_VOIP_PLAIN, CODEC_CELT_PLAIN},
        {CODEC_CELT, CODEC_CELT, CODEC_CELT},
        {CODEC_VOIP, CODEC_CELT, CODEC_VOIP},
    };
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        codec_encoder_change(encoder, steps[i].to);
        CHECK_INT(codec_encoder_profile(encoder), steps[i].at_once);
        size_t len = codec_encode(encoder, in, packet);
        CHECK_INT(codec_decode(decoder, packet, len, out), AUDIO_IN_SAMPLES);
        codec_encoder_reset(encoder);
        CHECK_INT(codec_encoder_profile(encoder), steps[i].after_reset);
        len = codec_encode(encoder, in, packet);
        CHECK_INT(codec_decode(decoder, packet, len, out), AUDIO_IN_SAMPLES);
    }
}

/* A voice in the other mode, then silence that this encoder did not make. */
TEST(codec_silence_ends_any_voice_without_a_click)
{
    static int16_t in[FRAMES * AUDIO_OUT_SAMPLES];
    static uint8_t packets[FRAMES][CODEC_PACKET_MAX_BYTES];
    size_t lens[FRAMES];
    signal_voice(in, FRAMES * AUDIO_OUT_SAMPLES, AUDIO_OUT_RATE_HZ, 12000);
    for (int profile = 0; profile < CODEC_PROFILES; profile++) {
        encode_all((enum codec_profile)profile, in, packets, lens);
        AUTO(codec_decoder) decoder = codec_decoder_new_full(0);
        static int16_t out[CODEC_FULL_MAX_SAMPLES];
        int most = 0;
        for (size_t i = 0; i < FRAMES; i++) {
            CHECK_INT(codec_decode_full(decoder, packets[i], lens[i], out), AUDIO_OUT_SAMPLES);
            for (size_t k = 0; k < AUDIO_OUT_SAMPLES; k++)
                most = MAX(most, abs(out[k]));
        }
        for (int i = 0; i < 3; i++) {
            CHECK_INT(codec_decode_full(decoder, codec_silence, sizeof(codec_silence), out),
                      AUDIO_OUT_SAMPLES);
            for (size_t k = 0; k < AUDIO_OUT_SAMPLES; k++)
                CHECK(abs(out[k]) <= most);
        }
        CHECK(signal_rms(out, AUDIO_OUT_SAMPLES) < 20);
    }
}

/* What a caller hears of a voice whose sentences come from two encoders in turn. */
TEST(codec_decodes_two_encoders_in_turn_without_a_click)
{
    static int16_t in[FRAMES * AUDIO_OUT_SAMPLES];
    static uint8_t packets[2][FRAMES][CODEC_PACKET_MAX_BYTES];
    size_t lens[2][FRAMES];
    signal_tone(in, FRAMES * AUDIO_OUT_SAMPLES, AUDIO_OUT_RATE_HZ, 440, 8000);
    encode_all(CODEC_VOIP, in, packets[0], lens[0]);
    encode_all(CODEC_CELT, in, packets[1], lens[1]);
    AUTO(codec_decoder) decoder = codec_decoder_new_full(0);
    static int16_t out[CODEC_FULL_MAX_SAMPLES];
    for (size_t i = 0; i < FRAMES; i++) {
        size_t which = i / 10 % 2;
        CHECK_INT(codec_decode_full(decoder, packets[which][i], lens[which][i], out),
                  AUDIO_OUT_SAMPLES);
        for (size_t k = 0; k < AUDIO_OUT_SAMPLES; k++)
            CHECK(abs(out[k]) < 12000);
    }
}

TEST(codec_looks_through_a_packets_frames)
{
    static const struct {
        const char *bytes;
        size_t len, ticks;
    } rows[] = {{"\xf8\xff\xfe", 3, 960}, {"\x78", 1, 960},       {"\xf9\1\2", 3, 1920},
                {"\xf9\1", 2, 0},         {"\xfa\x09\1", 3, 0},   {"\xfb\x02\1\2", 4, 1920},
                {"\xfb\x07\1\2", 4, 0},   {"\xfb\x00\1\2", 4, 0}, {"", 0, 0}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        CHECK_INT(codec_packet_check((const uint8_t *)rows[i].bytes, rows[i].len), rows[i].ticks);
}
