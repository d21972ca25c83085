/* A voice session of any vendor: what is common to all of them. Sentences wait in a line and are
 * given to the wire one by one, so that their sound comes in their order; what the wire delivers
 * is made samples at TTS_RATE_HZ (or left Opus packets) and told with the generation it belongs to;
 * what belongs to a cancelled one is dropped, however late it comes.
 *
 *   speak -> [line] -> wire->say -> speaker_sound() ... speaker_done() -> next
 *
 * A wire is a table of functions over one session of its own. Thread: the call's loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/loop.h"
#include "engine/tts.h"
#include "vendor/sound.h"

struct speaker;

/* The wire's functions never call back from inside. */
struct speaker_wire {
    void *(*open)(struct speaker *speaker);
    /* One sentence; what it sounds like follows until speaker_done() or speaker_failed(). id is
     * new for each sentence, so that late answers can be told from those of this one. */
    void (*say)(void *wire, uint32_t id, const char *text);
    void (*stop)(void *wire, uint32_t id); /* this sentence is wanted no more */
    void (*close)(void *wire);
    int rate_hz; /* of what it delivers; 0: the wire sets it by speaker_rate() before sound comes */
};

struct speaker {
    struct tts base;
    const struct engine *engine;
    struct loop *loop;
    const struct speaker_wire *wire;
    void *session; /* of the wire */
    tts_event_fn *on_event;
    void *arg;
    struct tts_config config; /* texts are the speaker's own */
    struct list_node lines;   /* waiting */
    size_t line_count;
    uint32_t gen, id; /* of the sentence under way; id is counted up */
    bool is_saying, is_closed;
    struct sound sound;
    struct timer next;
};

/* For an adapter's tts_ops: open() with its wire; the other three are the same for all. */
struct tts *speaker_open(const struct engine *engine, struct loop *loop,
                         const struct tts_config *config, tts_event_fn *on_event, void *arg,
                         const struct speaker_wire *wire);
void speaker_speak(struct tts *base, uint32_t gen, const char *text, bool is_last);
void speaker_cancel(struct tts *base);
void speaker_close(struct tts *base);

/* For the wire. An id that is not under way any more is ignored. */
void speaker_rate(struct speaker *speaker, int rate_hz);
void speaker_sound(struct speaker *speaker, uint32_t id, const void *data, size_t len);
void speaker_done(struct speaker *speaker, uint32_t id);
/* id 0: the session itself. is_fatal: it is of no more use. */
void speaker_failed(struct speaker *speaker, uint32_t id, enum engine_error error,
                    const char *message, bool is_fatal);

/* Within the engine's range (struct engine_info). */
double speaker_speed(const struct speaker *speaker);
double speaker_volume(const struct speaker *speaker);
/* The speaker that the agent names if the engine has it, else the first of the engine; "": none. */
const char *speaker_voice(const struct speaker *speaker);
const char *speaker_model(const struct speaker *speaker); /* "": none is known */
/* The emotion if the engine knows it, else "". */
const char *speaker_emotion(const struct speaker *speaker);
/* Opus may be asked for: no other loudness is wished, so a call need not decode it. */
bool speaker_wants_opus(const struct speaker *speaker);
