/* The money of running calls, for store/call*.c: the workspace's row is locked, changed by exact
 * integers (store/money.h) and written back in the job's transaction. Lock order: the call's row,
 * then the workspace's. Thread: inside a job. */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "store/money.h"

struct call_row;
struct tx;

/* Locks and reads. ERR_NOT_FOUND. */
enum err ledger_open(struct tx *tx, const char *workspace_id, struct balance *out) MUST_USE;
void ledger_write(struct tx *tx, const char *workspace_id, const struct balance *balance);

/* The caller of a call has joined: the balance burns faster from then on. */
void ledger_join(struct balance *balance, int64_t rate_usd4, int64_t joined_ms);
/* Takes what a running call has used beyond what it had taken (negative: gives back), as far as the
 * balance goes; returns what was really taken. */
int64_t ledger_take(struct balance *balance, int64_t more_usd4);
/* The call is over: its burn ends, and what it used and did not take is no longer owed. taken_usd4:
 * all that it took, the last ledger_take() included. */
void ledger_leave(struct balance *balance, int64_t rate_usd4, int64_t joined_ms, int64_t taken_usd4,
                  int64_t now_ms);
/* Notes what an embed call cost on this UTC day. */
void ledger_note_embed(struct tx *tx, const struct call_row *call, int64_t usd4);
