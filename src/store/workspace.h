/* Workspaces: identity, plan, balance. A path calls a workspace a user (`usr_`). The money of
 * running calls is in store/call.h; the arithmetic in store/money.h. Thread: inside a job. */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

struct tx;
struct workspace;
struct workspace_list;

/* Fills id and created_wall_ms; the caller sets name, plan, balance_usd4, max_concurrent_calls. */
enum err store_workspace_insert(struct tx *tx, struct workspace *workspace) MUST_USE;
enum err store_workspace_get(struct tx *tx, const char *id, struct workspace *out) MUST_USE;
/* Oldest first. */
enum err store_workspace_list(struct tx *tx, struct workspace_list *out) MUST_USE;
/* usd4 may be negative; the balance stops at 0. ERR_NOT_FOUND. out may be NULL. */
enum err store_workspace_credit(struct tx *tx, const char *id, int64_t usd4,
                                struct workspace *out) MUST_USE;
/* Holds other writers of this workspace's limits (calls, documents, subscriptions, agents) back
 * until the job's end: first statement of a job that counts before it inserts. ERR_NOT_FOUND. */
enum err store_workspace_lock(struct tx *tx, const char *id) MUST_USE;
