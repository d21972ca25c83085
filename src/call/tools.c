#include "call/tools.h"

#include <string.h>

#include "base/arena.h"
#include "base/loop.h"
#include "base/mem.h"
#include "tool/request.h"

struct run {
    struct list_node node;
    struct call_tools *tools;
    struct tool_run *run;
    int64_t number, begun_us;
    uint32_t id;
    call_tools_fn *done;
    void *arg;
};

/* Every run passes here twice: as it begins, and with what became of it. */
static void tell(const struct run *run, struct call_run told)
{
    const struct call_tools *tools = run->tools;
    told.number = run->number;
    told.ms = (loop_now_us(tools->loop) - run->begun_us) / 1000;
    if (tools->on_run)
        tools->on_run(tools->on_run_arg, &told);
}

static void on_run_done(void *arg, const struct tool_result *result)
{
    struct run *run = arg;
    struct run told = *run;
    bool is_ok = result->is_success;
    tell(run, (struct call_run){.status = is_ok ? CALL_RUN_SUCCEEDED : CALL_RUN_FAILED,
                                .http_status = result->status,
                                .result = is_ok && result->model_text ? result->model_text : "",
                                .error = !is_ok && result->error ? result->error : ""});
    list_remove(&run->node);
    mem_free(run);
    told.done(told.arg, told.id, result);
}

void call_tools_run(struct call_tools *tools, const struct tool *tool, const struct js *arguments,
                    uint32_t id, call_tools_fn *done, void *arg)
{
    const struct tool_run_input input = {
        .tool = tool,
        .arguments = arguments,
        .call_id = tools->call_id,
        .agent_id = tools->agent_id,
        .workspace_id = tools->workspace_id,
        .variables = tools->variables,
        .variable_count = tools->variable_count,
        .is_test = tools->is_test,
    };
    struct run *run = mem_new(struct run);
    run->tools = tools;
    run->number = ++tools->last_number;
    run->begun_us = loop_now_us(tools->loop);
    run->id = id;
    run->done = done;
    run->arg = arg;
    list_push_back(&tools->runs, &run->node);
    AUTO(arena) arena = arena_new(0);
    tell(run, (struct call_run){.name = tool->name,
                                .kind = tool->kind,
                                .status = CALL_RUN_RUNNING,
                                .arguments = tool_request_arguments(arena, &input)});
    run->run = tool_run_start(tools->http, &input, on_run_done, run);
}

void call_tools_stop(struct call_tools *tools)
{
    struct run *run;
    LIST_EACH (run, &tools->runs, struct run, node) {
        tool_run_cancel(run->run);
        tell(run, (struct call_run){.status = CALL_RUN_CANCELLED, .result = "", .error = ""});
        list_remove(&run->node);
        mem_free(run);
    }
}

bool call_tools_is_running(const struct call_tools *tools)
{
    return !list_is_empty(&tools->runs);
}

const struct tool *call_tools_find(const struct call_tools *tools, const char *name)
{
    for (size_t i = 0; i < tools->list->count; i++) {
        const struct tool *tool = &tools->list->items[i];
        if (tool->kind == TOOL_DURING_CALL && strcmp(tool->name, name) == 0)
            return tool;
    }
    return NULL;
}
