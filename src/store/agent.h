/* Agents: one row with the settings as JSON (store view of the field table) and what is looked up
 * as columns. toolIds and documentIds are part of the settings. Thread: inside a job. */
#pragma once

#include "base/attr.h"
#include "base/err.h"

struct agent;
struct agent_list;
struct tx;

/* Fills id, both keys, created_wall_ms and updated_wall_ms. */
enum err store_agent_insert(struct tx *tx, struct agent *agent) MUST_USE;
/* All but cost_per_minute_usd4 and tools: keys in clear, stats, active_calls. ERR_NOT_FOUND: none
 * in this workspace. */
enum err store_agent_get(struct tx *tx, const char *workspace_id, const char *id,
                         struct agent *out) MUST_USE;
/* As get, and holds other writers of this agent back until the job's end (read, change, update). */
enum err store_agent_lock(struct tx *tx, const char *workspace_id, const char *id,
                          struct agent *out) MUST_USE;
/* updatedAt descending, then id. only_id: NULL, or the one agent that is listed. */
enum err store_agent_list(struct tx *tx, const char *workspace_id, const char *only_id,
                          struct agent_list *out) MUST_USE;
/* Writes the settings; sets updated_wall_ms. Keys, stats and createdAt are not touched. */
enum err store_agent_update(struct tx *tx, struct agent *agent) MUST_USE;
/* Its own tools and keys go with it; its calls stay. ERR_NOT_FOUND. */
enum err store_agent_remove(struct tx *tx, const char *workspace_id, const char *id) MUST_USE;
enum agent_key { AGENT_KEY_SECRET, AGENT_KEY_PUBLIC };
/* A new key into agent->api_key or agent->public_key; the old one is unknown from the commit on. */
enum err store_agent_rotate(struct tx *tx, struct agent *agent, enum agent_key which) MUST_USE;
/* Takes a tool or document that is removed out of the lists of the workspace's agents. */
enum agent_mention { AGENT_TOOL_IDS, AGENT_DOCUMENT_IDS };
enum err store_agent_forget(struct tx *tx, const char *workspace_id, enum agent_mention where,
                            const char *id) MUST_USE;
