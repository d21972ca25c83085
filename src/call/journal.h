/* What happens in one call, written in its order: records wait while a store job of the same call
 * is under way, and the next job takes all of them in one transaction. So neither a slow database
 * nor a pool of connections can turn the order round, and a busy one costs fewer commits.
 * Thread: the call's loop. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/ids.h"
#include "base/list.h"
#include "base/loop.h"
#include "model/call.h"
#include "model/event.h"

struct journal;
struct store;

enum journal_kind {
    JOURNAL_STARTED,
    JOURNAL_AGENT_JOINED, /* a: stt, b: llm, c: tts */
    JOURNAL_USER_JOINED,  /* a: identity */
    JOURNAL_TURN,         /* a: text */
    JOURNAL_ERROR,        /* a: message */
    JOURNAL_END,          /* a: identity of the caller who left, or NULL */
};

struct journal_record {
    struct list_node node;
    enum journal_kind kind;
    char *a, *b, *c;     /* owned */
    int64_t at_wall_ms;  /* AGENT_JOINED, USER_JOINED, TURN; END: endedAt */
    enum turn_role role; /* TURN */
    enum error_stage stage;
    enum end_reason reason; /* END */
    int64_t billed_to_wall_ms;
    bool is_limit;
    struct call_quality *quality;  /* owned, slowest_turns.items too; NULL: none */
    int64_t exhausted_wall_ms;     /* out: USER_JOINED */
    int64_t duration_s, cost_usd4; /* out: END */
};

/* After the commit of a record. is_fenced: it was not written, the call is no longer this node's,
 * nor will anything else be. */
typedef void journal_fn(void *arg, const struct journal_record *record, bool is_fenced);

/* row: id and user_id. */
struct journal *journal_new(struct store *store, struct loop *loop, const struct call *row,
                            journal_fn *on_written, void *arg);
/* Not while something is being written: wait until journal_is_idle(). */
void journal_free(struct journal *journal);
DEFINE_AUTO(journal)

/* record: values; texts are copied, quality is taken. */
void journal_add(struct journal *journal, const struct journal_record *record);
bool journal_is_idle(const struct journal *journal); /* all is written, or it was fenced */
size_t journal_waiting(const struct journal *journal);
