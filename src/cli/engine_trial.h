/* Tries one engine as a call would use it: a sentence spoken, a word heard, an answer written.
 * Thread: the main thread; each trial waits for its end. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "engine/engine.h"

struct loop;

enum { TRIAL_MESSAGE_SIZE = 256 };

struct trial {
    enum engine_error error;
    char message[TRIAL_MESSAGE_SIZE]; /* of the error */
    int64_t first_us, all_us;         /* to the first result, to the end; negative: none came */
    struct buf text;                  /* heard or answered */
    struct buf sound;                 /* spoken: int16_t at 48 kHz */
};

/* sound: for a recogniser, int16_t at 48 kHz; an empty one: a tone. */
void engine_try(const struct engine *engine, struct loop *loop, const struct buf *sound,
                struct trial *out);
void trial_clear(struct trial *trial);
