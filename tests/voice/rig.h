/* Real workers of embedded speech, driven through the adapters on a real loop. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "vendor/vendor.h"

struct loop;

struct speech_rig {
    struct loop *loop;
    struct vendor *vendor;
    struct registry *registry;
};
void speech_rig_open_with(struct speech_rig *rig, const char *program);
void speech_rig_close(struct speech_rig *rig);

struct spoken {
    int16_t *samples; /* 48 kHz; mem_free */
    size_t count;
    int64_t first_us, done_us; /* after the request; -1: never */
    enum engine_error error;
};
#define speech_rig_open(rig) speech_rig_open_with((rig), VOICE_PROGRAM)
/* Speaks a text and waits for its end. */
void speech_rig_speak(struct speech_rig *rig, const char *engine, const struct tts_config *config,
                      const char *text, struct spoken *out);

struct heard {
    char text[512], unsure[512];
    unsigned partials;
    int64_t flushed_us; /* after the flush; -1: never */
    enum engine_error error;
};
/* Opens a recogniser; samples are pushed in frames of 20 ms. */
struct stt *speech_rig_listen(struct speech_rig *rig, const char *vocabulary, struct heard *out);
void speech_rig_hear(struct speech_rig *rig, struct stt *stt, const int16_t *samples_48k,
                     size_t count, struct heard *out);
void speech_rig_hear_16k(struct speech_rig *rig, struct stt *stt, const int16_t *samples,
                         size_t count, struct heard *out);
