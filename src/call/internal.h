/* A live call, which call.c, converse.c and what they call share; nobody outside call/ includes it.
 * call.c holds its life, converse.c carries out what its conversation decides. */
#pragma once

#include "base/ids.h"
#include "base/list.h"
#include "base/loop.h"
#include "call/call_loop.h"
#include "call/calls.h"
#include "call/engines.h"
#include "call/journal.h"
#include "call/life.h"
#include "call/limits.h"
#include "call/line_cache.h"
#include "call/load.h"
#include "call/media.h"
#include "call/money.h"
#include "call/plan.h"
#include "call/presence.h"
#include "call/setup.h"
#include "call/speak.h"
#include "call/tools.h"
#include "know/follow.h"
#include "room/link.h"
#include "talk/talk.h"

struct map;

/* converse.c: what the conversation has under way. */
struct converse {
    struct talk_config config;
    bool is_acting; /* actions are being carried out: what they cause is taken in the same go */
    struct list_node asks; /* look-ups under way */
    struct follow follow;  /* what was looked up before */
    char agent_state[16];  /* as the room was told; "": not yet */
    struct timer timer;
};

struct live_call {
    struct list_node node;
    struct call_loop *home;
    struct call_plan *plan;
    const char *id;
    enum call_status status;
    bool is_told;  /* the control loop knows that it is up, or that it will never be */
    char *refusal; /* why the agent could not be dispatched; NULL: it was */
    bool is_room_open, is_closing;
    enum end_reason end_reason;
    struct setup *setup;
    struct engines engines;
    struct talk *talk;
    struct converse converse;
    struct media media;
    struct speak speak;
    struct call_tools tools;
    struct room_link *room;
    struct journal *journal;
    struct money_seat money;
    bool is_watched;
    struct timer clock;
    int64_t begun_us;
    struct presence presence;
    struct limits limits;
};

/* call.c */
/* Takes the plan. What follows is told by calls_is_up() and calls_is_gone(). refusal: the call is
 * only recorded, as one that could not be dispatched; NULL: it is set up. */
void live_call_open(struct call_loop *home, struct call_plan *take_plan, const char *refusal);
void live_call_end(struct live_call *call, enum end_reason reason);
/* To the journal; a call whose journal is over its ceiling ends (agent-shutdown). */
void live_call_record(struct live_call *call, const struct journal_record *record);
void live_call_give_up(struct live_call *call); /* nothing more of it is written */
enum err live_call_say(struct live_call *call, const char *text);
/* To who watches the call; text: copied, NULL is fine. */
void live_call_news(struct live_call *call, enum call_news news, const char *text);
/* From now on it has news, to its end, and tells at once what the agent does. */
void live_call_watch(struct live_call *call);
int64_t live_call_wall_ms(const struct live_call *call, int64_t at_us);

/* converse.c */
call_run_fn converse_on_run;                /* a tool's run begins or has ended: for the journal */
void converse_open(struct live_call *call); /* engines and conversation */
void converse_begin(struct live_call *call);
/* Carries out what the conversation wants, and sets its timer. After every talk_ function. */
void converse_act(struct live_call *call);
/* The conversation is over: what it still has to tell is told and written, nothing else done. */
void converse_finish(struct live_call *call);
void converse_close(struct live_call *call);

/* quality.c */
struct call_quality *quality_of(const struct live_call *call); /* mem_free() with its items */
/* timing: NULL is fine, and at_wall_ms 0 then. */
struct turn_timing quality_timing(const struct live_call *call, const struct talk_timing *timing);

/* calls.c, on the control loop; any thread posts itself there. */
void calls_is_up(struct calls *calls, const char *call_id, enum err err, const char *message);
void calls_is_ended(struct calls *calls, const char *call_id); /* stored */
void calls_is_gone(struct calls *calls, const char *call_id);
void calls_has_news(struct calls *calls, const char *call_id, enum call_news news,
                    const char *text);
void calls_funds_moved(struct calls *calls, const char *workspace_id);
