/* What a recogniser gets of a caller: sentences that a voice of ours says, noise over them, and the
 * way through Opus, a lossy line and the detector of speech, all faster than it is heard. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct said { /* 48 kHz, half a second of room before and 800 ms after it */
    int16_t *samples;
    size_t count;
};
/* speaker: "slt" or "rms" of flite. */
void said_by(const char *speaker, const char *text, struct said *out);
void said_clear(struct said *said);

/* Noise so many dB below the words' level: brown (a car, a fan), or the talk of others. Each seed
 * gives other noise, always the same. */
enum noise { NOISE_NONE, NOISE_BROWN, NOISE_BABBLE };
void said_in_noise(struct said *said, enum noise noise, double db, unsigned seed);

struct carried {
    struct buf heard; /* what the detector took for speech, 16 kHz */
    int starts, stops;
};
/* Each so manieth packet is lost; 0: none. */
void line_carry(const struct said *said, size_t loss_every, struct carried *out);
void carried_clear(struct carried *carried);

/* Words to change, leave out or put in (Levenshtein). */
unsigned word_errors(const char *want, const char *got);
size_t words_of(const char *text);
