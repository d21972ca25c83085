/* What the parts of the conversation share; for talk/ only. talk.c holds the whole and its times,
 * hear.c the caller's voice, typed.c what is typed, reply.c the making of a reply, tools.c what it
 * asks to be run, voice.c its being said, health.c the engines' failures. */
#pragma once

#include "base/arena.h"
#include "base/bucket.h"
#include "base/list.h"
#include "engine/llm.h"
#include "engine/stt.h"
#include "engine/tts.h"
#include "talk/endpoint.h"
#include "talk/history.h"
#include "talk/quality.h"
#include "talk/speech.h"
#include "talk/talk.h"
#include "talk/turn.h"
#include "text/plain.h"
#include "text/sentence.h"

enum {
    TALK_NOISE_US = 3000 * 1000,      /* sound without words pauses the agent no longer */
    TALK_LOOK_UP_US = 1000 * 1000,    /* then the reply is made without passages */
    TALK_MODEL_US = 8000 * 1000,      /* to its first and between its words */
    TALK_ANSWER_US = 60000 * 1000,    /* for all words of one answer: what was said by then is it */
    TALK_TOOL_US = 31000 * 1000,      /* a run is cut off at 30 s by itself */
    TALK_VOICE_US = 5000 * 1000,      /* to the first and between samples */
    TALK_HOLD_US = 400 * 1000,        /* contract, Holding line */
    TALK_HANG_UP_US = 300 * 1000,     /* after the last sample, for the way to the caller's ear */
    TALK_FAILURES_US = 10000 * 1000,  /* two failures within this: fall back */
    TALK_RETRY_LEAST_US = 250 * 1000, /* between tries of a failing engine, doubled */
    TALK_RETRY_MOST_US = 10000 * 1000,
    TALK_PAUSE_MOST_US = 1500 * 1000, /* a model that asks for a longer pause has failed */
    TALK_SHOW_AHEAD_SAMPLES = 24000,  /* live words lead the voice by this */
    TALK_SHOW_EVERY_SAMPLES = 19200,  /* and come in bunches of it */
    TALK_EARLY_MOST = 3,              /* early replies for one turn */
    TALK_TRIES_MOST = 3, /* asks of a model for one answer, and of a voice for one line */
    TALK_STEPS_MOST = 5, /* answers with tools before one without */
    TALK_CALLS_MOST = 8, /* tools in one answer */
    TALK_ARGUMENTS_MAX_BYTES = 16 * 1024, /* of one call */
    TALK_ARGUMENTS_DEPTH = 16,
    TALK_CALL_NAME_MAX_BYTES = 256,
    TALK_EXTRA_MAX_BYTES = 32 * 1024, /* signatures of a model's thoughts have some kilobytes */
    TALK_REPLY_MOST_CHARS = 16000,    /* as long as the longest turn of a caller: 18 minutes */
    TALK_TURN_MOST_CHARS = ENDPOINT_MOST_CHARS,
    TALK_TYPED_MOST_CHARS = 2000, /* contract, Typed messages */
    TALK_TYPED_AT_ONCE = 5,
    TALK_TYPED_EVERY_US = 1000 * 1000,
};

enum reply_stage { REPLY_NONE, REPLY_LOOK_UP, REPLY_ASKED, REPLY_READY, REPLY_TOOLS };

struct reply_call {
    struct llm_tool_call call; /* owned texts */
    char *result;              /* NULL: running */
    uint32_t id;
};

struct reply {
    enum reply_stage stage; /* READY: the model is done, the turn is not yet committed */
    bool is_committed, is_greeting;
    bool has_text;        /* something of this answer was said, or is to be */
    bool is_held;         /* the holding line was said */
    char *caller;         /* what it answers; NULL: a greeting */
    struct arena *memory; /* of passages; NULL: none */
    const struct llm_passage *passages;
    size_t passage_count;
    struct splitter splitter;
    struct think_filter think;
    struct reply_call calls[TALK_CALLS_MOST];
    size_t call_count, call_excess; /* asked for; beyond those that are run */
    int steps, tries;
    size_t chars;                      /* of this answer */
    size_t spoken_chars, silent_chars; /* silent: in a script that the call does not speak */
    int64_t asked_us, due_us, until_us, hold_us, again_us;
    bool has_token;
    struct speech_line *line; /* NULL: nothing was said yet */
};

struct engine_health {
    int failures;
    int64_t failed_us;
    bool is_told; /* call.error was sent for this outage */
    bool has_more;
    bool is_closed; /* until talk_engine_opened() */
    bool wants_fallback;
    int64_t retry_us; /* REOPEN then; INT64_MAX: nothing */
};

struct late_tool { /* its reply was cut, its result is still of use */
    uint32_t id;
    char *name;
};

/* What was typed and is no turn yet: a line each. */
struct typed {
    struct buf text;
    size_t chars;
    int64_t at_us;
    struct bucket allowance;
};

struct talk {
    const struct talk_config *config;
    const char *language;
    char iso[8];
    enum turn_state floor;
    struct endpoint endpoint;
    struct typed typed;
    struct speech speech;
    struct reply reply;
    struct history history;
    struct quality quality;
    struct engine_health engines[3];
    struct late_tool late[TALK_CALLS_MOST];
    struct list_node actions;
    struct talk_step *current; /* the action that was handed out last */
    struct arena *request;     /* of the last ASK */
    uint32_t last_gen, last_tool, caller_segment;
    uint32_t shown_line; /* the live line that is open */
    int early_count;
    bool is_begun, is_playing, is_noise, was_thinking, has_script_error;
    const char *state; /* as the room was told */
    int64_t paused_us;
    int64_t voice_end_us; /* of the turn that is being answered; 0: none */
    int64_t speak_due_us; /* the voice owes audio by then */
    int speak_tries;
    int64_t speak_asked_us;
    bool has_first_byte;
    int64_t quiet_us; /* the floor is free since; 0: it is not */
    int reminders;
    bool is_ending;
    int64_t hang_up_us; /* INT64_MAX: not yet */
};

/* ---- talk.c ---- */
void talk_do(struct talk *talk, struct talk_action action); /* texts are copied */
/* After each input: what follows from it. */
void talk_settle(struct talk *talk, int64_t now_us);
bool talk_move(struct talk *talk, enum turn_event event);

/* ---- health.c ---- */
void health_init(struct talk *talk);
void health_settle(struct talk *talk, int64_t now_us);
int64_t health_deadline_us(const struct talk *talk);
struct talk_failure {
    enum talk_engine engine;
    enum talk_stage stage;
    enum engine_error error;
    const char *detail; /* for the operator; it may name addresses, and never reaches a tenant */
    bool is_fatal;      /* the session is of no more use */
};
/* A failure of an engine; the one way to call.error, fallback and retry. */
void talk_failed(struct talk *talk, const struct talk_failure *failure, int64_t now_us);
void talk_worked(struct talk *talk, enum talk_engine engine);

/* ---- hear.c ---- */
bool hear_may_interrupt(const struct talk *talk);
void hear_interrupt(struct talk *talk);
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

/* ---- reply.c ---- */
void reply_init(struct reply *reply);
void reply_clear(struct talk *talk);
/* caller: what is answered, NULL for the greeting. */
void reply_start(struct talk *talk, const char *caller, bool is_committed, int64_t now_us);
void reply_commit(struct talk *talk, const char *caller, int64_t now_us);
void reply_cancel(struct talk *talk);
bool reply_is_active(const struct talk *talk); /* committed, and more may be said */
void reply_reopened(struct talk *talk, int64_t now_us);
void reply_settle(struct talk *talk, int64_t now_us);
int64_t reply_deadline_us(const struct talk *talk);
void reply_request(struct talk *talk, struct llm_request *out);

/* ---- tools.c: what the model asked to be run ---- */
void tools_take(struct reply *reply, const struct llm_tool_call *call);
bool tools_are_offered(const struct talk *talk); /* to the answer that is asked for */
void tools_start(struct talk *talk, int64_t now_us);
void tools_overdue(struct talk *talk, int64_t now_us); /* what has not answered has failed */
void tools_abandon(struct talk *talk);                 /* of a reply that is cut */
void tools_clear(struct reply *reply);

/* ---- voice.c ---- */
/* A piece of a line, made speakable; false: nothing is left of it, or the call cannot speak it. */
bool voice_add(struct talk *talk, struct speech_line *line, const char *text, bool is_fixed);
void voice_say(struct talk *talk, enum speech_kind kind, const char *text, bool is_interruptible);
/* Cuts what is being said; what was heard is kept. The caller cuts all that was to follow as well,
 * but for the lines of Speak into a call that nobody has heard yet; another such line does not cut
 * one that is being said. */
void voice_cut(struct talk *talk, bool is_by_caller);
void voice_settle(struct talk *talk, int64_t now_us);
void voice_reopened(struct talk *talk);
void voice_end(struct talk *talk);
int64_t voice_deadline_us(const struct talk *talk);
