/* A caller made of a WAV file: joins a room, lets the agent greet, plays the file in real time,
 * listens until the agent has answered, and leaves. Thread: its loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audio/wav.h"
#include "base/attr.h"
#include "base/err.h"
#include "cli/turn_clock.h"

struct wav_caller;
struct loop;
struct rooms;
struct room_transcript;

struct wav_caller_events {
    void (*on_joined)(void *arg, const char *agent);
    void (*on_transcript)(void *arg, const struct room_transcript *line, int64_t since_join_us);
    void (*on_turn)(void *arg, const struct turn *turn);
    /* The end: err OK after an orderly one. The reply is complete. */
    void (*on_ended)(void *arg, enum err err, const char *reason);
};

struct wav_caller_config {
    struct loop *loop;
    struct rooms *rooms;
    const char *url, *token;
    const struct wav *question; /* borrowed; any rate */
    int64_t most_us;            /* the call's ceiling */
    const struct wav_caller_events *events;
    void *arg;
};

enum err wav_caller_open(const struct wav_caller_config *config, struct wav_caller **out,
                         struct fault *fault) MUST_USE;
void wav_caller_free(struct wav_caller *caller); /* after on_ended, or with the loop stopped */
/* What was heard, 16 kHz. */
const int16_t *wav_caller_reply(const struct wav_caller *caller, size_t *out_count);
