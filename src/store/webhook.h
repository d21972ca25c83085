/* Webhook subscriptions. Secrets are sealed. Thread: inside a job. */
#pragma once

#include "base/attr.h"
#include "base/err.h"

struct text_list;
struct tx;
struct webhook;
struct webhook_list;

/* Fills id, created_wall_ms, updated_wall_ms; the secret is in clear in the struct. ERR_LIMIT:
 * WEBHOOKS_MAX exist. Call store_workspace_lock() before. */
enum err store_webhook_insert(struct tx *tx, struct webhook *webhook) MUST_USE;
enum err store_webhook_get(struct tx *tx, const char *workspace_id, const char *id,
                           struct webhook *out) MUST_USE;
/* The same, and holds the row to the job's end: for a change that is made from what was read. */
enum err store_webhook_lock(struct tx *tx, const char *workspace_id, const char *id,
                            struct webhook *out) MUST_USE;
/* Newest first, without those that do not read: out_unreadable holds their ids. */
enum err store_webhook_list(struct tx *tx, const char *workspace_id, struct webhook_list *out,
                            struct text_list *out_unreadable) MUST_USE;
/* Sets updated_wall_ms; disabling drops what waits for it. */
enum err store_webhook_update(struct tx *tx, struct webhook *webhook) MUST_USE;
/* Drops what waits for it. ERR_NOT_FOUND. */
enum err store_webhook_remove(struct tx *tx, const char *workspace_id, const char *id) MUST_USE;
