/* Tools: settings as JSON, the credential sealed beside it. What lists, mentions and copies ask for
 * is a tool's head, read from an index: a tool may be large, and a workspace's tools are many.
 * Thread: inside a job. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "model/field.h"

struct tool;
struct tx;

struct tool_head {
    const char *id, *agent_id; /* agent_id "": belongs to no agent */
    const char *name;
    const char *source_id; /* of a copy: what it was copied from; "" */
    int64_t created_wall_ms, version, bytes;
};
struct tool_head_list LIST_OF(struct tool_head);

/* Fills id (unless set), created_wall_ms, updated_wall_ms, version. The credential is in clear in
 * the struct. ERR_CONFLICT: the agent has a tool of that name. */
enum err store_tool_insert(struct tx *tx, struct tool *tool) MUST_USE;
/* A tool like another one of the workspace, which becomes its source, with the id, the agent and
 * the name of `copy`. ERR_CONFLICT as in insert, ERR_NOT_FOUND: there is no such source. */
enum err store_tool_copy(struct tx *tx, const char *source_id,
                         const struct tool_head *copy) MUST_USE;
enum err store_tool_get(struct tx *tx, const char *workspace_id, const char *id,
                        struct tool *out) MUST_USE;
/* As get, and holds other writers of this tool back until the job's end (read, change, update). */
enum err store_tool_lock(struct tx *tx, const char *workspace_id, const char *id,
                         struct tool *out) MUST_USE;
/* Is the saved name taken among the agent's own tools (agent_id "": those of no agent)? */
enum err store_tool_name_taken(struct tx *tx, const char *workspace_id, const char *agent_id,
                               const char *name, bool *out) MUST_USE;
/* Sets updated_wall_ms and version. ERR_CONFLICT as in insert. */
enum err store_tool_update(struct tx *tx, struct tool *tool) MUST_USE;
enum err store_tool_remove(struct tx *tx, const char *workspace_id, const char *id) MUST_USE;

/* Heads, newest first; appended to the list. */

enum err store_tool_head(struct tx *tx, const char *workspace_id, const char *id,
                         struct tool_head_list *out) MUST_USE; /* none: nothing is appended */
/* All of an agent; agent_id "": those of no agent, NULL: of the workspace. name: NULL, or only
 * those of this name. */
enum err store_tool_heads(struct tx *tx, const char *workspace_id, const char *agent_id,
                          const char *name, struct tool_head_list *out) MUST_USE;
