/* Calls: the row, the transcript, the money, and every transition with its events, so that what
 * happened is stored before it is told.
 *
 *   insert --> created --started (event)--+--agent_joined--> active --end--> ended
 *                                         '---------------end-----------------^
 *
 * Every write of an owner is fenced: it names this node's epoch (store/node.h), and ERR_DENIED says
 * that the call is no longer this node's (it was taken for dead and ended by another, or
 * restarted). Then the owner lets go without writing more. Thread: inside a job. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/ids.h"
#include "model/call.h"

struct event_agent_joined;
struct event_error;
struct tx;

/* Inserts the call in state created, owned by this node; no event yet. Sets created_wall_ms when it
 * is 0. webhook_url: the agent's, frozen for this call's events. join_until_wall_ms: the token's
 * end. ERR_BUSY: this node's lease has run out. Call store_workspace_lock() and
 * store_call_running() before. */
enum err store_call_insert(struct tx *tx, const struct call *call, const char *webhook_url,
                           int64_t join_until_wall_ms) MUST_USE;
/* Calls of the workspace in created and active. */
enum err store_call_running(struct tx *tx, const char *workspace_id, int64_t *out_n) MUST_USE;

/* Reading: durations and costs of running calls are those up to tx->now_ms. */

/* The whole call with transcript, webhooks (secrets in clear) and quality: where it is known to be
 * short. agent_id: NULL, or the only agent whose calls are seen. ERR_NOT_FOUND. */
enum err store_call_get(struct tx *tx, const char *workspace_id, const char *agent_id,
                        const char *id, struct call *out) MUST_USE;
/* The same without its transcript, which may be a day of talk. */
enum err store_call_row(struct tx *tx, const char *workspace_id, const char *agent_id,
                        const char *id, struct call *out) MUST_USE;
/* Whose call it is. ERR_NOT_FOUND. */
enum err store_call_workspace(struct tx *tx, const char *id, const char **out) MUST_USE;
enum err store_call_status(struct tx *tx, const char *workspace_id, const char *agent_id,
                           const char *id, enum call_status *out) MUST_USE;
/* Turns from the one at `first` on, until their texts are about max_bytes. *out_next: where to go
 * on; -1: these were the last. */
enum err store_call_turns(struct tx *tx, const char *id, int64_t first, size_t max_bytes,
                          struct call_turn_list *out, int64_t *out_next) MUST_USE;

/* The same for the runs of its tools, from the one after number `after` (0: from the first). */
enum err store_call_runs(struct tx *tx, const char *id, int64_t after, size_t max_bytes,
                         struct call_run_list *out, int64_t *out_after) MUST_USE;

struct call_filter {
    const char *workspace_id;
    const char *agent_id;       /* NULL: any */
    int status;                 /* enum call_status, or -1: any */
    int source;                 /* enum call_source, or -1: any */
    enum end_reason end_reason; /* END_NONE: any, of running ones too */
    int64_t from_ms, until_ms;  /* created then or later, and before; until 0: any time */
    unsigned limit;             /* 1 to 100 */
    const char *before;         /* the cursor of the page before, or NULL */
};
struct call_page {
    struct text_list ids; /* newest first */
    int64_t total;        /* all that match, across pages, in the same snapshot */
    const char *next;     /* cursor, NULL on the last page */
};
/* ERR_INVALID: `before` is no cursor. */
enum err store_call_list(struct tx *tx, const struct call_filter *filter,
                         struct call_page *out) MUST_USE;

/* Transitions of the owner, each with its event in the same transaction. */

/* call.started */
enum err store_call_started(struct tx *tx, const char *id) MUST_USE;
/* created -> active, call.agent_joined */
enum err store_call_agent_joined(struct tx *tx, const char *id, int64_t at_wall_ms,
                                 const struct event_agent_joined *engines) MUST_USE;

/* When money will be out. A job that joins or checkpoints learns the latest. Moments in
 * microseconds are of this process's monotonic clock. */
struct call_funds {
    int64_t at_us;            /* in: when the caller joined */
    int64_t embed_limit_usd4; /* in: of a day, should the agent be gone */
    int64_t exhausted_us;     /* out; MONEY_NEVER_US: not by what runs now */
};
/* call.user_joined; the first time userJoinedAt is set and billing starts. A return after a loss is
 * no event: do not call it. */
enum err store_call_user_joined(struct tx *tx, const char *id, const char *identity,
                                int64_t at_wall_ms, struct call_funds *funds) MUST_USE;
/* A turn of the transcript, with transcript.user or transcript.assistant. */
enum err store_call_turn(struct tx *tx, const char *id, const struct call_turn *turn) MUST_USE;
/* call.error */
enum err store_call_error(struct tx *tx, const char *id, const struct event_error *error) MUST_USE;

/* A run of a tool has begun: number, name, kind, at_wall_ms, arguments. No event tells of it. */
enum err store_call_run_began(struct tx *tx, const char *id, const struct call_run *run) MUST_USE;
/* ... and ended: number, status, http_status, ms, result, error. One that the end of its call found
 * running is cancelled by it. */
enum err store_call_run_ended(struct tx *tx, const char *id, const struct call_run *run) MUST_USE;

struct call_end {
    enum end_reason reason;
    int64_t ended_wall_ms;
    int64_t billed_ms;         /* from the join to the last packet, the limit, or the end */
    bool is_limit;             /* a limit or the balance ended it: whole seconds are rounded down,
                                  so that the duration is the limit and never more than is paid */
    const char *left_identity; /* not NULL: call.user_left goes before call.ended */
    const struct call_quality *quality; /* NULL: none */
    bool is_bare; /* only the row, at what it had taken: all else of it has failed too often */
};
/* Any state -> ended, call.ended; the cost is settled, stats are added. On an ended call OK and
 * nothing changes. out (may be NULL): the whole call as it is now. */
enum err store_call_end(struct tx *tx, const char *id, const struct call_end *end,
                        struct call *out) MUST_USE;
/* The same, without reading the transcript back. */
enum err store_call_end_cost(struct tx *tx, const char *id, const struct call_end *end,
                             int64_t *out_duration_s, int64_t *out_cost_usd4) MUST_USE;

/* Money of running calls. */

/* Elapsed time, as the owner measures it. */
struct call_checkpoint {
    char call_id[ID_SIZE];
    int64_t at_us;            /* in: when it was measured */
    int64_t lasted_ms;        /* in: since the caller joined */
    int64_t billed_ms;        /* in: of it, to be billed: a lost caller's ends at the last packet */
    int64_t embed_limit_usd4; /* in: as in call_funds */
    int64_t exhausted_us;     /* out: when its money will be out */
    bool is_fenced;           /* out: no longer this node's call */
    bool is_passed;           /* out: somebody holds its row or its workspace's: nothing was done */
};
/* At least every 5 s: debits what each call has used, marks it durable up to then, and tells when
 * its money runs out. may_wait false: one transaction for all calls of the node passes those whose
 * rows are held, so that nobody's lock is another's matter; true: for those of one workspace. */
enum err store_call_checkpoint(struct tx *tx, struct call_checkpoint *points, size_t n,
                               bool may_wait) MUST_USE;

/* Recovery. */

/* Ends (agent-shutdown, billed to the last durable moment, with call.ended) at most `limit` calls
 * that no living process owns: of this node's earlier epochs, and of nodes that were fenced.
 * out_n: how many; call again while it is `limit`. Safe on all nodes at once. is_bare: only their
 * rows, when all else has failed too often. */
enum err store_call_recover(struct tx *tx, unsigned limit, bool is_bare, unsigned *out_n) MUST_USE;
