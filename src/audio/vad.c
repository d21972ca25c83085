/* WebRTC's voice activity detector out of libwebrtc-audio-processing (Debian ships no header for
 * it) and a gate over the noise floor. The floor is the least level of the last two seconds: speech
 * has gaps in any two seconds, steady noise has none. */
#include "audio/vad.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

struct WebRtcVadInst;
struct WebRtcVadInst *WebRtcVad_Create(void);
void WebRtcVad_Free(struct WebRtcVadInst *handle);
int WebRtcVad_Init(struct WebRtcVadInst *handle);
int WebRtcVad_set_mode(struct WebRtcVadInst *handle, int mode);
int WebRtcVad_Process(struct WebRtcVadInst *handle, int rate_hz, const int16_t *samples,
                      size_t count);

enum {
    FLOOR_SPANS = 8,        /* of the window in which the floor is sought */
    FLOOR_SPAN_FRAMES = 12, /* 240 ms: the window is about two seconds */
    WARM_UP_FRAMES = 8,     /* heard before anything is voiced: the detector needs them too */
    SPARE_FRAMES = 2,       /* of the prefix, for speech that starts haltingly */
};

static const double FLOOR_MIN_DBFS = -62;   /* a silent line must not make breath into speech */
static const double FLOOR_FIRST_DBFS = -38; /* at most, until two seconds were heard: a caller may
                                               begin with speech */
static const double SILENCE_DBFS = -96;
static const double LEVEL_SMOOTHING = 0.4; /* a frame's part: the last 60 ms count */

const struct vad_config vad_defaults = {
    .threshold = 0.5, .min_speech_ms = 60, .min_silence_ms = 550, .prefix_padding_ms = 300};

struct vad {
    struct vad_config config;
    struct WebRtcVadInst *webrtc;
    double margin_db;  /* of the gate over the floor */
    double level_dbfs; /* smoothed */
    double floor_spans[FLOOR_SPANS];
    unsigned span, span_frames, warm_frames;
    bool is_speaking;
    int run_ms; /* of voiced frames while silent; unvoiced ones count against it */
    int voiced_ms, silence_ms;
    struct { /* ring of the last frames */
        int16_t *samples;
        size_t frames, next, used;
    } prefix;
};

/* The detector's own strictness, 0 (lax) to 3. */
static int mode_of(double threshold)
{
    static const double least[] = {0, 0.15, 0.3, 0.45};
    int mode = 0;
    for (size_t i = 0; i < ARRAY_LEN(least); i++)
        if (threshold >= least[i])
            mode = (int)i;
    return mode;
}

struct vad *vad_new(const struct vad_config *config)
{
    struct vad *vad = mem_new(struct vad);
    vad->config = *config;
    vad->margin_db = 5 + 8 * config->threshold;
    vad->level_dbfs = SILENCE_DBFS;
    for (size_t i = 0; i < FLOOR_SPANS; i++)
        vad->floor_spans[i] = FLOOR_FIRST_DBFS;
    vad->webrtc = WebRtcVad_Create();
    WebRtcVad_Init(vad->webrtc);
    WebRtcVad_set_mode(vad->webrtc, mode_of(config->threshold));
    int prefix_ms = config->prefix_padding_ms + config->min_speech_ms;
    vad->prefix.frames = (size_t)(prefix_ms / AUDIO_FRAME_MS) + SPARE_FRAMES;
    vad->prefix.samples = mem_new_n(int16_t, vad->prefix.frames * AUDIO_IN_SAMPLES);
    return vad;
}

void vad_free(struct vad *vad)
{
    if (!vad)
        return;
    WebRtcVad_Free(vad->webrtc);
    mem_free(vad->prefix.samples);
    mem_free(vad);
}

static double level_of(const struct audio_frame *frame)
{
    double power = 0;
    for (size_t i = 0; i < AUDIO_IN_SAMPLES; i++)
        power += (double)frame->samples[i] * frame->samples[i];
    power /= AUDIO_IN_SAMPLES * 32768.0 * 32768.0;
    return power > 1e-9 ? 10 * log10(power) : SILENCE_DBFS;
}

static double floor_of(const struct vad *vad)
{
    double least = 0;
    for (size_t i = 0; i < FLOOR_SPANS; i++)
        least = MIN(least, vad->floor_spans[i]);
    return MAX(least, FLOOR_MIN_DBFS);
}

static void follow_floor(struct vad *vad)
{
    if (vad->span_frames == FLOOR_SPAN_FRAMES) {
        vad->span = (vad->span + 1) % FLOOR_SPANS;
        vad->floor_spans[vad->span] = 0;
        vad->span_frames = 0;
    }
    vad->span_frames++;
    vad->floor_spans[vad->span] = MIN(vad->floor_spans[vad->span], vad->level_dbfs);
}

/* Silence that the sender did not send says nothing of the noise in the room: the floor stays. */
static bool is_voiced(struct vad *vad, const struct audio_frame *frame)
{
    if (frame->source == AUDIO_SILENCE) {
        vad->level_dbfs = SILENCE_DBFS;
        return false;
    }
    double level = level_of(frame);
    vad->level_dbfs = MAX(vad->level_dbfs, FLOOR_MIN_DBFS);
    vad->level_dbfs += LEVEL_SMOOTHING * (level - vad->level_dbfs);
    bool is_loud = MAX(level, vad->level_dbfs) > floor_of(vad) + vad->margin_db;
    follow_floor(vad);
    bool is_voice =
        WebRtcVad_Process(vad->webrtc, AUDIO_IN_RATE_HZ, frame->samples, AUDIO_IN_SAMPLES) == 1;
    if (vad->warm_frames < WARM_UP_FRAMES) {
        vad->warm_frames++;
        return false;
    }
    return is_voice && is_loud;
}

static void keep(struct vad *vad, const struct audio_frame *frame)
{
    memcpy(vad->prefix.samples + vad->prefix.next * AUDIO_IN_SAMPLES, frame->samples,
           sizeof(frame->samples));
    vad->prefix.next = (vad->prefix.next + 1) % vad->prefix.frames;
    vad->prefix.used = MIN(vad->prefix.used + 1, vad->prefix.frames);
}

static enum vad_change while_silent(struct vad *vad, bool voiced)
{
    vad->run_ms = voiced ? vad->run_ms + AUDIO_FRAME_MS : MAX(vad->run_ms - AUDIO_FRAME_MS, 0);
    vad->silence_ms += AUDIO_FRAME_MS;
    if (!voiced || vad->run_ms < vad->config.min_speech_ms)
        return VAD_SAME;
    vad->is_speaking = true;
    vad->voiced_ms = vad->run_ms;
    vad->silence_ms = 0;
    return VAD_STARTED;
}

static enum vad_change while_speaking(struct vad *vad, bool voiced)
{
    vad->voiced_ms += voiced ? AUDIO_FRAME_MS : 0;
    vad->silence_ms = voiced ? 0 : vad->silence_ms + AUDIO_FRAME_MS;
    if (vad->silence_ms < vad->config.min_silence_ms)
        return VAD_SAME;
    vad->is_speaking = false;
    vad->run_ms = 0;
    return VAD_STOPPED;
}

void vad_forget(struct vad *vad)
{
    vad->is_speaking = false;
    vad->run_ms = vad->voiced_ms = vad->silence_ms = 0;
    vad->prefix.used = 0;
}

void vad_input(struct vad *vad, const struct audio_frame *frame, struct vad_result *out)
{
    bool voiced = is_voiced(vad, frame);
    keep(vad, frame);
    enum vad_change change =
        vad->is_speaking ? while_speaking(vad, voiced) : while_silent(vad, voiced);
    *out = (struct vad_result){.change = change,
                               .is_speaking = vad->is_speaking,
                               .is_voiced = voiced,
                               .level_dbfs = vad->level_dbfs,
                               .voiced_ms = vad->voiced_ms,
                               .silence_ms = vad->silence_ms};
}

size_t vad_prefix(const struct vad *vad, int16_t *out, size_t cap)
{
    size_t frames = MIN(vad->prefix.used, cap / AUDIO_IN_SAMPLES);
    size_t from = (vad->prefix.next + vad->prefix.frames - frames) % vad->prefix.frames;
    for (size_t i = 0; i < frames; i++)
        memcpy(out + i * AUDIO_IN_SAMPLES,
               vad->prefix.samples + (from + i) % vad->prefix.frames * AUDIO_IN_SAMPLES,
               AUDIO_IN_SAMPLES * sizeof(*out));
    return frames * AUDIO_IN_SAMPLES;
}

size_t vad_prefix_max_samples(const struct vad *vad)
{
    return vad->prefix.frames * AUDIO_IN_SAMPLES;
}
