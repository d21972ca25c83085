/* What `toolIds` and `tools` of an agent's body do to its tools (contract, Agents): all of it is
 * worked out in memory first, so that every fault is told before anything is written. Tools are
 * known by their heads; only those that the body changes are read. Thread: inside a job. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "model/agent.h"
#include "store/tool.h"

struct js;
struct tx;

struct agent_tool {
    struct tool_head head; /* as stored, or as it will be */
    struct tool *tool;     /* in full: made or changed by the body; NULL: as it is */
    const char *copy_of;   /* id of the tool that it becomes a copy of; NULL: none */
    bool is_new;
};

struct agent_tools {
    struct tx *tx;
    const char *workspace_id;
    struct agent_tool *own; /* of this agent, those to be made included */
    size_t own_count;
    bool is_name_taken; /* two own tools would have one saved name */
    const char **urls;  /* sent ones, to be checked */
    size_t url_count;
    enum err err; /* of the store; what follows does nothing */
};

/* Reads the heads of the agent's tools; agent->id "" for an agent that is not there yet. */
void agent_tools_load(struct tx *tx, const struct agent *agent, struct agent_tools *out);
/* Applies what the body says; agent->tool_ids is brought into its final form. */
void agent_tools_apply(struct agent_tools *tools, struct agent *agent, const struct js *body,
                       struct field_context *context);
/* Writes what is new or changed, after the agent itself was stored. out_grown: the ceilings that it
 * adds to, as bits (store/ceiling.h). ERR_CONFLICT: a name is taken after all. */
enum err agent_tools_store(struct agent_tools *tools, const struct agent *agent,
                           unsigned *out_grown) MUST_USE;
