/* What `toolIds` and `tools` of an agent's body do to its tools (contract, Agents): all of it is
 * worked out in memory first, so that every fault is told before anything is written. Thread:
 * inside a job. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "model/agent.h"

struct request;
struct js;

struct agent_tool {
    struct tool tool;
    bool is_new, is_changed;
};

struct agent_tools {
    struct tool_list all;   /* of the workspace, as stored */
    struct agent_tool *own; /* of this agent, those to be made included */
    size_t own_count;
    bool is_name_taken; /* two own tools would have one saved name */
    const char **urls;  /* sent ones, to be checked */
    size_t url_count;
};

/* Reads the workspace's tools; agent->id "" for an agent that is not there yet. */
enum err agent_tools_load(struct request *request, const struct agent *agent,
                          struct agent_tools *out);
/* Applies what the body says; agent->tool_ids is brought into its final form. */
void agent_tools_apply(struct agent_tools *tools, struct agent *agent, const struct js *body,
                       struct field_context *context);
/* Writes what is new or changed. The agent itself is stored already. */
enum err agent_tools_store(struct agent_tools *tools, struct request *request,
                           const struct agent *agent);

/* Fills agent->tools with the tools that are on: those of toolIds, then those mentioned as @name.
 * `all`: the workspace's, in any order. */
void agent_tools_fill(struct agent *agent, const struct tool_list *all, struct arena *arena);
/* The same for a call: of two with one name the own one wins, then the older. */
void agent_tools_for_call(struct agent *agent, const struct tool_list *all, struct arena *arena);
