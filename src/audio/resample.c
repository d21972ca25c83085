/* speexdsp at its quality for speech: 7-35 us for 20 ms, and a delay that finish() gives back. */
#include "audio/resample.h"

#include <assert.h>
#include <speex/speex_resampler.h>

#include "base/mem.h"

enum {
    QUALITY = 3,       /* SPEEX_RESAMPLER_QUALITY_VOIP: 7-35 us for 20 ms */
    FINISH_CHUNK = 64, /* zeros fed at a time at the end */
};

struct resampler {
    SpeexResamplerState *speex;
    int from_hz, to_hz;
};

struct resampler *resampler_new(int from_hz, int to_hz)
{
    struct resampler *resampler = mem_new(struct resampler);
    int error = 0;
    resampler->speex =
        speex_resampler_init(1, (spx_uint32_t)from_hz, (spx_uint32_t)to_hz, QUALITY, &error);
    assert(resampler->speex && error == RESAMPLER_ERR_SUCCESS);
    speex_resampler_skip_zeros(resampler->speex);
    resampler->from_hz = from_hz;
    resampler->to_hz = to_hz;
    return resampler;
}

void resampler_free(struct resampler *resampler)
{
    if (!resampler)
        return;
    speex_resampler_destroy(resampler->speex);
    mem_free(resampler);
}

size_t resampler_out_max(const struct resampler *resampler, size_t count)
{
    return (size_t)((uint64_t)count * (unsigned)resampler->to_hz / (unsigned)resampler->from_hz) +
           2;
}

size_t resampler_run(struct resampler *resampler, const int16_t *in, size_t count, int16_t *out)
{
    size_t cap = resampler_out_max(resampler, count), written = 0, taken = 0;
    while (taken < count) {
        spx_uint32_t in_len = (spx_uint32_t)(count - taken);
        spx_uint32_t out_len = (spx_uint32_t)(cap - written);
        speex_resampler_process_int(resampler->speex, 0, in + taken, &in_len, out + written,
                                    &out_len);
        taken += in_len;
        written += out_len;
        if (in_len == 0)
            break;
    }
    return written;
}

size_t resampler_finish(struct resampler *resampler, int16_t *out, size_t cap)
{
    static const int16_t zeros[FINISH_CHUNK];
    size_t left = (size_t)speex_resampler_get_input_latency(resampler->speex), written = 0;
    while (left > 0 && written < cap) {
        spx_uint32_t in_len = (spx_uint32_t)MIN(left, FINISH_CHUNK);
        spx_uint32_t out_len = (spx_uint32_t)(cap - written);
        speex_resampler_process_int(resampler->speex, 0, zeros, &in_len, out + written, &out_len);
        if (in_len == 0)
            break;
        left -= in_len;
        written += out_len;
    }
    speex_resampler_reset_mem(resampler->speex);
    speex_resampler_skip_zeros(resampler->speex);
    return written;
}
