/* What calls take of a workspace's balance, for store/call*.c: the workspace's row is locked,
 * changed and written back in the job's transaction. Lock order: the call's row, then the
 * workspace's. Thread: inside a job. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

struct call_row;
struct tx;

/* Locks and reads. ERR_NOT_FOUND: there is none. may_wait false: ERR_AGAIN when it is locked. */
enum err ledger_open(struct tx *tx, const char *workspace_id, bool may_wait,
                     int64_t *out_balance_usd4) MUST_USE;
void ledger_write(struct tx *tx, const char *workspace_id, int64_t balance_usd4);

/* Takes what a call has used beyond what it had taken (negative: gives back), as far as the balance
 * goes; returns what was really taken, and notes it for embed calls on the UTC day on which it was
 * used. billed_ms: how long the call has lasted. */
int64_t ledger_take(struct tx *tx, int64_t *balance_usd4, const struct call_row *call,
                    int64_t more_usd4, int64_t billed_ms);
/* What embed calls of the agent have taken on the day of tx->now_ms. */
int64_t ledger_embed_noted(struct tx *tx, const char *agent_id);
enum { LEDGER_DAY_MS = 86400000 };
