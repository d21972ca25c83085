/* Which tools are on for an agent: those of its toolIds, then those that its instructions mention
 * as @name, its own before those of no agent (contract, Agents). Worked out on heads, so that no
 * tool is read to find out that it is not meant. Thread: inside a job. */
#pragma once

#include "base/attr.h"
#include "base/err.h"
#include "store/tool.h"

struct agent;
struct tx;

/* The tools among which an agent's are looked for; newest first. */
struct tools_around {
    struct tool_head_list heads;
    const struct tool_head **by_id; /* the same, sorted */
};
/* All of a workspace, for many agents; or those that one agent can mean. */
enum err tools_around_all(struct tx *tx, const char *workspace_id,
                          struct tools_around *out) MUST_USE;
enum err tools_around_agent(struct tx *tx, const struct agent *agent,
                            struct tools_around *out) MUST_USE;

/* Those that are on; agent->tool_ids loses what is no longer there. */
void tools_on(struct tx *tx, struct agent *agent, const struct tools_around *around,
              struct tool_head_list *out);
/* For a call: of several with one name the own one stays, else the oldest. */
void tools_on_keep_best(const struct agent *agent, struct tool_head_list *tools);
