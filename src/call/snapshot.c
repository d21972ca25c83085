#include "call/snapshot.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/ids.h"
#include "base/js.h"
#include "base/mem.h"

enum { KEY_BYTES = ID_SIZE + 24, FRAME_BYTES = 128 /* names and braces around a definition */ };

struct snapshots {
    struct shelf *agents, *tools;
};

static void free_agent(struct shelf_item *item)
{
    struct agent_snapshot *snapshot = (struct agent_snapshot *)item;
    arena_free(snapshot->arena);
    mem_free(snapshot);
}

static void free_tool(struct shelf_item *item)
{
    struct tool_snapshot *snapshot = (struct tool_snapshot *)item;
    arena_free(snapshot->arena);
    mem_free(snapshot);
}

struct snapshots *snapshots_new(void)
{
    struct snapshots *snapshots = mem_new(struct snapshots);
    snapshots->agents = shelf_new(free_agent);
    snapshots->tools = shelf_new(free_tool);
    return snapshots;
}

void snapshots_free(struct snapshots *snapshots)
{
    if (!snapshots)
        return;
    shelf_free(snapshots->agents);
    shelf_free(snapshots->tools);
    mem_free(snapshots);
}

static const char *key_of(const char *id, int64_t version, char out[KEY_BYTES])
{
    snprintf(out, KEY_BYTES, "%s %" PRId64, id, version);
    return out;
}

/* What the model reads. */

static void write_parameter(const struct tool_pair *param, struct js_out *out)
{
    static const char example[] = "for example: ";
    js_out_key(out, param->key);
    js_out_object(out);
    js_out_key(out, "type");
    js_out_text(out, "string");
    if (param->value && *param->value) {
        AUTO_BUF text = BUF_INIT(TOOLS_MAX_BYTES);
        (void)buf_append(&text, example, sizeof(example) - 1);
        (void)buf_append_str(&text, param->value);
        js_out_key(out, "description");
        js_out_text(out, text.data);
    }
    js_out_object_end(out);
}

static const char *write_parameters(const struct tool *tool, struct arena *arena)
{
    AUTO_BUF text = BUF_INIT(TOOLS_MAX_BYTES);
    struct js_out out;
    js_out_init(&out, &text);
    js_out_object(&out);
    js_out_key(&out, "type");
    js_out_text(&out, "object");
    js_out_key(&out, "properties");
    js_out_object(&out);
    for (size_t i = 0; i < tool->params.count; i++)
        write_parameter(&tool->params.items[i], &out);
    js_out_object_end(&out);
    js_out_object_end(&out);
    return text.is_full ? NULL : arena_strndup(arena, text.data, text.len);
}

/* As it will be sent: quoted and escaped. */
static size_t bytes_of(const char *text)
{
    AUTO_BUF quoted = BUF_INIT(TOOLS_MAX_BYTES);
    struct js_out out;
    js_out_init(&out, &quoted);
    js_out_text(&out, text);
    return quoted.is_full ? TOOLS_MAX_BYTES : quoted.len;
}

struct tool_definition tool_define(const struct tool *tool, struct arena *arena)
{
    const char *description = tool->description;
    if (tool->sample_output && *tool->sample_output)
        description = arena_printf(arena, "%s\nIt answers like this: %s", tool->description,
                                   tool->sample_output);
    const char *parameters = write_parameters(tool, arena);
    return (struct tool_definition){
        .tool = {.name = tool->name, .description = description, .parameters = parameters},
        .bytes = FRAME_BYTES + strlen(tool->name) + bytes_of(description) +
                 (parameters ? strlen(parameters) : TOOLS_MAX_BYTES),
    };
}

/* Snapshots. */

struct agent_snapshot *snapshot_agent(struct snapshots *snapshots, const struct agent *agent)
{
    char key[KEY_BYTES];
    key_of(agent->id, agent->version, key);
    struct shelf_item *held = shelf_take(snapshots->agents, key);
    if (held)
        return (struct agent_snapshot *)held;
    struct agent_snapshot *made = mem_new(struct agent_snapshot);
    made->arena = arena_new(0);
    made->agent = *agent;
    made->agent.tools = (struct tool_list){0};
    field_copy(&agent_table, &made->agent, &made->agent, made->arena);
    return (struct agent_snapshot *)shelf_put(snapshots->agents, key, &made->item);
}

struct tool_snapshot *snapshot_tool_held(struct snapshots *snapshots, const char *id,
                                         int64_t version)
{
    char key[KEY_BYTES];
    return (struct tool_snapshot *)shelf_take(snapshots->tools, key_of(id, version, key));
}

struct tool_snapshot *snapshot_tool(struct snapshots *snapshots, const struct tool *tool)
{
    char key[KEY_BYTES];
    struct tool_snapshot *held = snapshot_tool_held(snapshots, tool->id, tool->version);
    if (held)
        return held;
    struct tool_snapshot *made = mem_new(struct tool_snapshot);
    made->arena = arena_new(0);
    field_copy(&tool_table, tool, &made->tool, made->arena);
    made->tool.source_id = "";
    if (tool->kind == TOOL_DURING_CALL)
        made->definition = tool_define(&made->tool, made->arena);
    key_of(tool->id, tool->version, key);
    return (struct tool_snapshot *)shelf_put(snapshots->tools, key, &made->item);
}
