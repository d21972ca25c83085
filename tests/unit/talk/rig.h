/* A conversation on a table: virtual time, scripted engines, and an ear that counts what is
 * played. All that the conversation does is kept as lines "<ms> <what> <text>". */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "engine/engine.h"
#include "talk/talk.h"

enum { RIG_CHAR_SAMPLES = 3200, RIG_EVENTS = 64 };

struct rig_event {
    int64_t due_us;
    void (*fn)(void *rig, struct rig_event *event);
    uint32_t gen, epoch;
    char text[400];
    bool flag;
};

struct rig {
    struct talk_config config;
    struct talk *talk;
    int64_t now_us;
    struct rig_event events[RIG_EVENTS];
    uint32_t voice_epoch, model_epoch; /* a cancel makes what was scheduled stale */
    /* The script. */
    const char *reply;   /* of the model */
    const char *tool;    /* called with the first answer; NULL: none */
    bool is_tool_mad;    /* ... and with each further one */
    const char *words;   /* of the recogniser, at its next flush; NULL: none */
    const char *passage; /* of the documents; NULL: none */
    int64_t model_us, voice_us, stt_us;
    int model_failures, voice_failures;         /* so many asks fail first */
    enum engine_error model_error, voice_error; /* how; 0: ENGINE_TRANSIENT */
    const char *unspeakable;                    /* a line with this in it is refused; NULL: none */
    const char *soundless;                      /* one with this has no sound; NULL: none */
    int64_t model_retry_us;                     /* the pause that its failures ask for */
    bool is_model_mute, is_voice_mute, is_stt_mute; /* never answers */
    bool has_more[3];
    /* What came of it. */
    struct buf log;
    bool is_playing;
    size_t queued, played; /* samples */
    int64_t first_sound_us, last_sound_us;
    int asks, reopened;
    struct talk_timing timing; /* of the last turn that had one */
    int timings;
    size_t offered;  /* tools of the last ask */
    char error[200]; /* text of the last call.error, and what the operator reads */
    char detail[200];
    bool has_hung_up;
    char live[1000];    /* the agent's live words, of all lines */
    char request[4000]; /* the last one's messages, a line each */
    char ids[400];      /* and its calls of tools, a space between */
};

void rig_init(struct rig *rig); /* config and script can be changed until rig_begin() */
void rig_begin(struct rig *rig);
void rig_clear(struct rig *rig);
void rig_run(struct rig *rig, int64_t until_ms);
/* The caller's voice from now on for so long (then a pause of 200 ms is told); words: what the
 * recogniser will make of it. Runs to the pause. */
void rig_speak(struct rig *rig, const char *words, int64_t ms);
void rig_partial(struct rig *rig, const char *text);
int64_t rig_ms(const struct rig *rig);
bool rig_has(const struct rig *rig, const char *line); /* is it in the log? part of a line */
int rig_count(const struct rig *rig, const char *part);
/* When a line with this in it was logged first, in ms; -1: never. */
int64_t rig_when(const struct rig *rig, const char *part);
