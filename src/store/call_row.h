/* A call's row as its owner changes it, for store/call*.c and store/event.c.
 * Thread: inside a job. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "model/call.h"
#include "model/event.h"

struct cursor;
struct tx;

struct call_row {
    const char *id, *workspace_id, *agent_id, *room_name;
    const char *identity, *metadata_sent, *webhook_url;
    enum call_source source;
    enum call_status status;
    int64_t user_joined_ms, rate_usd4, taken_usd4, durable_ms, last_event_ms, turns;
    const char *owner; /* a node's id; "": nobody's */
    int64_t owner_epoch;
    bool is_ours; /* owned by this process, of this start */
};

/* Locks the row and reads it. A job that locks more goes in one order, or two nodes wait for each
 * other until the database undoes one: calls by their ids, then a workspace (ledger.h).
 * ERR_NOT_FOUND. */
enum err call_row_lock(struct tx *tx, const char *id, struct call_row *out) MUST_USE;
/* The same for a write of the owner. ERR_DENIED: it is not this process's (any more), or ended. */
enum err call_row_own(struct tx *tx, const char *id, struct call_row *out) MUST_USE;
/* The same without waiting. ERR_AGAIN: another transaction holds it. */
enum err call_row_own_now(struct tx *tx, const char *id, struct call_row *out) MUST_USE;

/* The newest of the turns, as many as take at most max_bytes as JSON. */
enum err call_turns_read_newest(struct tx *tx, const struct call_row *row, size_t max_bytes,
                                struct call_turn_list *out, bool *out_is_cut) MUST_USE;

/* Its tools that still run do not answer any more. */
void call_runs_cancel(struct tx *tx, const char *id, int64_t ended_wall_ms);

/* The event of a locked row, with its outbox rows; writes durable_ms and turns of the row, too. */
enum err event_emit(struct tx *tx, struct call_row *row, enum event_type type,
                    const void *data) MUST_USE;
