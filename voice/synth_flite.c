/* flite's clustergen voices slt and rms: 16 kHz, streamed while they are made. A voice's features
 * are shared by all sessions, so they are set before each line. */
#include <flite/flite.h>
#include <stdbool.h>
#include <string.h>

#include "base/attr.h"
#include "speaking.h"

cst_voice *register_cmu_us_slt(const char *directory);
cst_voice *register_cmu_us_rms(const char *directory);

enum { RATE_HZ = 16000, STREAM_SAMPLES = 960 };

static struct {
    const char *id;
    cst_voice *(*make)(const char *directory);
    cst_voice *voice; /* made when first spoken with */
} voices[] = {
    {"slt", register_cmu_us_slt, NULL},
    {"rms", register_cmu_us_rms, NULL},
};

struct stream {
    synth_fn *fn;
    void *arg;
    bool is_stopped;
};

static int on_stream(const cst_wave *wave, int start, int size, int is_last,
                     cst_audio_streaming_info *info)
{
    struct stream *stream = info->userdata;
    (void)is_last;
    if (size > 0 && !stream->fn(stream->arg, wave->samples + start, (size_t)size))
        stream->is_stopped = true;
    return stream->is_stopped ? CST_AUDIO_STREAM_STOP : CST_AUDIO_STREAM_CONT;
}

static cst_voice *voice_of(const char *speaker)
{
    size_t chosen = 0;
    for (size_t i = 0; i < ARRAY_LEN(voices); i++)
        if (strcmp(voices[i].id, speaker) == 0)
            chosen = i;
    if (!voices[chosen].voice)
        voices[chosen].voice = voices[chosen].make(NULL);
    return voices[chosen].voice;
}

static enum err open_flite(const struct synth_wish *wish, int *out_rate_hz, struct fault *fault)
{
    static bool is_ready;
    if (strncmp(wish->language, "en", 2) != 0)
        return fault_set(fault, ERR_UNSUPPORTED, "flite speaks English only");
    if (!is_ready)
        flite_init();
    is_ready = true;
    if (!voice_of(wish->speaker))
        return fault_set(fault, ERR_INTERNAL, "flite has no voice");
    *out_rate_hz = RATE_HZ;
    return OK;
}

static void say_flite(const struct synth_wish *wish, const char *text, synth_fn *fn, void *arg)
{
    struct stream stream = {fn, arg, false};
    cst_voice *voice = voice_of(wish->speaker);
    cst_audio_streaming_info *info = new_audio_streaming_info();
    info->asc = on_stream;
    info->min_buffsize = STREAM_SAMPLES;
    info->userdata = &stream;
    feat_set(voice->features, "streaming_info", audio_streaming_info_val(info));
    feat_set_float(voice->features, "duration_stretch", (float)(1 / wish->speed));
    cst_wave *wave = flite_text_to_wave(text, voice);
    if (wave)
        delete_wave(wave);
    feat_remove(voice->features, "streaming_info"); /* frees info */
}

const struct synth flite_synth = {"flite", open_flite, say_flite};
