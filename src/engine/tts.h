/* Text to speech: sentences in, 48 kHz mono (or Opus as the caller can have it) out. Thread: the
 * call's loop. See engine.h. */
#pragma once

#include <stddef.h>

#include "engine/engine.h"

struct tts;

enum { TTS_RATE_HZ = 48000 };

enum tts_event_kind {
    TTS_AUDIO, /* sound of generation gen, in order; at any pace */
    TTS_DONE,  /* all audio of speak(gen) has come */
    TTS_ERROR, /* of generation gen (0: the session); is_fatal: the session is of no more use */
};

struct tts_event {
    enum tts_event_kind kind;
    uint32_t gen;
    const int16_t *samples; /* TTS_RATE_HZ, borrowed for the callback; NULL: a packet */
    size_t count;           /* samples; of a packet too: 20 ms of them */
    const uint8_t *packet;  /* Opus for the caller as it is, where takes_opus; borrowed alike */
    size_t packet_bytes;
    bool is_fatal;
    enum engine_error error;
    const char *message;
};
typedef void tts_event_fn(void *arg, const struct tts_event *event);

struct tts_config {
    const char *language;  /* ISO code */
    const char *speaker;   /* "" : the engine's default */
    const char *emotion;   /* "" : none */
    const char *model;     /* "" : the engine's default */
    const char *workspace; /* whose call it is: network engines are shared fairly; NULL: nobody's */
    double speed, volume;
    bool takes_opus; /* packets of 20 ms may come in place of samples */
    bool is_ahead;   /* llm.h */
};

struct tts_ops {
    struct tts *(*open)(const struct engine *engine, struct loop *loop,
                        const struct tts_config *config, tts_event_fn *on_event, void *arg);
    /* One sentence or clause. Several may be under way; their audio comes in the order of speaking.
     * text is borrowed. is_last: no more text of this reply follows. */
    void (*speak)(struct tts *tts, uint32_t gen, const char *text, bool is_last);
    void (*cancel)(struct tts *tts); /* all generations so far */
    void (*close)(struct tts *tts);
};

struct tts {
    const struct tts_ops *ops;
};
