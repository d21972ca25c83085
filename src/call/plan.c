#include "call/plan.h"

#include <string.h>

#include "base/arena.h"
#include "base/loop.h"
#include "base/mem.h"
#include "call/snapshot.h"
#include "model/call.h"
#include "store/store.h"
#include "store/tool.h"
#include "store/tx.h"

/* What is this call's own: its row, what was sent with Start a call (1 MiB), lists of what it
 * shares. */
enum {
    PLAN_MAX_BYTES = 8 * 1024 * 1024,
    PLAN_TOOLS_MAX_BYTES = 8 * 1024 * 1024, /* as stored; a call holds no more of them */
};

struct call_plan *call_plan_new(void)
{
    struct call_plan *plan = mem_new(struct call_plan);
    plan->arena = arena_new(PLAN_MAX_BYTES);
    return plan;
}

void call_plan_free(struct call_plan *plan)
{
    if (!plan)
        return;
    for (size_t i = 0; i < plan->held_count; i++)
        shelf_give_back(plan->held[i]);
    arena_free(plan->arena);
    mem_free(plan);
}

/* Loading. */

struct loading {
    struct snapshots *snapshots;
    const struct call_plan_source *source;
    struct loop *loop;
    struct call_plan *plan;
    call_plan_fn *fn;
    void *arg;
};

static struct call_plan *make(const struct loading *loading)
{
    const struct call_plan_source *source = loading->source;
    struct call_plan *plan = call_plan_new();
    struct call *row = arena_new_of(plan->arena, struct call);
    struct call_start *start = arena_new_of(plan->arena, struct call_start);
    struct agent *agent = arena_new_of(plan->arena, struct agent);
    plan->held = arena_new_n(plan->arena, struct shelf_item *, source->tools->count + 1);
    struct agent_snapshot *snapshot = snapshot_agent(loading->snapshots, source->agent);
    plan->held[plan->held_count++] = &snapshot->item;
    *agent = snapshot->agent;
    agent->tool_ids = (struct text_list){0}; /* tools says what is on */
    agent->tools.items = arena_new_n(plan->arena, struct tool, source->tools->count + 1);
    field_copy(&call_table, source->row, row, plan->arena);
    field_copy(&call_start_table, source->start, start, plan->arena);
    plan->row = row;
    plan->start = start;
    plan->agent = agent;
    plan->language = arena_strdup(plan->arena, source->language);
    plan->is_language_sent = source->is_language_sent;
    plan->join_until_wall_ms = source->join_until_wall_ms;
    return plan;
}

/* The tool as it is now, shared; NULL: it was removed, or the store failed. */
static struct tool_snapshot *find_tool(struct tx *tx, const struct loading *loading,
                                       const struct tool_head *head)
{
    struct tool tool;
    struct tool_snapshot *held = snapshot_tool_held(loading->snapshots, head->id, head->version);
    if (held)
        return held;
    if (store_tool_get(tx, loading->source->row->user_id, head->id, &tool) != OK)
        return NULL;
    return snapshot_tool(loading->snapshots, &tool);
}

static void add_tool(struct call_plan *plan, struct tool_snapshot *snapshot)
{
    struct agent *agent = (struct agent *)plan->agent; /* made here, as are its tools */
    struct tool_definition *definitions = (struct tool_definition *)plan->definitions;
    plan->held[plan->held_count++] = &snapshot->item;
    definitions[agent->tools.count] = snapshot->definition;
    agent->tools.items[agent->tools.count++] = snapshot->tool;
}

/* Store thread; may run again. */
static enum err load(struct tx *tx, void *arg)
{
    struct loading *loading = arg;
    const struct tool_head_list *heads = loading->source->tools;
    call_plan_free(loading->plan);
    struct call_plan *plan = loading->plan = make(loading);
    int64_t room = PLAN_TOOLS_MAX_BYTES;
    plan->definitions = arena_new_n(plan->arena, struct tool_definition, heads->count + 1);
    for (size_t i = 0; i < heads->count; i++) {
        const struct tool_head *head = &heads->items[i];
        if (head->bytes > room) {
            *GROW(&plan->left_out, plan->arena) = arena_strdup(plan->arena, head->name);
            continue;
        }
        struct tool_snapshot *snapshot = find_tool(tx, loading, head);
        if (snapshot)
            add_tool(plan, snapshot);
        room -= head->bytes;
    }
    return OK;
}

static void on_loaded(void *arg, enum err err)
{
    struct loading *loading = arg;
    if (!loading->plan)
        loading->plan = make(loading);
    if (err)
        loading->plan->refusal = "the agent's tools could not be read";
    loading->fn(loading->arg, loading->plan);
    mem_free(loading);
}

static void on_not_loaded(void *arg)
{
    on_loaded(arg, ERR_BUSY);
}

void call_plan_load(struct store *store, struct snapshots *snapshots,
                    const struct call_plan_source *source, struct loop *loop, call_plan_fn *fn,
                    void *arg)
{
    struct loading *loading = mem_new(struct loading);
    *loading = (struct loading){
        .snapshots = snapshots, .source = source, .loop = loop, .fn = fn, .arg = arg};
    struct store_line line = {.key = source->row->user_id, .mode = STORE_READ};
    if (store_job_for(store, line, load, loading, loop, on_loaded) != OK)
        loop_defer(loop, on_not_loaded, loading);
}
