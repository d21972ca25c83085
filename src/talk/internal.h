/* The whole of a conversation, for those files of talk/ that join its parts: talk.c its times and
 * its end, floor.c who has the floor, hear.c the caller's voice, typed.c what the caller types,
 * answer.c what a reply wants. Each part has its own header and knows nothing of the whole. */
#pragma once

#include "base/bucket.h"
#include "engine/llm.h"
#include "engine/stt.h"
#include "engine/tts.h"
#include "talk/actions.h"
#include "talk/endpoint.h"
#include "talk/health.h"
#include "talk/mind.h"
#include "talk/quality.h"
#include "talk/talk.h"
#include "talk/turn.h"
#include "talk/voice.h"

enum {
    TALK_NOISE_US = 3000 * 1000,     /* sound without words pauses the agent no longer */
    TALK_HANG_UP_US = 300 * 1000,    /* after the last sample, for the way to the caller's ear */
    TALK_LOST_LEAST_US = 400 * 1000, /* a shorter sound may have been no word */
    TALK_UNANSWERED_MAX = 2,         /* flushes in a row: then the recogniser has failed */
    TALK_EARLY_MAX = 3,              /* early replies for one turn */
    TALK_TYPED_MAX_CHARS = 2000,     /* contract, Typed messages */
    TALK_TYPED_AT_ONCE = 5,
    TALK_TYPED_EVERY_US = 1000 * 1000,
};

/* What was typed and is no turn yet: a line each. */
struct typed {
    struct buf text;
    size_t chars;
    int64_t at_us;
    struct bucket allowance;
};

/* The caller. */
struct hear {
    struct endpoint endpoint;
    struct typed typed;
    uint32_t segment;     /* the caller's live line; 0: none */
    int early_count;      /* replies made early for this turn */
    bool is_noise;        /* sound without words that the agent speaks over */
    bool is_lost;         /* words of this turn were not heard: the recogniser has failed */
    int unanswered;       /* flushes in a row */
    bool was_thinking;    /* PAUSED: the agent had not spoken yet */
    int64_t paused_us;    /* when the caller's voice stopped the agent */
    int64_t voice_end_us; /* of the turn that is being answered; 0: none */
};

/* A caller who says nothing. */
struct silence {
    int64_t since_us; /* the floor is free; 0: it is not */
    int reminders;
};

struct talk {
    const struct talk_config *config;
    char iso[8]; /* what is spoken now */
    enum turn_state floor;
    int64_t thinking_us; /* since when it is THINKING; INT64_MAX: it is not */
    struct actions actions;
    struct health health;
    struct quality quality;
    struct hear hear;
    struct mind mind;
    struct voice voice;
    struct silence silence;
    const char *state; /* as the room was told */
    bool is_begun, is_playing;
    bool is_ending;     /* the call is over when all was said */
    int64_t hang_up_us; /* INT64_MAX: not yet */
};

/* ---- talk.c ---- */
void talk_do(struct talk *talk, struct talk_action action); /* texts are copied */
/* After each input: what follows from it. */
void talk_settle(struct talk *talk, int64_t now_us);

/* ---- floor.c ---- */
bool floor_move(struct talk *talk, enum turn_event event);
/* The agent goes on where the caller's sound had stopped it. */
void floor_resume(struct talk *talk);
void floor_settle(struct talk *talk, int64_t now_us);
/* Since when the caller waits and nothing is to be heard; INT64_MAX: that is not so. */
int64_t floor_quiet_us(const struct talk *talk);
void floor_show(struct talk *talk); /* to the room, and what may be played */

/* ---- hear.c ---- */
bool hear_may_interrupt(const struct talk *talk);
void hear_interrupt(struct talk *talk, int64_t now_us);
/* A turn of the caller, told and kept; hear_answer() also replies to it. */
void hear_turn(struct talk *talk, const char *text, int64_t at_us);
void hear_answer(struct talk *talk, const char *text, int64_t now_us);
/* The caller is gone: what was heard of an open turn is one. */
void hear_last_words(struct talk *talk);
void hear_settle(struct talk *talk, int64_t now_us);
int64_t hear_deadline_us(const struct talk *talk);

/* ---- typed.c ---- */
void typed_init(struct typed *typed);
void typed_clear(struct typed *typed);
void typed_tell(struct talk *talk); /* what waits becomes a turn that nothing answers */
bool typed_settle(struct talk *talk, int64_t now_us); /* true: a turn was taken */

/* ---- answer.c ---- */
/* caller: what is answered, NULL for the greeting. */
void answer_start(struct talk *talk, const char *caller, bool is_committed, int64_t now_us);
void answer_commit(struct talk *talk, const char *caller, int64_t now_us);
void answer_cancel(struct talk *talk, int64_t now_us);
void answer_reopened(struct talk *talk, int64_t now_us); /* the model is */
void answer_settle(struct talk *talk, int64_t now_us);
