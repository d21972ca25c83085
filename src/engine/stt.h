/* Speech to text: 16 kHz mono in, words out. Thread: the call's loop. See engine.h for generations
 * and events. */
#pragma once

#include <stddef.h>

#include "engine/engine.h"

struct stt; /* one session; an adapter's own struct begins with it */

enum { STT_RATE_HZ = 16000 };

enum stt_event_kind {
    STT_READY,    /* connected; audio pushed before was kept */
    STT_PARTIAL,  /* text: all of the current utterance so far, replacing the last partial;
                     is_stable: not likely to change */
    STT_FINAL,    /* text: a finished piece of the utterance; pieces add up until STT_FLUSHED */
    STT_ENDPOINT, /* the engine itself takes the caller to have finished */
    STT_FLUSHED,  /* all text of what was pushed before flush(gen) has been told */
    STT_ERROR,    /* error, message; the session is of no more use when is_fatal */
};

struct stt_event {
    enum stt_event_kind kind;
    uint32_t gen;     /* STT_FLUSHED */
    const char *text; /* borrowed for the callback, as all texts */
    const char
        *unsure; /* STT_FINAL: words of it that may be others, a space between; may be NULL */
    bool is_stable, is_fatal;
    enum engine_error error;
    const char *message;
};
typedef void stt_event_fn(void *arg, const struct stt_event *event);

struct stt_config {
    const char *language;     /* ISO code the caller speaks */
    const char *const *hints; /* further ISO codes to listen for */
    size_t hint_count;
    const char *vocabulary; /* text in the agent's own words (instructions, documents), for engines
                               that build a language model; may be NULL */
    const char *workspace; /* whose call it is: network engines are shared fairly; NULL: nobody's */
    bool detect_language;
    bool is_ahead; /* llm.h */
};

struct stt_ops {
    /* config is borrowed for the call. NULL is never returned: what fails is told by STT_ERROR. */
    struct stt *(*open)(const struct engine *engine, struct loop *loop,
                        const struct stt_config *config, stt_event_fn *on_event, void *arg);
    void (*push)(struct stt *stt, const int16_t *samples, size_t count);
    void (*flush)(
        struct stt *stt,
        uint32_t gen); /* the caller has paused: tell what is still held back, then STT_FLUSHED */
    void (*close)(struct stt *stt);
};

struct stt {
    const struct stt_ops *ops;
};
