/* Tools whose runs are scripted, in place of tool/run.h. */
#include <stdio.h>

#include "base/js.h"
#include "base/loop.h"
#include "base/mem.h"
#include "sweep.h"
#include "tool/run.h"
#include "world.h"

int64_t world_tool_us;
struct tool_result world_tool_result;
struct world_asked world_asked;

static struct loop *tool_loop;

struct tool_run {
    struct timer timer;
    tool_done_fn *fn;
    void *arg;
};

static void tool_answers(void *arg)
{
    struct tool_run *run = arg;
    static const struct tool_result unreachable = {.status = 502, .error = "unreachable"};
    run->fn(run->arg, sweep_fails("tool") ? &unreachable : &world_tool_result);
    mem_free(run);
}

struct tool_run *tool_run_start(struct http_client *client, const struct tool_run_input *input,
                                tool_done_fn *on_done, void *arg)
{
    (void)client;
    AUTO_MEM char *arguments = js_print(input->arguments);
    world_asked.runs++;
    world_asked.is_test = input->is_test;
    world_asked.variable_count = input->variable_count;
    snprintf(world_asked.arguments, sizeof(world_asked.arguments), "%s", arguments);
    struct tool_run *run = mem_new(struct tool_run);
    run->fn = on_done;
    run->arg = arg;
    timer_init(&run->timer, tool_loop, tool_answers, run);
    timer_set_after(&run->timer, world_tool_us);
    return run;
}

void tool_run_cancel(struct tool_run *run)
{
    timer_stop(&run->timer);
    mem_free(run);
}

void world_tools_begin(struct loop *media)
{
    tool_loop = media;
    world_tool_us = 50000;
    world_asked = (struct world_asked){0};
    world_tool_result = (struct tool_result){.is_success = true, .status = 200, .model_text = "{}"};
}
