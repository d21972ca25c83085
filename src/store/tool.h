/* Tools: settings as JSON, the credential sealed beside it. Thread: inside a job. */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "base/err.h"

struct tool;
struct tool_list;
struct tx;

/* Fills id (unless set), created_wall_ms, updated_wall_ms. The credential is in clear in the
 * struct. ERR_CONFLICT: the agent has a tool of that name. */
enum err store_tool_insert(struct tx *tx, struct tool *tool) MUST_USE;
enum err store_tool_get(struct tx *tx, const char *workspace_id, const char *id,
                        struct tool *out) MUST_USE;
/* Newest first. agent_id NULL: all of the workspace. */
enum err store_tool_list(struct tx *tx, const char *workspace_id, const char *agent_id,
                         struct tool_list *out) MUST_USE;
/* What an agent can reach: its own tools and those of no agent, oldest first. */
enum err store_tool_list_reachable(struct tx *tx, const char *workspace_id, const char *agent_id,
                                   struct tool_list *out) MUST_USE;
/* The copy that the agent already has of a tool. ERR_NOT_FOUND. */
enum err store_tool_find_copy(struct tx *tx, const char *agent_id, const char *source_id,
                              struct tool *out) MUST_USE;
/* Is the saved name taken among the agent's own tools (agent_id "": those of no agent)? */
enum err store_tool_name_taken(struct tx *tx, const char *workspace_id, const char *agent_id,
                               const char *name, bool *out) MUST_USE;
/* Sets updated_wall_ms. ERR_CONFLICT as in insert. */
enum err store_tool_update(struct tx *tx, struct tool *tool) MUST_USE;
/* Takes it out of every agent's toolIds too. ERR_NOT_FOUND. */
enum err store_tool_remove(struct tx *tx, const char *workspace_id, const char *id) MUST_USE;
