/* toolIds and tools of an agent's body. */
#include "api/agent_tools.h"

#include <stdio.h>
#include <string.h>

#include "base/ids.h"
#include "base/js.h"
#include "store/ceiling.h"
#include "store/store.h"

enum { ENTRIES_MAX = 100 };

void agent_tools_load(struct tx *tx, const struct agent *agent, struct agent_tools *out)
{
    struct arena *arena = tx->arena;
    struct tool_head_list heads = {0};
    *out = (struct agent_tools){.tx = tx, .workspace_id = agent->user_id};
    if (*agent->id)
        out->err = store_tool_heads(tx, agent->user_id, agent->id, NULL, &heads);
    /* Own ones, copies of those that toolIds name, those that `tools` makes. */
    size_t most = heads.count + agent->tool_ids.count + ENTRIES_MAX;
    out->own = arena_new_n(arena, struct agent_tool, most);
    out->urls = arena_new_n(arena, const char *, ENTRIES_MAX);
    for (size_t i = 0; i < heads.count; i++)
        out->own[out->own_count++].head = heads.items[i];
}

static struct agent_tool *own_by_name(struct agent_tools *tools, const char *name)
{
    for (size_t i = 0; i < tools->own_count; i++)
        if (strcmp(tools->own[i].head.name, name) == 0)
            return &tools->own[i];
    return NULL;
}

static struct agent_tool *own_by_id(struct agent_tools *tools, const char *id)
{
    for (size_t i = 0; i < tools->own_count; i++)
        if (strcmp(tools->own[i].head.id, id) == 0)
            return &tools->own[i];
    return NULL;
}

static struct agent_tool *add_own(struct agent_tools *tools, const char *name)
{
    struct agent_tool *own = &tools->own[tools->own_count++];
    char id[ID_SIZE];
    id_new("tool_", id);
    *own = (struct agent_tool){
        .head = {.id = arena_strdup(tools->tx->arena, id), .name = name, .source_id = ""},
        .is_new = true,
    };
    return own;
}

/* Any tool of the workspace; NULL: none, or the store failed. */
static const struct tool_head *find_any(struct agent_tools *tools, const char *id)
{
    struct tool_head_list found = {0};
    if (!tools->err)
        tools->err = store_tool_head(tools->tx, tools->workspace_id, id, &found);
    return found.count ? &found.items[0] : NULL;
}

/* ToolIds. */

/* The name itself, or name_2, name_3, ...: the first that none of the own tools has. */
static const char *free_name(struct agent_tools *tools, const char *base)
{
    const char *name = base;
    for (int n = 2; own_by_name(tools, name); n++) {
        char suffix[16];
        int len = snprintf(suffix, sizeof(suffix), "_%d", n);
        name = arena_printf(tools->tx->arena, "%.*s%s", TOOL_NAME_MAX - len, base, suffix);
    }
    return name;
}

/* The id that stands for `tool` in this agent's list: its own, or that of the agent's copy. */
static const char *id_for(struct agent_tools *tools, const struct tool_head *tool)
{
    if (*tool->agent_id == '\0')
        return tool->id;
    for (size_t i = 0; i < tools->own_count; i++)
        if (strcmp(tools->own[i].head.source_id, tool->id) == 0)
            return tools->own[i].head.id;
    struct agent_tool *copy = add_own(tools, free_name(tools, tool->name));
    copy->copy_of = copy->head.source_id = tool->id;
    return copy->head.id;
}

static bool has_id(const struct text_list *ids, const char *id)
{
    for (size_t i = 0; i < ids->count; i++)
        if (strcmp(ids->items[i], id) == 0)
            return true;
    return false;
}

static void apply_ids(struct agent_tools *tools, struct agent *agent, struct field_context *context)
{
    struct text_list sent = agent->tool_ids, ids = {0};
    ids.items = arena_new_n(context->arena, const char *, sent.count + 1);
    for (size_t i = 0; i < sent.count; i++) {
        const char *id = own_by_id(tools, sent.items[i]) ? sent.items[i] : NULL;
        const struct tool_head *tool = id ? NULL : find_any(tools, sent.items[i]);
        if (tool)
            id = id_for(tools, tool);
        if (!id)
            faults_add(&context->faults, arena_printf(context->arena, "toolIds[%zu]", i),
                       "is no tool of the workspace");
        else if (!has_id(&ids, id))
            ids.items[ids.count++] = id;
    }
    agent->tool_ids = ids;
}

/* Tools. */

static struct agent_tool *match(struct agent_tools *tools, const struct js *entry,
                                struct arena *arena)
{
    const char *id = js_text(js_get(entry, "id")), *name = js_text(js_get(entry, "name"));
    struct agent_tool *own = id ? own_by_id(tools, id) : NULL;
    return own || !name ? own : own_by_name(tools, tool_name_saved(name, arena));
}

static bool is_shared(struct agent_tools *tools, const struct js *entry)
{
    const char *id = js_text(js_get(entry, "id"));
    const struct tool_head *tool = id && !own_by_id(tools, id) ? find_any(tools, id) : NULL;
    return tool && *tool->agent_id == '\0';
}

/* The whole of an own tool, of a copy that is to be made too; NULL: the store failed. */
static struct tool *whole(struct agent_tools *tools, struct agent_tool *own)
{
    if (own->tool || tools->err)
        return own->tool;
    struct tool *tool = arena_new_of(tools->tx->arena, struct tool);
    const char *id = own->copy_of ? own->copy_of : own->head.id;
    tools->err = own->copy_of ? store_tool_get(tools->tx, tools->workspace_id, id, tool)
                              : store_tool_lock(tools->tx, tools->workspace_id, id, tool);
    if (tools->err)
        return NULL;
    if (own->copy_of)
        tool->source_id = own->copy_of;
    tool->id = own->head.id;
    tool->name = own->head.name;
    return own->tool = tool;
}

static struct agent_tool *make(struct agent_tools *tools, struct agent *agent,
                               const struct js *body, struct field_context *context,
                               const char *path)
{
    size_t faults = context->faults.count;
    struct tool *tool = arena_new_of(context->arena, struct tool);
    field_create(&tool_table, tool, body, context, path);
    if (context->faults.count != faults)
        return NULL;
    struct agent_tool *own = add_own(tools, tool->name);
    tool->id = own->head.id;
    tool->source_id = "";
    own->tool = tool;
    agent->tool_ids.items[agent->tool_ids.count++] = tool->id;
    return own;
}

static struct agent_tool *change(struct agent_tools *tools, struct agent_tool *own,
                                 const struct js *body, struct field_context *context,
                                 const char *path)
{
    struct tool *tool = whole(tools, own);
    if (!tool)
        return NULL;
    tool_merge(tool, body, context, path);
    own->head.name = tool->name;
    return own;
}

static void apply_entry(struct agent_tools *tools, struct agent *agent, const struct js *entry,
                        size_t index, struct field_context *context)
{
    const char *path = arena_printf(context->arena, "tools[%zu]", index);
    if (is_shared(tools, entry))
        return;
    struct agent_tool *own = match(tools, entry, context->arena);
    const struct js *agent_id = js_get(entry, "agentId");
    if (js_type(agent_id) != JS_NULL && js_type(agent_id) != JS_STRING)
        faults_add(&context->faults, arena_printf(context->arena, "%s.agentId", path),
                   "must be a string");
    AUTO(js) body =
        js_copy(entry); /* agentId comes from reading the tool; it does not ask to move it */
    if (js_type(body) == JS_OBJECT)
        js_remove(body, "agentId");
    own = own ? change(tools, own, body, context, path) : make(tools, agent, body, context, path);
    if (own && js_get(entry, "url"))
        tools->urls[tools->url_count++] = own->tool->url;
}

static void apply_entries(struct agent_tools *tools, struct agent *agent, const struct js *entries,
                          struct field_context *context)
{
    if (js_type(entries) == JS_NULL)
        return;
    if (js_type(entries) != JS_ARRAY || js_count(entries) > ENTRIES_MAX) {
        faults_add(&context->faults, "tools", "must be an array of at most %d tools", ENTRIES_MAX);
        return;
    }
    const char **ids =
        arena_new_n(context->arena, const char *, agent->tool_ids.count + ENTRIES_MAX);
    if (agent->tool_ids.count)
        memcpy(ids, agent->tool_ids.items, agent->tool_ids.count * sizeof(*ids));
    agent->tool_ids.items = ids;
    for (size_t i = 0; i < js_count(entries); i++)
        apply_entry(tools, agent, js_at(entries, i), i, context);
    if (agent->tool_ids.count > ENTRIES_MAX)
        faults_add(&context->faults, "tools", "would switch on more than %d tools", ENTRIES_MAX);
}

void agent_tools_apply(struct agent_tools *tools, struct agent *agent, const struct js *body,
                       struct field_context *context)
{
    if (js_type(js_get(body, "toolIds")) == JS_ARRAY)
        apply_ids(tools, agent, context);
    apply_entries(tools, agent, js_get(body, "tools"), context);
    for (size_t i = 0; i < tools->own_count; i++)
        for (size_t j = 0; tools->own[i].tool && j < tools->own_count; j++)
            tools->is_name_taken |=
                i != j && strcmp(tools->own[i].head.name, tools->own[j].head.name) == 0;
}

static enum err store_one(struct agent_tools *tools, struct agent_tool *own,
                          const struct agent *agent, unsigned *grown)
{
    struct tool *tool = own->tool;
    int64_t before = tool ? tool->bytes : 0;
    enum err err;
    own->head.agent_id = agent->id;
    if (own->is_new)
        *grown |= 1 << CEILING_TOOLS | 1 << CEILING_BYTES;
    if (!tool)
        return own->is_new ? store_tool_copy(tools->tx, own->copy_of, &own->head) : OK;
    tool->agent_id = agent->id;
    tool->user_id = agent->user_id;
    err = own->is_new ? store_tool_insert(tools->tx, tool) : store_tool_update(tools->tx, tool);
    if (!err && tool->bytes > before)
        *grown |= 1 << CEILING_BYTES;
    return err;
}

enum err agent_tools_store(struct agent_tools *tools, const struct agent *agent,
                           unsigned *out_grown)
{
    *out_grown = 0;
    for (size_t i = 0; i < tools->own_count; i++) {
        enum err err = store_one(tools, &tools->own[i], agent, out_grown);
        if (err)
            return err;
    }
    return OK;
}
