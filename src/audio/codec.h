/* Opus, both ways, mono. The encoder runs at 48 kHz in 20 ms frames; the decoder at 16 kHz, which
 * saves a resampler. An encoder holds 44 kB, a decoder 18 kB: make the encoder when the agent first
 * speaks, and do not encode silence (its cost is two thirds of a frame of speech).
 * Thread: its owner's. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "audio/frame.h"
#include "base/attr.h"

struct codec_encoder;
struct codec_decoder;

/* A ladder: each profile costs less than the one before it. */
enum codec_profile {
    CODEC_VOIP,       /* complexity 5, 28 kbit/s: the better sound at low rates */
    CODEC_VOIP_PLAIN, /* complexity 0: half of the work, audibly rougher */
    CODEC_CELT,       /* restricted low delay, a third of the work and 4 ms less delay, 40 kbit/s:
                         the density profile */
    CODEC_CELT_PLAIN, /* complexity 0: a seventh of the work */
    CODEC_PROFILES
};

enum {
    CODEC_PACKET_MAX_BYTES = 400,     /* of our encoder, at either profile's rate */
    CODEC_DECODED_MAX_SAMPLES = 1920, /* 120 ms, the longest packet of RFC 6716 */
    CODEC_FULL_MAX_SAMPLES = 5760,    /* the same at 48 kHz */
};

/* 20 ms of silence in CELT: what was said before dies away, whoever encoded it. */
extern const uint8_t codec_silence[3];

struct codec_encoder *codec_encoder_new(enum codec_profile profile);
void codec_encoder_free(struct codec_encoder *encoder);
DEFINE_AUTO(codec_encoder)
/* Forgets what was encoded: at the start of a talk spurt that followed silence. */
void codec_encoder_reset(struct codec_encoder *encoder);
/* From now on another profile; one of another coding mode (VOIP, CELT) from the next reset on, so
 * that nobody hears the change. */
void codec_encoder_change(struct codec_encoder *encoder, enum codec_profile profile);
/* The loss that the encoder should guard against, in percent; 0 at the start. Forward error
 * correction is in the VOIP profile only. */
void codec_encoder_set_loss(struct codec_encoder *encoder, int percent);
enum codec_profile codec_encoder_profile(const struct codec_encoder *encoder); /* in use now */
/* What 20 ms of a voice cost in this profile on this machine, in nanoseconds of CPU. Takes some
 * milliseconds: once at the start. */
int64_t codec_frame_cost_ns(enum codec_profile profile);
/* Returns the bytes written, at least 1. */
size_t codec_encode(struct codec_encoder *encoder, const int16_t samples[AUDIO_OUT_SAMPLES],
                    uint8_t out[CODEC_PACKET_MAX_BYTES]);

struct codec_decoder *codec_decoder_new(void);
void codec_decoder_free(struct codec_decoder *decoder);
DEFINE_AUTO(codec_decoder)
/* All decoding returns the 16 kHz samples written, 0 for a payload that is no Opus packet. */
size_t codec_decode(struct codec_decoder *decoder, const uint8_t *payload, size_t len,
                    int16_t out[CODEC_DECODED_MAX_SAMPLES]);
/* The frame before `next`, out of the redundancy in it, or concealed where there is none. */
size_t codec_recover(struct codec_decoder *decoder, const uint8_t *next, size_t len,
                     size_t lost_samples, int16_t out[CODEC_DECODED_MAX_SAMPLES]);
size_t codec_conceal(struct codec_decoder *decoder, size_t lost_samples,
                     int16_t out[CODEC_DECODED_MAX_SAMPLES]);

/* A decoder at 48 kHz, for what a voice delivers; stereo is mixed to mono. gain_q8_db: of RFC 7845
 * section 5.1. */
struct codec_decoder *codec_decoder_new_full(int gain_q8_db);
/* The same as codec_decode(), of such a decoder. */
size_t codec_decode_full(struct codec_decoder *decoder, const uint8_t *payload, size_t len,
                         int16_t out[CODEC_FULL_MAX_SAMPLES]);

/* Length of a packet in 48 kHz units by its table of contents (RFC 6716 section 3.1); 0: malformed.
 */
size_t codec_packet_ticks(const uint8_t *payload, size_t len);
/* The same of a packet whose frames are looked through, too (section 3.4). */
size_t codec_packet_check(const uint8_t *payload, size_t len);
