/* Speech for benchmarks: a WAV file at 48 kHz, cut behind its last loud frame, and its packets. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "audio/codec.h"
#include "base/err.h"

struct speech {
    int16_t *samples; /* 48 kHz, whole frames */
    size_t frames;
};

struct utterance { /* one packet for each 20 ms */
    size_t count;
    struct {
        uint8_t data[CODEC_PACKET_MAX_BYTES];
        size_t len;
    } * packets;
};

enum err speech_read(const char *path, struct speech *out, struct fault *fault) MUST_USE;
void speech_clear(struct speech *speech);
/* NULL samples: so many frames of silence. */
void utterance_encode(const int16_t *samples, size_t frames, struct utterance *out);
void utterance_clear(struct utterance *utterance);
