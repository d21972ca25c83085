/* The making of one reply: look-up, model, tools, until the words of the answer are cut into pieces
 * for the voice. Made early, it waits in READY (or still runs) until its turn is committed. Decides
 * only: what it wants done is taken with reply_want(), in order; answer.c carries it out.
 *
 *     NONE --looks--> LOOKING --asks--> ASKED --done--> READY --runs--> TOOLS
 *       '--------------asks-------------^  ^ '--asks--.                  |
 *                                          '----------+------asks--------'
 *     any --ends--> NONE
 *
 * Sans-I/O. Thread: its owner's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/list.h"
#include "engine/llm.h"
#include "talk/speech.h"
#include "talk/talk.h"
#include "text/phrase.h"
#include "text/plain.h"
#include "text/sentence.h"

struct arena;

enum {
    REPLY_LOOK_UP_US = 1000 * 1000,   /* then the reply is made without passages */
    REPLY_MODEL_US = 8000 * 1000,     /* to its first and between its words */
    REPLY_ANSWER_US = 60000 * 1000,   /* for all words of one answer: what was said by then is it */
    REPLY_TOOL_US = 31000 * 1000,     /* a run is cut off at 30 s by itself */
    REPLY_QUIET_US = 2800 * 1000,     /* then the holding line: never 4 s without a word */
    REPLY_HOLD_US = 400 * 1000,       /* contract, Holding line */
    REPLY_TRIES_MAX = 3,              /* asks of a model for one answer */
    REPLY_PAUSE_MAX_US = 1500 * 1000, /* a model that asks for a longer pause has failed */
    REPLY_STEPS_MAX = 5,              /* answers with tools before one without */
    REPLY_CALLS_MAX = 8,              /* tools in one answer */
    REPLY_MAX_CHARS = 16000,          /* as long as the longest turn of a caller: 18 minutes */
};

enum reply_state {
    REPLY_NONE,
    REPLY_LOOKING, /* in the documents */
    REPLY_ASKED,   /* the model writes */
    REPLY_READY,   /* the model is done, the turn is not yet committed */
    REPLY_TOOLS,   /* what the model asked for runs */
    REPLY_STATE_COUNT
};

enum reply_event { REPLY_LOOKS, REPLY_ASKS, REPLY_DONE, REPLY_RUNS, REPLY_ENDS, REPLY_EVENT_COUNT };

enum reply_wish {
    REPLY_WANTS_LOOK_UP,  /* text */
    REPLY_WANTS_ASK,      /* the model, with all that is known now */
    REPLY_WANTS_UNASK,    /* the model's further words are of no use */
    REPLY_WANTS_PIECE,    /* text, is_fixed: said, in the line that grows */
    REPLY_WANTS_LINE_END, /* ... which is complete */
    REPLY_WANTS_SAY,      /* kind, phrase: a line of the service's own */
    REPLY_WANTS_ERROR,    /* text: call.error, stage speech */
    REPLY_WANTS_TOOLS,    /* those of `calls` started */
    REPLY_WANTS_RUN,      /* id, name, text: one of them, by the call */
    REPLY_WANTS_LANGUAGE, /* text: ISO code to go on in */
    REPLY_WANTS_HANG_UP,  /* when all was said */
};

struct reply_want {
    enum reply_wish wish;
    const char *text, *name; /* borrowed until the next reply_want() */
    uint32_t id;
    bool is_fixed;
    enum speech_kind kind;
    enum phrase phrase;
};

struct reply_call {
    struct llm_tool_call call; /* owned texts */
    char *result;              /* NULL: running */
    uint32_t id;
};

/* What the documents say of it. */
struct reply_found {
    struct arena *memory; /* NULL: nothing */
    const struct llm_passage *passages;
    size_t count;
};

/* The tools that the model has asked for (mind_tools.c). */
struct reply_tools {
    struct reply_call calls[REPLY_CALLS_MAX];
    size_t count, excess; /* asked for; beyond those that are run */
    size_t ends;          /* of them, those that end the call */
    int steps;            /* answers with tools so far */
    bool has_run;         /* one of the agent's: what it found is owed to the caller */
};

/* One answer of the model, as it comes: a reply with tools has several. */
struct reply_answer {
    struct splitter splitter;
    struct think_filter think;
    bool has_text; /* something of it was said, or is to be */
    bool has_token;
    int tries;
    size_t chars;
    int64_t asked_us, until_us, again_us;
};

struct reply {
    const char *iso; /* what is spoken; set by the owner */
    struct list_node wants;
    struct reply_wanted *current; /* the one that was taken last */

    enum reply_state state;
    bool is_committed, is_greeting;
    bool is_held;                      /* the holding line was said */
    bool is_ending;                    /* it has asked to hang up */
    size_t spoken_chars, silent_chars; /* silent: in a script that the call does not speak */
    char *caller;                      /* what it answers; NULL: a greeting */
    char *unsure;                      /* words of it that may be others; "": none */
    struct reply_found found;
    struct reply_tools tools;
    struct reply_answer answer;
    int64_t due_us; /* of what its state waits for */
    int64_t hold_us;
};

void reply_init(struct reply *reply, const char *iso);
void reply_clear(struct reply *reply);
/* The state that follows; false: the table has no such move, which is logged and counted. */
bool reply_move(struct reply *reply, enum reply_event event) MUST_USE;
bool reply_want(struct reply *reply, struct reply_want *out); /* the next one */
void reply_wish(struct reply *reply, struct reply_want want); /* texts are copied */

/* Nothing is under way. caller: what is answered, NULL for the greeting; unsure: words of it that
 * may be others. */
void reply_start(struct reply *reply, const char *caller, const char *unsure, bool is_committed,
                 bool looks_up, int64_t now_us);
/* Its turn is committed: what it has is said. */
void reply_commit(struct reply *reply);
void reply_cancel(struct reply *reply); /* what was asked for is not wanted any more */
/* Made for these words, heard so well? */
bool reply_answers(const struct reply *reply, const char *caller, const char *unsure);

void reply_found(struct reply *reply, const struct llm_passage *passages, size_t count,
                 int64_t now_us);
/* Of the model. text: a delta. */
void reply_text(struct reply *reply, const char *text, int64_t now_us);
void reply_done(struct reply *reply);
/* The model failed, or is late: the one place that decides about another try, adapters make none.
 * is_replaced: it is about to be opened again, or another in its place. */
void reply_failed(struct reply *reply, const struct llm_event *event, bool is_replaced,
                  int64_t now_us);
void reply_reopened(struct reply *reply, int64_t now_us); /* the model is: it is asked again */
/* All tools have answered, and the results are in the history. */
void reply_go_on(struct reply *reply, int64_t now_us);

enum reply_late { REPLY_IN_TIME, REPLY_MODEL_IS_LATE, REPLY_TOOLS_ARE_LATE };
/* What is due. quiet_us: since when the caller waits and nobody speaks; INT64_MAX: that is not so.
 */
enum reply_late reply_settle(struct reply *reply, int64_t quiet_us, int64_t now_us);
int64_t reply_deadline_us(const struct reply *reply, int64_t quiet_us);

/* mind_tools.c: what the model asked to be run */
void reply_take_call(struct reply *reply, const struct llm_tool_call *call, int64_t now_us);
void reply_clear_calls(struct reply *reply);
bool reply_may_use_tools(const struct reply *reply); /* for the answer that is asked for */