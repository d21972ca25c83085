/* Tools of a call as their operator sees them: what ran, when, and what became of it. */
#include <string.h>

#include "base/loop.h"
#include "test.h"
#include "tool/run.h"
#include "world.h"

static struct tool_pair params[] = {{"id", "1"}, {"zip", "00000"}};

static struct tool make_tool(const char *name, enum tool_kind kind)
{
    return (struct tool){.id = "tool_1",
                         .name = name,
                         .description = "Where an order is",
                         .params = {params, 2},
                         .sample_output = "",
                         .kind = kind};
}

/* A call whose caller has asked for something that a tool is run for. */
static struct sim_caller *ask_for_tool(struct world *world, struct tool *tool)
{
    struct world_call call;
    world_defaults(&call);
    call.agent.tools = (struct tool_list){tool, 1};
    sim_engines.utterances[0] = "where is my order";
    sim_engines.tool = tool->name;
    sim_engines.tool_arguments = "{\"id\":7,\"made_up\":\"x\"}";
    struct sim_caller *caller = world_talk(world, &call);
    if (caller)
        sim_speak(caller, 1000);
    return caller;
}

TEST(a_run_is_written_as_it_begins_and_as_it_ends)
{
    RICH_WORLD(world);
    struct tool tool = make_tool("order_status", TOOL_DURING_CALL);
    world_tool_us = 1000000;
    world_tool_result.model_text = "{\"status\":\"shipped\"}";
    REQUIRE(ask_for_tool(&world, &tool) != NULL);
    world_run(2500);
    CHECK(sim_told("tool.began 1 order_status {\"id\":\"7\",\"zip\":\"00000\"} [c1]"));
    CHECK(!sim_told("tool.ended"));
    world_run(6000);
    CHECK(sim_told("tool.ended 1 succeeded 1000 ms {\"status\":\"shipped\"} [c1]"));
}

TEST(a_failed_run_is_written_with_its_reason)
{
    RICH_WORLD(world);
    struct tool tool = make_tool("order_status", TOOL_DURING_CALL);
    world_tool_result = (struct tool_result){
        .status = 503, .model_text = "secret page", .error = "the endpoint answered 503"};
    REQUIRE(ask_for_tool(&world, &tool) != NULL);
    world_run(8000);
    CHECK(sim_told("tool.ended 1 failed 50 ms the endpoint answered 503 [c1]"));
}

TEST(a_before_call_run_is_written_too)
{
    WORLD_WITH_CALL(world, call);
    struct tool tool = make_tool("account", TOOL_BEFORE_CALL);
    call.agent.tools = (struct tool_list){&tool, 1};
    struct text_pair sent = {"zip", "10115"};
    call.start.variables = (struct text_pair_list){&sent, 1};
    world_tool_result.model_text = "gold member";
    REQUIRE(world_call(&world, &call) == OK);
    world_run(100);
    CHECK(sim_told("tool.began 1 account {\"id\":\"1\",\"zip\":\"10115\"} [c1]"));
    CHECK(sim_told("tool.ended 1 succeeded 50 ms gold member [c1]"));
    CHECK(sim_told_ms("tool.ended") <= sim_told_ms("call.started"));
}

static void ended(void *arg, enum err err, const char *message)
{
    (void)message;
    *(enum err *)arg = err;
}

static void end_call(void *arg)
{
    static enum err err;
    calls_end(arg, "", "c1", ended, &err);
}

static void end_service(void *arg)
{
    static enum err err;
    calls_drain(arg, 0, ended, &err);
}

/* DISPATCH_FAILED is told of calls that stay in the log as dispatch-failed, and of no others. */
TEST(a_start_that_is_ended_while_its_tools_run_is_no_failed_dispatch)
{
    static const struct {
        void (*end)(void *arg);
        const char *told;
    } rows[] = {{end_call, "call.ended api"}, {end_service, "call.ended agent-shutdown"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        WORLD_WITH_CALL(world, call);
        struct tool tool = make_tool("account", TOOL_BEFORE_CALL);
        struct timer end = {0};
        call.agent.tools = (struct tool_list){&tool, 1};
        world_tool_us = 20000000;
        timer_init(&end, world.control, rows[i].end, world.calls);
        timer_set_after(&end, 1000000);
        CHECK_INT(world_call(&world, &call), ERR_CLOSED);
        CHECK(sim_told(rows[i].told));
        CHECK(!sim_told("call.started"));
        CHECK(sim_told("tool.ended 1 cancelled"));
        CHECK_INT(sim_store_row("c1")->cost_usd4, 0);
    }
}

TEST(the_end_of_a_call_cancels_what_runs)
{
    RICH_WORLD(world);
    struct tool tool = make_tool("order_status", TOOL_DURING_CALL);
    world_tool_us = 20000000;
    REQUIRE(ask_for_tool(&world, &tool) != NULL);
    world_run(3000);
    CHECK(!sim_told("tool.ended"));
    CHECK_INT(world_end_call(&world, "c1"), OK);
    world_run(100);
    CHECK(sim_told("tool.ended 1 cancelled"));
    const char *cancelled = strstr(sim_store.events.data, "tool.ended");
    CHECK(strstr(cancelled, "call.ended") != NULL); /* which comes last */
}

/* What a database that is away makes wait is bounded: runs give way before words do. */
TEST(runs_are_written_when_the_database_is_back)
{
    RICH_WORLD(world);
    struct tool tool = make_tool("order_status", TOOL_DURING_CALL);
    world_tool_result.model_text = "shipped";
    REQUIRE(ask_for_tool(&world, &tool) != NULL);
    world_run(500);
    sim_store.away_until_us = (world_ms() + 20000) * 1000;
    world_run(15000);
    CHECK(!sim_told("tool.began"));
    world_run(10000);
    CHECK_INT(sim_told_count("tool.began 1"), 1);
    CHECK_INT(sim_told_count("tool.ended 1 succeeded 50 ms shipped"), 1);
}
