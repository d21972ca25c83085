/* When the caller has finished: from the end of the voice, the words so far and what they look
 * like. A pause must last at least the two delays of the configuration; where those are the usual
 * ones (is_quick), words that are plainly whole need less. Text that looks unfinished waits longer,
 * and at the cap the turn is taken with what is known, so that a caller is never left without a
 * reply because an engine owes a final result.
 *
 *     voice ----stop---- asked -- said -- silence_us, min_us ---- (unfinished) ---- cap
 *                 |  flush    commit              commit             commit         commit anyway
 *
 * A recogniser that sees the end of turns by itself is believed, and waited for as long as it does.
 * The pauses that this caller makes within turns are learned, and not cut (up to 600 ms more):
 * those after words that go on, and those after words that might have been all, each for its
 * like.
 *
 * Sans-I/O. Thread: its owner's. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct stt_event;

enum {
    ENDPOINT_ASKED_US = 300 * 1000,      /* after a question, thanks, an end the engine tells */
    ENDPOINT_SAID_US = 450 * 1000,       /* after a whole sentence: another may follow */
    ENDPOINT_UNFINISHED_US = 600 * 1000, /* more for text that looks unfinished (text/clause.h) */
    ENDPOINT_DICTATED_US = 1200 * 1000,  /* more in a number or a name that is being dictated */
    ENDPOINT_CAP_US = 2500 * 1000,       /* after the voice, whatever the recogniser owes */
    ENDPOINT_FALSE_US = 2000 * 1000,     /* voice without words is a false alarm after this */
    ENDPOINT_AGAIN_US = 1500 * 1000,     /* for who hears it a second time, and within */
    ENDPOINT_AGAIN_CAP_US = 3500 * 1000, /* ... this after the voice: no 4 s without a word */
    ENDPOINT_MAX_CHARS = 16000,          /* of one turn (contract, Long calls) */
    ENDPOINT_TEXT_MAX_BYTES = 4 * ENDPOINT_MAX_CHARS + 8,
};

enum endpoint_verdict { ENDPOINT_OPEN, ENDPOINT_COMMIT, ENDPOINT_VOID };

/* What the words look like when the caller pauses. */
enum endpoint_look {
    ENDPOINT_UNSURE, /* nothing tells */
    ENDPOINT_WHOLE,
    ENDPOINT_SAID,
    ENDPOINT_ASKED,
    ENDPOINT_UNFINISHED
};

/* As this caller pauses within turns. */
struct endpoint_habit {
    int64_t pause_us; /* 0: does not */
    bool has_paused;  /* within this turn */
};

struct endpoint {
    int64_t min_us, silence_us;
    bool is_quick;   /* words that are plainly whole need less than those */
    bool is_open;    /* a voice or words since the last verdict */
    bool is_voiced;  /* the caller is heard now */
    bool is_flushed; /* the recogniser owes nothing of what was heard */
    bool is_stable;  /* the text is not likely to change */
    bool is_ended;   /* the recogniser says that the caller has finished */
    bool punctuates; /* this recogniser writes full stops: a missing one means something */
    bool tells_end;  /* ... and said so of the last turn: it is waited for */
    bool is_stale;   /* what comes without a new voice belongs to the turn that was taken */
    uint32_t flush_gen;
    int64_t began_us, last_voice_us;
    int64_t again_us; /* when another recogniser got the turn's sound; 0: the first one has it */
    int64_t ended_us; /* when the recogniser said so last; 0: not in this turn */
    enum endpoint_look look;
    int64_t patience_us;                  /* more, for what the text looks like */
    struct endpoint_habit whole, goes_on; /* pauses after words that might be all, or that go on */
    struct buf final, text;               /* finished pieces; those and the partial one */
    struct buf unsure;                    /* words of the finished ones that may be others */
    size_t final_chars;
    char iso[8];
};

void endpoint_init(struct endpoint *endpoint, int64_t min_us, int64_t silence_us, const char *iso);
/* A turn whose words are plainly whole may be taken sooner than after the two delays. */
void endpoint_quicken(struct endpoint *endpoint);
void endpoint_clear(struct endpoint *endpoint);
void endpoint_change_language(struct endpoint *endpoint, const char *iso);
/* For the next turn; keeps what was learned of the recogniser. is_taken: the turn was; words that
 * come late are not new ones. Otherwise a slow recogniser may still find words in what was void. */
void endpoint_reset(struct endpoint *endpoint, bool is_taken);

void endpoint_voice_started(struct endpoint *endpoint, int64_t now_us);
/* Returns the generation to flush the recogniser with; 0: nothing is open. */
uint32_t endpoint_voice_stopped(struct endpoint *endpoint, int64_t last_voice_us);
/* True: the text has changed. A partial result is cut to the room there is. */
bool endpoint_heard(struct endpoint *endpoint, const struct stt_event *event, int64_t now_us);
/* How many more characters of finished words the turn can hold. */
size_t endpoint_room_chars(const struct endpoint *endpoint);
/* What was heard so far is a turn; the caller goes on. */
void endpoint_go_on(struct endpoint *endpoint, int64_t now_us);
/* The recogniser was lost: it will not answer the flush. */
void endpoint_deaf(struct endpoint *endpoint);
/* Another one was given the sound of the open turn, and is waited for. Returns the generation to
 * flush it with; 0: the caller goes on. */
uint32_t endpoint_again(struct endpoint *endpoint, int64_t now_us);
void endpoint_forget(struct endpoint *endpoint); /* the words so far: they are told anew */

/* What the caller has said so far; "" when nothing. Borrowed until the next call. */
const char *endpoint_text(const struct endpoint *endpoint);
/* Those of its words that the recogniser was not sure of. */
const char *endpoint_unsure(const struct endpoint *endpoint);
/* Worth a reply made early: silence, and text that will probably stay. */
bool endpoint_is_likely(const struct endpoint *endpoint);
enum endpoint_verdict endpoint_verdict(const struct endpoint *endpoint, int64_t now_us);
int64_t endpoint_deadline_us(const struct endpoint *endpoint); /* INT64_MAX: none */
/* The caller has paused so long after the turn that was taken last, and gone on. (Pauses that are
 * seen here are learned by themselves.) */
void endpoint_learn_pause(struct endpoint *endpoint, int64_t pause_us);
