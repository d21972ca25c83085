/* WAV files: 16-bit PCM, read strictly out of bytes and written. For callers from files, tests and
 * recordings. Thread: any. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"

struct wav {
    int rate_hz;      /* 8,000-96,000 */
    int channels;     /* 1 or 2 in the file; samples are mixed to mono */
    int16_t *samples; /* mono; mem_free */
    size_t count;
};

/* ERR_INVALID: not a RIFF/WAVE file, or cut short; ERR_UNSUPPORTED: not 16-bit PCM; ERR_LIMIT: over
 * max_samples. Sizes of 0 and 0xFFFFFFFF of a stream mean: to the end. */
enum err wav_parse(const void *data, size_t len, size_t max_samples, struct wav *out,
                   struct fault *fault) MUST_USE;
void wav_clear(struct wav *wav);

/* Appends a whole mono file. ERR_LIMIT: the buffer is full. */
enum err wav_write(struct buf *out, int rate_hz, const int16_t *samples, size_t count) MUST_USE;
