/* Changes the rate of a mono stream (speexdsp, quality 3). For synthesis and files: the caller's
 * voice is decoded at the rate that is wanted. Thread: its owner's. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

struct resampler;

struct resampler *resampler_new(int from_hz, int to_hz);
void resampler_free(struct resampler *resampler);
DEFINE_AUTO(resampler)

/* How many samples `count` input samples can give at most. */
size_t resampler_out_max(const struct resampler *resampler, size_t count);
/* Takes all of the input; `out` has room for resampler_out_max(count). Returns the samples written.
 */
size_t resampler_run(struct resampler *resampler, const int16_t *in, size_t count, int16_t *out);
/* What is still inside (the filter's delay), at the end of a stream; then it starts afresh. */
size_t resampler_finish(struct resampler *resampler, int16_t *out, size_t cap);
