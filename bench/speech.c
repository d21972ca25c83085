/* See speech.h. */
#include "speech.h"

#include <stdio.h>
#include <string.h>

#include "audio/resample.h"
#include "audio/wav.h"
#include "base/mem.h"

enum {
    FILE_MAX_BYTES = 64 << 20,
    LOUD = 1000 /* a frame whose peak is above it is speech */
};

static enum err read_file(const char *path, struct buf *out, struct fault *fault)
{
    FILE *in = fopen(path, "rb");
    if (!in)
        return fault_set(fault, ERR_IO, "cannot read %s", path);
    char piece[4096];
    size_t len;
    while ((len = fread(piece, 1, sizeof(piece), in)))
        buf_append(out, piece, len);
    fclose(in);
    return OK;
}

static int peak_of(const int16_t *frame)
{
    int peak = 0;
    for (unsigned i = 0; i < AUDIO_OUT_SAMPLES; i++)
        peak = MAX(peak, frame[i] < 0 ? -frame[i] : frame[i]);
    return peak;
}

enum err speech_read(const char *path, struct speech *out, struct fault *fault)
{
    AUTO_BUF file = BUF_INIT(FILE_MAX_BYTES);
    struct wav wav;
    enum err err = read_file(path, &file, fault);
    if (!err)
        err = wav_parse(file.data, file.len, FILE_MAX_BYTES, &wav, fault);
    if (err)
        return err;
    AUTO(resampler) resampler = resampler_new(wav.rate_hz, AUDIO_OUT_RATE_HZ);
    out->samples = mem_new_n(int16_t, resampler_out_max(resampler, wav.count));
    size_t count = resampler_run(resampler, wav.samples, wav.count, out->samples);
    wav_clear(&wav);
    out->frames = count / AUDIO_OUT_SAMPLES;
    while (out->frames && peak_of(out->samples + (out->frames - 1) * AUDIO_OUT_SAMPLES) < LOUD)
        out->frames--;
    return out->frames ? OK : fault_set(fault, ERR_INVALID, "%s holds no speech", path);
}

void speech_clear(struct speech *speech)
{
    mem_free(speech->samples);
    *speech = (struct speech){0};
}

void utterance_encode(const int16_t *samples, size_t frames, struct utterance *out)
{
    static const int16_t silence[AUDIO_OUT_SAMPLES];
    AUTO(codec_encoder) encoder = codec_encoder_new(CODEC_VOIP);
    out->count = frames;
    out->packets = mem_zalloc_n(frames, sizeof(*out->packets));
    for (size_t i = 0; i < frames; i++) {
        const int16_t *frame = samples ? samples + i * AUDIO_OUT_SAMPLES : silence;
        out->packets[i].len = codec_encode(encoder, frame, out->packets[i].data);
    }
}

void utterance_clear(struct utterance *utterance)
{
    mem_free(utterance->packets);
    *utterance = (struct utterance){0};
}
