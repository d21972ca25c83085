/* A voice of one call: lines in, 48 kHz samples out, little faster than they are played, so that
 * neither side holds a long sentence for long. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct link;
struct loop;
struct speaking;

/* wish: engine, language, speaker, speed, volume, workspace, a line each. */
enum err speaking_new(struct loop *loop, struct link *link, uint32_t id, const char *wish,
                      struct speaking **out, struct fault *fault) MUST_USE;
void speaking_free(struct speaking *speaking);
void speaking_speak(struct speaking *speaking, uint32_t gen, const char *text);
void speaking_cancel(struct speaking *speaking);

/* A synthesiser, implemented twice. */

struct synth_wish {
    char language[16], speaker[64];
    double speed;
};

/* Samples of the synthesiser's rate as they are made; false: stop. */
typedef bool synth_fn(void *arg, const int16_t *samples, size_t count);

struct synth {
    const char *id;
    /* ERR_UNSUPPORTED: no such language. Initialises the library on first use. */
    enum err (*open)(const struct synth_wish *wish, int *out_rate_hz, struct fault *fault);
    void (*say)(const struct synth_wish *wish, const char *text, synth_fn *fn, void *arg);
};
extern const struct synth flite_synth, espeak_synth;

/* A text as espeak-ng survives it: long unspaced runs and rows of dotted letters get spaces. The
 * result is the caller's. */
char *espeak_text(const char *text);
