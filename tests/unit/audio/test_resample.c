#include "audio/resample.h"

#include <stdlib.h>

#include "base/mem.h"
#include "signal.h"
#include "test.h"

TEST(resample_keeps_length_and_pitch)
{
    static const int rates[][2] = {{16000, 48000}, {22050, 48000}, {48000, 16000}, {24000, 48000}};
    for (size_t i = 0; i < ARRAY_LEN(rates); i++) {
        int from = rates[i][0], to = rates[i][1];
        AUTO(resampler) resampler = resampler_new(from, to);
        AUTO_MEM int16_t *in = mem_new_n(int16_t, (size_t)from);
        AUTO_MEM int16_t *out = mem_new_n(int16_t, (size_t)to + 2000);
        signal_tone(in, (size_t)from, from, 1000, 8000);
        size_t count = 0, step = 700;
        for (size_t at = 0; at < (size_t)from; at += step) {
            size_t len = MIN(step, (size_t)from - at);
            size_t got = resampler_run(resampler, in + at, len, out + count);
            CHECK(got <= resampler_out_max(resampler, len));
            count += got;
        }
        count += resampler_finish(resampler, out + count, 2000);
        CHECK(labs((long)count - to) <= to / 500);
        double tone = signal_at(out + to / 4, (size_t)to / 2, to, 1000);
        CHECK(tone > 7500 && tone < 8500);
    }
}
