/* The hearing: the caller's voice and words become turns, which are shown live, told and kept. What
 * they do to the agent's voice and to who has the floor is not decided here. Sans-I/O. Thread: its
 * owner's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/bucket.h"
#include "base/buf.h"
#include "talk/endpoint.h"

struct actions;
struct health;
struct history;
struct stt_event;
struct talk_config;

enum {
    HEAR_LOST_MIN_US = 400 * 1000,   /* a shorter sound may have been no word */
    HEAR_UNANSWERED_MAX = 2,         /* flushes in a row: then the recogniser has failed */
    HEAR_OWN_PAUSE_US = 1000 * 1000, /* nobody has heard an answer and cut it so soon */
};

/* What was typed and is no turn yet: a line each. */
struct typed {
    struct buf text;
    size_t chars;
    int64_t at_us;
    struct bucket allowance;
};

struct hear {
    /* Set by the owner, borrowed. */
    struct actions *actions;
    struct health *health;
    struct history *history;
    uint32_t *last_segment; /* live lines of both sides are counted together */

    struct endpoint endpoint;
    struct typed typed;
    uint32_t segment;     /* the caller's live line; 0: none */
    int early_count;      /* replies made early for this turn */
    bool is_noise;        /* sound without words that the agent speaks over */
    bool is_lost;         /* words of this turn were not heard: the recogniser has failed */
    bool is_told_anew;    /* the next words are those of the whole turn, from another one */
    int unanswered;       /* flushes in a row */
    uint32_t turns;       /* that were taken or void */
    bool was_thinking;    /* PAUSED: the agent had not spoken yet */
    int64_t paused_us;    /* when the caller's voice stopped the agent */
    int64_t voice_end_us; /* of the turn that is being answered; 0: none */
    int64_t turn_end_us;  /* the same, also while the answer is heard */
};

void hear_init(struct hear *hear, const struct talk_config *config, const char *iso);
void hear_clear(struct hear *hear);

/* What the recogniser's event says of itself: that it works, has failed, or owes nothing. */
void hear_recogniser(struct hear *hear, const struct stt_event *event, int64_t now_us);
void hear_voice_stopped(struct hear *hear, int64_t last_voice_us);
/* At the end of a turn. A recogniser answers each flush, even when it heard no word. One that
 * does not counts as slow the first time and as failed the second. */
void hear_count_unanswered(struct hear *hear, int64_t now_us);
/* The recogniser was opened again and got the sound of the open turn; is_whole: all of it. */
void hear_again(struct hear *hear, bool is_whole, int64_t now_us);
bool hear_has_lost(const struct hear *hear); /* the caller said something that nobody heard */

/* True: the open turn has other words now. */
bool hear_words(struct hear *hear, const struct stt_event *event, int64_t now_us) MUST_USE;
/* The turn that is being answered was no whole one: the caller has gone on before the agent was
 * heard, or as soon as if they had not heard it, and the pause within it is learned. */
void hear_learn_cut(struct hear *hear, bool was_thinking);

/* A turn of the caller is told and kept. */
void hear_turn(struct hear *hear, const char *text, int64_t at_us);
void hear_typed(struct hear *hear); /* what was typed and waits becomes a turn */
/* The open turn becomes one, after what was typed. Its words stay until hear_next(). */
void hear_take(struct hear *hear);
void hear_next(struct hear *hear, bool is_taken); /* as endpoint_reset() */
/* The caller is gone: what was heard of an open turn is one. */
void hear_last_words(struct hear *hear);
