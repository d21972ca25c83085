/* The whole of a conversation, for those files of talk/ that join its parts: talk.c its times and
 * its end, floor.c who has the floor, listen.c what the caller's words do, typed.c what the caller
 * types, answer.c what a reply wants. Each part has its own header and knows nothing of the whole.
 */
#pragma once

#include "engine/llm.h"
#include "engine/stt.h"
#include "engine/tts.h"
#include "talk/actions.h"
#include "talk/health.h"
#include "talk/hear.h"
#include "talk/mind.h"
#include "talk/quality.h"
#include "talk/talk.h"
#include "talk/timing.h"
#include "talk/turn.h"
#include "talk/voice.h"

enum { TALK_NOISE_US = 3000 * 1000 /* sound without words pauses the agent no longer */ };

/* A caller who says nothing. */
struct silence {
    int64_t since_us; /* the floor is free; 0: it is not */
    int reminders;
};

struct talk {
    const struct talk_config *config;
    char iso[8]; /* what is spoken now */
    enum turn_state floor;
    int64_t thinking_us; /* the caller waits since then while it THINKS; INT64_MAX: it does not */
    int64_t again_us; /* end of the voice that nobody heard, until the agent says so; INT64_MAX */
    struct actions actions;
    struct health health;
    struct quality quality;
    struct timing timing;
    struct hear hear;
    struct mind mind;
    struct voice voice;
    struct silence silence;
    const char *state; /* as the room was told */
    bool is_begun, is_playing;
    bool is_ending;     /* the call is over when all was said */
    int64_t hang_up_us; /* INT64_MAX: not yet */
};

/* talk.c */
void talk_do(struct talk *talk, struct talk_action action); /* texts are copied */
/* After each input: what follows from it. */
void talk_settle(struct talk *talk, int64_t now_us);

/* floor.c */
bool floor_move(struct talk *talk, enum turn_event event);
/* The agent goes on where the caller's sound had stopped it. */
void floor_resume(struct talk *talk);
void floor_settle(struct talk *talk, int64_t now_us);
/* Since when the caller waits and nothing is to be heard; INT64_MAX: that is not so. */
int64_t floor_quiet_us(const struct talk *talk);
void floor_show(struct talk *talk); /* to the room, and what may be played */

/* listen.c */
bool listen_may_interrupt(const struct talk *talk);
void listen_interrupt(struct talk *talk, int64_t now_us);
/* Replies to a turn of the caller. */
void listen_answer(struct talk *talk, const char *text, int64_t now_us);
void listen_settle(struct talk *talk, int64_t now_us);
int64_t listen_deadline_us(const struct talk *talk);

/* typed.c */
bool typed_settle(struct talk *talk, int64_t now_us); /* true: a turn was taken */

/* answer.c */
/* caller: what is answered, NULL for the greeting. */
void answer_start(struct talk *talk, const char *caller, bool is_committed, int64_t now_us);
void answer_commit(struct talk *talk, const char *caller, int64_t now_us);
void answer_cancel(struct talk *talk, int64_t now_us);
void answer_reopened(struct talk *talk, int64_t now_us); /* the model is */
void answer_settle(struct talk *talk, int64_t now_us);
