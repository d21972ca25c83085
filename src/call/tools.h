/* The tools that a call runs, before it is set up (call/setup.h) and while it talks: one way to run
 * them. What is still running when the call ends is cut off. Thread: the call's loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "model/call.h"
#include "model/tool.h"
#include "tool/run.h"

struct http_client;
struct js;
struct loop;

/* A run begins (CALL_RUN_RUNNING) or has ended: what is known of it then. at_wall_ms is the
 * receiver's to say. */
typedef void call_run_fn(void *arg, const struct call_run *run);

struct call_tools {
    /* Set by the owner, borrowed. */
    struct http_client *http; /* NULL: no tool can be run */
    const char *call_id, *agent_id, *workspace_id;
    const struct tool_list *list;            /* the agent's */
    const struct tool_name_value *variables; /* of the call */
    size_t variable_count;
    bool is_test; /* a call of the studio: requests say so */
    struct loop *loop;
    call_run_fn *on_run;
    void *on_run_arg;

    struct list_node runs; /* under way */
    int64_t last_number;
};

/* Exactly once for each run that is not cut off; never from inside call_tools_run(). */
typedef void call_tools_fn(void *arg, uint32_t id, const struct tool_result *result);

/* id: the caller's, handed back. arguments: borrowed. */
void call_tools_run(struct call_tools *tools, const struct tool *tool, const struct js *arguments,
                    uint32_t id, call_tools_fn *done, void *arg);
void call_tools_stop(struct call_tools *tools); /* nothing is told any more */
bool call_tools_is_running(const struct call_tools *tools);
/* A tool of the agent that may be run during the call; NULL: none of this name. */
const struct tool *call_tools_find(const struct call_tools *tools, const char *name);
