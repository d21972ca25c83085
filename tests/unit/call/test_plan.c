/* Plans of calls: what calls of one agent have in common is there once. */
#include "call/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/loop.h"
#include "base/mem.h"
#include "call/snapshot.h"
#include "model/call.h"
#include "model/workspace.h"
#include "store/agent.h"
#include "store/store.h"
#include "store/tool.h"
#include "store/workspace.h"
#include "test.h"

enum { TOOLS = 40, TOOL_BYTES = 300000, CALLS = 50 };

struct fix {
    char dir[64];
    struct store *store;
    struct loop *loop;
    struct snapshots *snapshots;
    struct arena *arena;
    struct agent agent;
    struct call row;
    struct call_start start;
    struct tool_head_list heads;
    struct call_plan *plan; /* that was loaded last */
};

static enum err make(struct tx *tx, void *arg)
{
    struct fix *fix = arg;
    struct workspace workspace = {.name = "Acme", .plan = "standard"};
    struct agent agent = {0};
    enum err err = store_workspace_insert(tx, &workspace);
    field_defaults(&agent_table, &agent);
    agent.user_id = workspace.id;
    agent.name = "Front desk";
    if (!err)
        err = store_agent_insert(tx, &agent);
    for (int i = 0; i < TOOLS && !err; i++) {
        struct tool tool = {0};
        char *large = arena_alloc(tx->arena, TOOL_BYTES + 1);
        memset(large, 'x', TOOL_BYTES);
        field_defaults(&tool_table, &tool);
        tool.user_id = workspace.id;
        tool.agent_id = agent.id;
        tool.name = arena_printf(tx->arena, "tool_%d", i);
        tool.body = large;
        err = store_tool_insert(tx, &tool);
    }
    if (!err)
        err = store_tool_heads(tx, workspace.id, agent.id, NULL, &fix->heads);
    field_copy(&agent_table, &agent, &fix->agent, fix->arena);
    for (size_t i = 0; i < fix->heads.count; i++) {
        fix->heads.items[i].id = arena_strdup(fix->arena, fix->heads.items[i].id);
        fix->heads.items[i].name = arena_strdup(fix->arena, fix->heads.items[i].name);
    }
    struct tool_head *kept = arena_new_n(fix->arena, struct tool_head, TOOLS);
    memcpy(kept, fix->heads.items, TOOLS * sizeof(*kept));
    fix->heads.items = kept;
    return err;
}

static void begin(struct fix *fix)
{
    *fix = (struct fix){.loop = loop_new("plans"), .snapshots = snapshots_new()};
    fix->arena = arena_new(0);
    snprintf(fix->dir, sizeof(fix->dir), "/tmp/earshot-plan-XXXXXX");
    REQUIRE(mkdtemp(fix->dir) != NULL);
    struct store_config config = {
        .data_dir = fix->dir, .database_url = "", .node_name = "", .master_key = ""};
    struct fault fault = {0};
    REQUIRE(store_open(&config, &fix->store, &fault) == OK);
    REQUIRE(store_run(fix->store, STORE_WRITE, make, fix, &fault) == OK);
    field_defaults(&call_table, &fix->row);
    field_defaults(&call_start_table, &fix->start);
    fix->row.id = "call";
    fix->row.user_id = fix->agent.user_id;
}

static void end(struct fix *fix)
{
    AUTO_MEM char *remove = mem_printf("rm -rf %s", fix->dir);
    store_close(fix->store);
    snapshots_free(fix->snapshots);
    loop_free(fix->loop);
    arena_free(fix->arena);
    CHECK_INT(system(remove), 0);
}

static void loaded(void *arg, struct call_plan *plan)
{
    struct fix *fix = arg;
    fix->plan = plan;
    loop_stop(fix->loop);
}

static struct call_plan *load(struct fix *fix)
{
    const struct call_plan_source source = {
        .row = &fix->row,
        .start = &fix->start,
        .agent = &fix->agent,
        .tools = &fix->heads,
        .language = "en",
    };
    call_plan_load(fix->store, fix->snapshots, &source, fix->loop, loaded, fix);
    loop_run(fix->loop);
    return TAKE(fix->plan);
}

TEST(calls_of_an_agent_hold_its_tools_once)
{
    struct fix fix;
    struct call_plan *plans[CALLS];
    begin(&fix);
    for (int i = 0; i < CALLS; i++)
        plans[i] = load(&fix);
    const struct agent *first = plans[0]->agent;
    REQUIRE(first->tools.count > 0);
    CHECK_TEXT(first->name, "Front desk");
    for (int i = 1; i < CALLS; i++) {
        CHECK(plans[i]->agent->name == first->name);
        CHECK(plans[i]->agent->tools.items[0].body == first->tools.items[0].body);
        CHECK(plans[i]->definitions[0].tool.parameters == plans[0]->definitions[0].tool.parameters);
        CHECK(arena_bytes(plans[i]->arena) < 64 * 1024);
    }
    /* A call holds 8 MiB of tools; those for which there is no room are named. */
    CHECK_INT(first->tools.count, (8 << 20) / (TOOL_BYTES + 400));
    CHECK_INT(plans[0]->left_out.count, TOOLS - first->tools.count);
    CHECK(!plans[0]->refusal);
    for (int i = 0; i < CALLS; i++)
        call_plan_free(plans[i]);
    end(&fix);
}

static enum err change(struct tx *tx, void *arg)
{
    struct fix *fix = arg;
    struct tool tool;
    const char *workspace_id = fix->agent.user_id;
    enum err err = store_tool_lock(tx, workspace_id, fix->heads.items[0].id, &tool);
    tool.body = "changed";
    if (!err)
        err = store_tool_update(tx, &tool);
    fix->heads.items[0].version = tool.version;
    return err ? err : store_tool_remove(tx, workspace_id, fix->heads.items[1].id);
}

TEST(a_call_keeps_the_tools_that_it_began_with)
{
    struct fix fix;
    begin(&fix);
    struct call_plan *before = load(&fix);
    struct fault fault = {0};
    const char *second = before->agent->tools.items[1].name;
    CHECK_INT(store_run(fix.store, STORE_WRITE, change, &fix, &fault), OK);
    fix.heads.count = 3;
    struct call_plan *after = load(&fix);
    CHECK_INT(strlen(before->agent->tools.items[0].body), TOOL_BYTES);
    CHECK_TEXT(after->agent->tools.items[0].body, "changed");
    /* Removed since the row was stored: still held by the call before, and so by this one. */
    CHECK_INT(after->agent->tools.count, 3);
    CHECK_TEXT(after->agent->tools.items[1].name, second);
    call_plan_free(before);
    call_plan_free(after);
    after = load(&fix);
    CHECK_INT(after->agent->tools.count, 2);
    call_plan_free(after);
    end(&fix);
}
