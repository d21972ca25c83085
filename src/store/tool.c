/* Tools. Thread: inside a job. */
#include "store/tool.h"

#include <string.h>

#include "base/ids.h"
#include "model/tool.h"
#include "store/columns.h"
#include "store/internal.h"
#include "store/tx.h"

static const struct field head_rows[] = {
    COLUMN_TEXT(struct tool_head, id, "id"),
    COLUMN_TEXT(struct tool_head, agent_id, "agent_id"),
    COLUMN_TEXT(struct tool_head, name, "name"),
    COLUMN_TEXT(struct tool_head, source_id, "source_id"),
    COLUMN_NUMBER(struct tool_head, created_wall_ms, "created_ms"),
    COLUMN_NUMBER(struct tool_head, version, "version"),
    COLUMN_NUMBER(struct tool_head, bytes, "bytes"),
};
static FIELD_TABLE(head_table, struct tool_head, "tools", head_rows);

#define OF_WORKSPACE "FROM tools WHERE workspace_id = ?"
/* By an expression: the index in the order of the list (tools_workspace) has no heads, and would be
 * taken to pass over all tools of the workspace for those of one agent. */
#define NEWEST " ORDER BY created_ms + 0 DESC, id DESC"

static enum err read_row(struct tx *tx, struct cursor *row, struct tool *out)
{
    size_t len;
    const char *settings = cursor_peek(row, columns_count(&tool_table), &len);
    if (field_read(&tool_table, out, settings, len, tx->master_key, tx->arena))
        return fault_set(&tx->fault, ERR_INTERNAL, "a tool's settings do not read");
    return columns_read(tx, row, &tool_table, out);
}

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

/* The unique index refuses it in any case; asked before, so that the transaction goes on. */
static bool is_taken_by_another(struct tx *tx, const char *agent_id, const char *name,
                                const char *id)
{
    return *or_empty(agent_id) &&
           QUERY_NUMBER(tx, 0,
                        "SELECT COUNT(*) FROM tools WHERE agent_id = ? AND name = ? AND id <> ?",
                        TEXT(agent_id), TEXT(name), TEXT(or_empty(id))) > 0;
}

enum err store_tool_insert(struct tx *tx, struct tool *tool)
{
    if (is_taken_by_another(tx, tool->agent_id, tool->name, tool->id))
        return ERR_CONFLICT;
    if (!*or_empty(tool->id)) {
        char id[ID_SIZE];
        id_new("tool_", id);
        tool->id = arena_strdup(tx->arena, id);
    }
    tool->created_wall_ms = tool->updated_wall_ms = tx->now_ms;
    const char *settings = field_store_text(&tool_table, tool, tx->master_key, tx->arena);
    tool->version = 1;
    tool->bytes = (int64_t)strlen(settings);
    tool->agent_id = or_empty(tool->agent_id);
    tool->source_id = or_empty(tool->source_id);
    int64_t changed =
        columns_insert(tx, &(struct row_insert){.into = "tools",
                                                .table = &tool_table,
                                                .object = tool,
                                                .also = COLUMNS({"settings", TEXT(settings)}),
                                                .conflict = "ON CONFLICT DO NOTHING"});
    return changed || tx_has_failed(tx) ? tx_result(tx) : ERR_CONFLICT;
}

/* What is sealed in the settings is bound to its field alone, so a copy of the text is good. */
enum err store_tool_copy(struct tx *tx, const char *source_id, const struct tool_head *copy)
{
    if (is_taken_by_another(tx, copy->agent_id, copy->name, copy->id))
        return ERR_CONFLICT;
    int64_t count = columns_insert(
        tx, &(struct row_insert){
                .into = "tools",
                .also = COLUMNS({"id", TEXT(copy->id)}, {"workspace_id", .sql = "workspace_id"},
                                {"agent_id", TEXT(copy->agent_id)}, {"name", TEXT(copy->name)},
                                {"source_id", .sql = "id"}, {"created_ms", NUMBER(tx->now_ms)},
                                {"updated_ms", NUMBER(tx->now_ms)}, {"version", .sql = "1"},
                                {"bytes", .sql = "bytes"}, {"settings", .sql = "settings"}),
                .from = "FROM tools WHERE id = ?",
                .values = VALUES(TEXT(source_id))});
    return count ? OK : tx_missing(tx);
}

static enum err get(struct tx *tx, const char *workspace_id, const char *id, const char *rest,
                    struct tool *out)
{
    const char *sql = columns_select(tx, &tool_table, "settings", rest);
    AUTO(cursor) row = QUERY(tx, sql, TEXT(workspace_id), TEXT(id));
    return cursor_next(row) ? read_row(tx, row, out) : tx_missing(tx);
}

enum err store_tool_get(struct tx *tx, const char *workspace_id, const char *id, struct tool *out)
{
    return get(tx, workspace_id, id, OF_WORKSPACE " AND id = ?", out);
}

enum err store_tool_lock(struct tx *tx, const char *workspace_id, const char *id, struct tool *out)
{
    return get(tx, workspace_id, id, OF_WORKSPACE " AND id = ? FOR UPDATE", out);
}

static enum err read_heads(struct tx *tx, const char *rest, const struct db_value *values,
                           struct tool_head_list *out)
{
    return columns_list(tx, &head_table, columns_select(tx, &head_table, NULL, rest), values, out);
}

enum err store_tool_head(struct tx *tx, const char *workspace_id, const char *id,
                         struct tool_head_list *out)
{
    return read_heads(tx, OF_WORKSPACE " AND id = ?", VALUES(TEXT(workspace_id), TEXT(id)), out);
}

const char *const store_tool_looks[] = {
    OF_WORKSPACE NEWEST,
    OF_WORKSPACE " AND agent_id = ?" NEWEST,
    OF_WORKSPACE " AND agent_id = ? AND name = ?" NEWEST,
    NULL,
};

enum err store_tool_heads(struct tx *tx, const char *workspace_id, const char *agent_id,
                          const char *name, struct tool_head_list *out)
{
    if (!agent_id)
        return read_heads(tx, store_tool_looks[0], VALUES(TEXT(workspace_id)), out);
    if (!name)
        return read_heads(tx, store_tool_looks[1], VALUES(TEXT(workspace_id), TEXT(agent_id)), out);
    return read_heads(tx, store_tool_looks[2],
                      VALUES(TEXT(workspace_id), TEXT(agent_id), TEXT(name)), out);
}

enum err store_tool_name_taken(struct tx *tx, const char *workspace_id, const char *agent_id,
                               const char *name, bool *out)
{
    int64_t count = QUERY_NUMBER(tx, 0,
                                 "SELECT COUNT(*) FROM tools"
                                 " WHERE workspace_id = ? AND agent_id = ? AND name = ?",
                                 TEXT(workspace_id), TEXT(agent_id), TEXT(name));
    if (tx_has_failed(tx))
        return ERR_IO;
    *out = count > 0;
    return OK;
}

enum err store_tool_update(struct tx *tx, struct tool *tool)
{
    if (is_taken_by_another(tx, tool->agent_id, tool->name, tool->id))
        return ERR_CONFLICT;
    int64_t now_ms = MAX(tx->now_ms, tool->updated_wall_ms + 1);
    const char *settings = field_store_text(&tool_table, tool, tx->master_key, tx->arena);
    int64_t bytes = (int64_t)strlen(settings);
    /* As an agent's: shared by version (call/snapshot.h). */
    int64_t version = QUERY_NUMBER(
        tx, 0,
        "UPDATE tools SET name = ?, settings = ?, bytes = ?, updated_ms = ?,"
        " version = version + 1 WHERE id = ? RETURNING version",
        TEXT(tool->name), TEXT(settings), NUMBER(bytes), NUMBER(now_ms), TEXT(tool->id));
    if (!version)
        return tx_missing(tx);
    tool->updated_wall_ms = now_ms;
    tool->version = version;
    tool->bytes = bytes;
    return OK;
}

enum err store_tool_remove(struct tx *tx, const char *workspace_id, const char *id)
{
    return EXEC(tx, "DELETE FROM tools WHERE id = ? AND workspace_id = ?", TEXT(id),
                TEXT(workspace_id))
               ? OK
               : tx_missing(tx);
}
