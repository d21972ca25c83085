/* toolIds, tools and @name of an agent. */
#include "api/agent_tools.h"

#include <stdio.h>
#include <string.h>

#include "api/request.h"
#include "base/ids.h"
#include "base/js.h"
#include "store/tool.h"

enum { ENTRIES_MAX = 100 };

static const struct tool *find_tool(const struct tool_list *tools, const char *id)
{
    for (size_t i = 0; i < tools->count; i++)
        if (strcmp(tools->items[i].id, id) == 0)
            return &tools->items[i];
    return NULL;
}

static bool is_own(const struct tool *tool, const struct agent *agent)
{
    return *tool->agent_id && strcmp(tool->agent_id, agent->id) == 0;
}

enum err agent_tools_load(struct request *request, const struct agent *agent,
                          struct agent_tools *out)
{
    struct arena *arena = request->tx->arena;
    *out = (struct agent_tools){0};
    enum err err = store_tool_list(request->tx, request->principal.workspace_id, NULL, &out->all);
    if (err != OK)
        return err;
    size_t room = out->all.count + 2 * ENTRIES_MAX;
    out->own = arena_new_n(arena, struct agent_tool, room);
    out->urls = arena_new_n(arena, const char *, ENTRIES_MAX);
    for (size_t i = 0; i < out->all.count; i++)
        if (is_own(&out->all.items[i], agent))
            out->own[out->own_count++].tool = out->all.items[i];
    return OK;
}

static struct agent_tool *own_by_name(struct agent_tools *tools, const char *name)
{
    for (size_t i = 0; i < tools->own_count; i++)
        if (strcmp(tools->own[i].tool.name, name) == 0)
            return &tools->own[i];
    return NULL;
}

static struct agent_tool *own_by_id(struct agent_tools *tools, const char *id)
{
    for (size_t i = 0; i < tools->own_count; i++)
        if (strcmp(tools->own[i].tool.id, id) == 0)
            return &tools->own[i];
    return NULL;
}

static struct agent_tool *add_own(struct agent_tools *tools, const struct tool *tool,
                                  const struct agent *agent, struct arena *arena)
{
    struct agent_tool *own = &tools->own[tools->own_count++];
    char id[ID_SIZE];
    id_new("tool_", id);
    *own = (struct agent_tool){.tool = *tool, .is_new = true};
    own->tool.id = arena_strdup(arena, id);
    own->tool.agent_id = agent->id;
    own->tool.user_id = agent->user_id;
    return own;
}

/* ---- toolIds ---- */

/* A name that none of the own tools has: name, name_2, name_3, ... */
static const char *free_name(struct agent_tools *tools, const char *base, struct arena *arena)
{
    const char *name = base;
    for (int n = 2; own_by_name(tools, name); n++) {
        char suffix[16];
        int len = snprintf(suffix, sizeof suffix, "_%d", n);
        name = arena_printf(arena, "%.*s%s", TOOL_NAME_MAX - len, base, suffix);
    }
    return name;
}

/* The id that stands for `tool` in this agent's list: its own, or that of the agent's copy. */
static const char *own_id(struct agent_tools *tools, const struct tool *tool,
                          const struct agent *agent, struct arena *arena)
{
    if (*tool->agent_id == '\0' || is_own(tool, agent))
        return tool->id;
    for (size_t i = 0; i < tools->own_count; i++)
        if (strcmp(tools->own[i].tool.source_id, tool->id) == 0)
            return tools->own[i].tool.id;
    struct agent_tool *copy = add_own(tools, tool, agent, arena);
    copy->tool.source_id = tool->id;
    copy->tool.name = ""; /* not to be found by its own search */
    copy->tool.name = free_name(tools, tool->name, arena);
    return copy->tool.id;
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
    ids.items = arena_new_n(context->arena, const char *, sent.count + ENTRIES_MAX);
    for (size_t i = 0; i < sent.count; i++) {
        const struct tool *tool = find_tool(&tools->all, sent.items[i]);
        if (!tool) {
            faults_add(&context->faults, arena_printf(context->arena, "toolIds[%zu]", i),
                       "is no tool of the workspace");
            continue;
        }
        const char *id = own_id(tools, tool, agent, context->arena);
        if (!has_id(&ids, id))
            ids.items[ids.count++] = id;
    }
    agent->tool_ids = ids;
}

/* ---- tools ---- */

static struct agent_tool *match(struct agent_tools *tools, const struct js *entry,
                                struct arena *arena)
{
    const char *id = js_text(js_get(entry, "id")), *name = js_text(js_get(entry, "name"));
    struct agent_tool *own = id ? own_by_id(tools, id) : NULL;
    return own || !name ? own : own_by_name(tools, tool_name_saved(name, arena));
}

static bool is_shared(const struct agent_tools *tools, const struct js *entry)
{
    const char *id = js_text(js_get(entry, "id"));
    const struct tool *tool = id ? find_tool(&tools->all, id) : NULL;
    return tool && *tool->agent_id == '\0';
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
    AUTO(js) body = js_copy(entry); /* agentId of what was read is no wish to move the tool */
    if (js_type(body) == JS_OBJECT)
        js_remove(body, "agentId");
    if (own) {
        field_merge(&tool_table, &own->tool, body, context, path);
        own->is_changed = true;
    } else {
        struct tool tool;
        size_t faults = context->faults.count;
        field_create(&tool_table, &tool, body, context, path);
        if (context->faults.count != faults)
            return;
        tool.source_id = "";
        own = add_own(tools, &tool, agent, context->arena);
        agent->tool_ids.items[agent->tool_ids.count++] = own->tool.id;
    }
    if (js_get(entry, "url"))
        tools->urls[tools->url_count++] = own->tool.url;
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
        memcpy(ids, agent->tool_ids.items, agent->tool_ids.count * sizeof *ids);
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
        for (size_t j = 0; j < i; j++)
            tools->is_name_taken |= strcmp(tools->own[i].tool.name, tools->own[j].tool.name) == 0;
}

enum err agent_tools_store(struct agent_tools *tools, struct request *request,
                           const struct agent *agent)
{
    for (size_t i = 0; i < tools->own_count; i++) {
        struct agent_tool *own = &tools->own[i];
        own->tool.agent_id = agent->id;
        own->tool.user_id = agent->user_id;
        enum err err = own->is_new       ? store_tool_insert(request->tx, &own->tool)
                       : own->is_changed ? store_tool_update(request->tx, &own->tool)
                                         : OK;
        if (err != OK)
            return err;
    }
    return OK;
}

/* ---- what is on ---- */

static bool is_listed(const struct tool_list *tools, const struct tool *tool)
{
    return find_tool(tools, tool->id) != NULL;
}

/* Does the text mention @name, as a whole word? */
static bool mentions(const char *text, const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    size_t len = strlen(name);
    for (const char *at = strchr(text, '@'); at; at = strchr(at + 1, '@'))
        if (strncasecmp(at + 1, name, len) == 0 && strspn(at + 1 + len, letters) == 0)
            return true;
    return false;
}

/* An own tool hides a shared one of its name from a mention. */
static bool is_hidden(const struct tool_list *all, const struct tool *tool,
                      const struct agent *agent)
{
    if (is_own(tool, agent))
        return false;
    for (size_t i = 0; i < all->count; i++)
        if (is_own(&all->items[i], agent) && strcmp(all->items[i].name, tool->name) == 0)
            return true;
    return false;
}

static bool is_reachable(const struct tool *tool, const struct agent *agent)
{
    return *tool->agent_id == '\0' || is_own(tool, agent);
}

void agent_tools_fill(struct agent *agent, const struct tool_list *all, struct arena *arena)
{
    agent->tools = (struct tool_list){arena_new_n(arena, struct tool, all->count), 0};
    for (size_t i = 0; i < agent->tool_ids.count; i++) {
        const struct tool *tool = find_tool(all, agent->tool_ids.items[i]);
        if (tool)
            agent->tools.items[agent->tools.count++] = *tool;
    }
    const char *text = agent->system_instruction ? agent->system_instruction : "";
    for (size_t i = 0; i < all->count; i++) {
        const struct tool *tool = &all->items[i];
        if (is_reachable(tool, agent) && !is_listed(&agent->tools, tool) &&
            mentions(text, tool->name) && !is_hidden(all, tool, agent))
            agent->tools.items[agent->tools.count++] = *tool;
    }
}

/* Is `a` the one to keep of two tools of one name? */
static bool wins(const struct tool *a, const struct tool *b, const struct agent *agent)
{
    if (is_own(a, agent) != is_own(b, agent))
        return is_own(a, agent);
    if (a->created_wall_ms != b->created_wall_ms)
        return a->created_wall_ms < b->created_wall_ms;
    return strcmp(a->id, b->id) < 0;
}

void agent_tools_for_call(struct agent *agent, const struct tool_list *all, struct arena *arena)
{
    agent_tools_fill(agent, all, arena);
    struct tool_list kept = {arena_new_n(arena, struct tool, agent->tools.count), 0};
    for (size_t i = 0; i < agent->tools.count; i++) {
        const struct tool *tool = &agent->tools.items[i];
        bool is_best = true;
        for (size_t j = 0; j < agent->tools.count; j++)
            is_best &= i == j || strcmp(tool->name, agent->tools.items[j].name) != 0 ||
                       wins(tool, &agent->tools.items[j], agent);
        if (is_best)
            kept.items[kept.count++] = *tool;
    }
    agent->tools = kept;
}
