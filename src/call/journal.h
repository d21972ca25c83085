/* What happens in one call, written in its order: records wait while a store job of the same call
 * is under way, and the next job takes all of them in one transaction. So neither a slow database
 * nor a pool of connections can turn the order round, and a busy one costs fewer commits.
 *
 * Records are numbered, and the call's row says which was the last: one whose job may have taken
 * effect (its answer was lost) is tried again and still written once.
 *
 *   add --> waiting --> a job of all --ok-------------------> WRITTEN
 *                         |--no longer our call-------------> FENCED, and all that follows
 *                         |--database away--> a pause, again
 *                         '--refused--> again, each record by itself --> WRITTEN or SET_ASIDE
 *
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
    JOURNAL_RUN_BEGAN,    /* a: the tool's name, b: its arguments; run: the rest */
    JOURNAL_RUN_ENDED,    /* a: result, b: error; run: the rest */
    JOURNAL_END,          /* a: identity of the caller who left, or NULL */
};

enum journal_outcome {
    JOURNAL_WRITTEN,
    JOURNAL_SET_ASIDE, /* it can never be written: a dead letter tells of it */
    JOURNAL_FENCED,    /* the call is no longer this node's */
    JOURNAL_GIVEN_UP,  /* the service ends before the database came back: recovery ends the call */
};

struct journal_record {
    struct list_node node;
    enum journal_kind kind;
    int64_t number; /* given by journal_add(), from 1 */
    size_t bytes;   /* that it holds; the same */
    enum journal_outcome outcome;
    char *a, *b, *c;           /* owned */
    int64_t at_wall_ms;        /* AGENT_JOINED, USER_JOINED, TURN, RUN_BEGAN; END: endedAt */
    int64_t at_us;             /* USER_JOINED */
    enum turn_role role;       /* TURN */
    struct turn_timing timing; /* TURN; at_wall_ms 0: none */
    enum error_stage stage;
    struct call_run run;    /* RUN_BEGAN, RUN_ENDED: its texts and time are those of the record */
    enum end_reason reason; /* END */
    int64_t billed_ms;
    bool is_limit;
    struct call_quality *quality;  /* owned, slowest_turns.items too; NULL: none */
    int64_t embed_limit_usd4;      /* USER_JOINED */
    int64_t exhausted_us;          /* out: USER_JOINED */
    int64_t duration_s, cost_usd4; /* out: END */
};

/* Texts that wait in the journals of one loop while the database is away. */
struct journal_total {
    size_t bytes;
};
enum {
    JOURNAL_MAX_BYTES = 1024 * 1024,                /* of one call: a dozen of its longest turns */
    JOURNAL_RUNS_MAX_BYTES = JOURNAL_MAX_BYTES / 2, /* the rest is for what is said */
    JOURNAL_ALL_BYTES = 128 * 1024 * 1024,          /* of all calls of a loop */
};

/* After the commit of a record, or when there will be none. */
typedef void journal_fn(void *arg, const struct journal_record *record,
                        enum journal_outcome outcome);

struct journal_config {
    struct store *store;
    struct loop *loop;
    const char *call_id, *workspace_id;
    struct journal_total *total;
    journal_fn *on_written;
    void *arg;
};
struct journal *journal_new(const struct journal_config *config);
/* Where something is being written still, it is freed when that has ended; on_written comes no
 * more. */
void journal_free(struct journal *journal);
DEFINE_AUTO(journal)

/* record: values; texts are copied, quality is taken. ERR_LIMIT: the call has JOURNAL_MAX_BYTES
 * waiting; ERR_BUSY: all have JOURNAL_ALL_BYTES. Then it was not added and the call must end: an
 * end is always taken. */
enum err journal_add(struct journal *journal, const struct journal_record *record) MUST_USE;
/* Nothing more is tried: what waits is given up, and what is under way when it has failed. */
void journal_give_up(struct journal *journal);
bool journal_is_idle(const struct journal *journal); /* nothing is waiting or being written */
size_t journal_waiting(const struct journal *journal);
size_t journal_waiting_bytes(const struct journal *journal);
