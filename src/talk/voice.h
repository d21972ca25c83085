/* The saying: lines to the voice a little ahead of what is heard, their ends, their cuts. What the
 * caller has heard of a line becomes a turn of the agent. Who has the floor is not decided here.
 * Sans-I/O. Thread: its owner's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "talk/speech.h"

struct actions;
struct health;
struct history;
struct quality;
struct talk_config;
struct timing;
struct tts_event;

enum {
    VOICE_WAIT_US = 5000 * 1000,        /* to the first and between samples */
    VOICE_WAIT_LITTLE_US = 2500 * 1000, /* the same where there is another to fall back on */
    VOICE_SILENCE_US = 3600 * 1000,     /* then the other one speaks: never 4 s without a word */
    VOICE_WAIT_LEAST_US = 800 * 1000,   /* so long a voice that works may take to begin */
    VOICE_TRIES_MAX = 3,                /* for one line */
};

struct voice {
    /* Set by the owner, borrowed. */
    const struct talk_config *config;
    const char *iso; /* what is spoken now */
    struct actions *actions;
    struct health *health;
    struct history *history;
    struct quality *quality;
    struct timing *timing;

    bool may_ask; /* the voice is open */
    struct speech speech;
    struct speech_line *growing; /* the line that a reply still adds to; NULL: none */
    uint32_t shown_line;         /* the live line that is open */
    bool has_script_error;       /* told once a call */
    int64_t quiet_us;            /* since when the caller waits; set by the owner; INT64_MAX */
    int64_t due_us;              /* the voice owes audio by then */
    int tries;
    int64_t asked_us;
    bool has_first_byte;
};

void voice_init(struct voice *voice);
void voice_clear(struct voice *voice);

/* What of a text can be spoken in this language, without marks; false: nothing is left. */
bool voice_plain(const char *text, const char *iso, struct buf *out);
/* A plain piece of the line that grows, which is opened when there is none. */
void voice_add(struct voice *voice, enum speech_kind kind, const char *plain, bool is_fixed);
void voice_close(struct voice *voice); /* the line that grows has all its pieces */
/* Tells once a call that most of a greeting, a reply or a line could not be spoken. */
void voice_tell_silent(struct voice *voice, const char *text);
/* A whole line. is_urgent: before all others but those of its kind. */
void voice_say(struct voice *voice, enum speech_kind kind, const char *text, bool is_urgent);
/* Cuts what is being said; what was heard is kept. The caller cuts all that was to follow as well,
 * but for the lines of Speak into a call that nobody has heard yet; another such line does not cut
 * one that is being said. True: the line that grew was cut. */
bool voice_cut(struct voice *voice, bool is_by_caller);
void voice_end(struct voice *voice); /* all lines end as they are */
void voice_reopened(struct voice *voice);

/* The functions below that return true: the voice was tried often enough, and all lines have ended
 * as they are. */
bool voice_event(struct voice *voice, const struct tts_event *event, int64_t now_us,
                 bool *out_is_kept) MUST_USE;
bool voice_settle(struct voice *voice, int64_t now_us) MUST_USE;
/* True: the first sample of a reply was heard. */
bool voice_played(struct voice *voice, size_t samples, int64_t now_us) MUST_USE;
int64_t voice_deadline_us(const struct voice *voice);
