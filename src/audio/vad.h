/* Whether the caller speaks: WebRTC's detector and an energy gate that follows the noise floor must
 * both agree (the first alone takes steady noise for speech), then two counters make frames into
 * speech:
 *
 *           min_speech voiced             min_silence unvoiced
 *   SILENT ------------------> SPEAKING --------------------> SILENT
 *             VAD_STARTED                    VAD_STOPPED
 *
 * The detector keeps the last moments, so that what was said before VAD_STARTED is not lost.
 * Thread: its owner's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audio/frame.h"
#include "base/attr.h"

struct vad;

/* `config.vad` of a call (contract, Calls); the bounds are checked by the model. */
struct vad_config {
    double threshold; /* 0-1: how sure a frame must be; the detector's strictness and the gate's
                         distance over the noise follow it */
    int min_speech_ms, min_silence_ms, prefix_padding_ms;
};
extern const struct vad_config vad_defaults; /* 0.5, 60, 550, 300 */

enum vad_change { VAD_SAME, VAD_STARTED, VAD_STOPPED };

struct vad_result {
    enum vad_change change;
    bool is_speaking; /* after the change */
    bool is_voiced;   /* this frame */
    double level_dbfs;
    int voiced_ms;  /* of the running speech, pauses not counted */
    int silence_ms; /* since the last voiced frame */
};

struct vad *vad_new(const struct vad_config *config);
void vad_free(struct vad *vad);
DEFINE_AUTO(vad)

/* What comes next is somebody's first sound: SILENT, without last moments. What is known of the
 * noise stays. */
void vad_forget(struct vad *vad);
void vad_input(struct vad *vad, const struct audio_frame *frame, struct vad_result *out);
/* The frames before and in the start of speech (prefix padding and min_speech), oldest first, the
 * current one included; up to cap samples, returns how many. To be handed to recognition at
 * VAD_STARTED. */
size_t vad_prefix(const struct vad *vad, int16_t *out, size_t cap);
size_t vad_prefix_max_samples(const struct vad *vad);
