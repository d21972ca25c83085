/* Agents: one row with the settings as JSON (store view of the field table) and what is looked up
 * as columns; the name is in both, since lists search it. toolIds and documentIds are part of the
 * settings; removing a tool or a document does not rewrite the agents that name it: whoever shows
 * or runs an agent leaves out what is gone. Thread: inside a job. */
#pragma once

#include "base/attr.h"
#include "base/err.h"

struct agent;
struct tx;

/* Fills id, both keys, created_wall_ms and updated_wall_ms. */
enum err store_agent_insert(struct tx *tx, struct agent *agent) MUST_USE;
/* All but cost_per_minute_usd4 and tools: keys in clear, stats, active_calls. toolIds and
 * documentIds may name what is gone. ERR_NOT_FOUND: none in this workspace. */
enum err store_agent_get(struct tx *tx, const char *workspace_id, const char *id,
                         struct agent *out) MUST_USE;
/* As get, and holds other writers of this agent back until the job's end (read, change, update). */
enum err store_agent_lock(struct tx *tx, const char *workspace_id, const char *id,
                          struct agent *out) MUST_USE;
/* Writes the settings; sets updated_wall_ms and version. Keys, stats and createdAt are not touched.
 */
enum err store_agent_update(struct tx *tx, struct agent *agent) MUST_USE;
/* Its own tools and keys go with it; its calls stay. ERR_NOT_FOUND. */
enum err store_agent_remove(struct tx *tx, const char *workspace_id, const char *id) MUST_USE;
enum agent_key { AGENT_KEY_SECRET, AGENT_KEY_PUBLIC };
/* A new key into agent->api_key or agent->public_key; the old one is unknown from the commit on. */
enum err store_agent_rotate(struct tx *tx, struct agent *agent, enum agent_key which) MUST_USE;
