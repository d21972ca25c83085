/* What calls share of an agent: the agent as it was saved, and each of its tools with what the
 * model reads of it, made once for each version and held by every call that began with it. Fifty
 * calls of an agent hold its tools once. Thread: any; a snapshot never changes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/shelf.h"
#include "engine/llm.h"
#include "model/agent.h"

enum { TOOLS_MAX_BYTES = 1024 * 1024 /* of all tools in a model's request; more: left out */ };

/* What the model reads of a tool, and what that takes of TOOLS_MAX_BYTES. */
struct tool_definition {
    struct llm_tool tool;
    size_t bytes;
};

struct agent_snapshot {
    struct shelf_item item;
    struct arena *arena;
    struct agent agent; /* without tools */
};

struct tool_snapshot {
    struct shelf_item item;
    struct arena *arena;
    struct tool tool;
    struct tool_definition definition; /* of during_call tools */
};

struct snapshots;
struct snapshots *snapshots_new(void);
void snapshots_free(struct snapshots *snapshots); /* what is held outlives it */
DEFINE_AUTO(snapshots)

/* By id and version; what is copied from is borrowed. Give back with shelf_give_back(). */
struct agent_snapshot *snapshot_agent(struct snapshots *snapshots, const struct agent *agent);
struct tool_snapshot *snapshot_tool(struct snapshots *snapshots, const struct tool *tool);
/* The one that somebody holds already; NULL: none. */
struct tool_snapshot *snapshot_tool_held(struct snapshots *snapshots, const char *id,
                                         int64_t version);

/* Texts in the arena, or the tool's. One that takes more than TOOLS_MAX_BYTES is not written. */
struct tool_definition tool_define(const struct tool *tool, struct arena *arena);
