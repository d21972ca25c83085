/* Tools. Thread: inside a job. */
#include "store/tool.h"

#include <string.h>

#include "base/ids.h"
#include "model/agent.h"
#include "model/tool.h"
#include "store/agent.h"
#include "store/tx.h"

#define SELECT_TOOL                                                                                \
    "SELECT id, workspace_id, agent_id, name, source_id, settings, created_ms, updated_ms"         \
    " FROM tools "

static enum err read_row(struct tx *tx, struct cursor *row, struct tool *out)
{
    size_t len;
    const char *settings = cursor_peek(row, 5, &len);
    if (field_read(&tool_table, out, settings, len, tx->master_key, tx->arena))
        return fault_set(&tx->fault, ERR_INTERNAL, "a tool's settings do not read");
    out->id = cursor_text(row, 0);
    out->user_id = cursor_text(row, 1);
    out->agent_id = cursor_text(row, 2);
    out->name = cursor_text(row, 3);
    out->source_id = cursor_text(row, 4);
    out->created_wall_ms = cursor_number(row, 6);
    out->updated_wall_ms = cursor_number(row, 7);
    return OK;
}

static enum err read_all(struct tx *tx, struct cursor *row, struct tool_list *out)
{
    *out = (struct tool_list){0};
    while (cursor_next(row)) {
        enum err err = read_row(tx, row, GROW(out, tx->arena));
        if (err)
            return err;
    }
    return tx_result(tx);
}

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

/* The unique index refuses it in any case; asked before, so that the transaction goes on. */
static bool is_taken_by_another(struct tx *tx, const struct tool *tool)
{
    return *or_empty(tool->agent_id) &&
           QUERY_NUMBER(tx, 0,
                        "SELECT COUNT(*) FROM tools WHERE agent_id = ? AND name = ? AND id <> ?",
                        TEXT(tool->agent_id), TEXT(tool->name), TEXT(or_empty(tool->id))) > 0;
}

enum err store_tool_insert(struct tx *tx, struct tool *tool)
{
    if (is_taken_by_another(tx, tool))
        return ERR_CONFLICT;
    if (!*or_empty(tool->id)) {
        char id[ID_SIZE];
        id_new("tool_", id);
        tool->id = arena_strdup(tx->arena, id);
    }
    tool->created_wall_ms = tool->updated_wall_ms = tx->now_ms;
    int64_t changed =
        EXEC(tx,
             "INSERT INTO tools (id, workspace_id, agent_id, name, source_id, settings, created_ms,"
             " updated_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
             TEXT(tool->id), TEXT(tool->user_id), TEXT(or_empty(tool->agent_id)), TEXT(tool->name),
             TEXT(or_empty(tool->source_id)),
             TEXT(field_store_text(&tool_table, tool, tx->master_key, tx->arena)),
             NUMBER(tx->now_ms), NUMBER(tx->now_ms));
    return changed || tx_has_failed(tx) ? tx_result(tx) : ERR_CONFLICT;
}

enum err store_tool_get(struct tx *tx, const char *workspace_id, const char *id, struct tool *out)
{
    AUTO(cursor)
    row = QUERY(tx, SELECT_TOOL "WHERE id = ? AND workspace_id = ?", TEXT(id), TEXT(workspace_id));
    return cursor_next(row) ? read_row(tx, row, out) : tx_missing(tx);
}

enum err store_tool_list(struct tx *tx, const char *workspace_id, const char *agent_id,
                         struct tool_list *out)
{
    AUTO(cursor)
    row = agent_id
              ? QUERY(tx,
                      SELECT_TOOL "WHERE workspace_id = ? AND agent_id = ?"
                                  " ORDER BY created_ms DESC, id DESC",
                      TEXT(workspace_id), TEXT(agent_id))
              : QUERY(tx, SELECT_TOOL "WHERE workspace_id = ? ORDER BY created_ms DESC, id DESC",
                      TEXT(workspace_id));
    return read_all(tx, row, out);
}

enum err store_tool_list_reachable(struct tx *tx, const char *workspace_id, const char *agent_id,
                                   struct tool_list *out)
{
    AUTO(cursor)
    row = QUERY(tx,
                SELECT_TOOL "WHERE workspace_id = ? AND agent_id IN ('', ?)"
                            " ORDER BY created_ms, id",
                TEXT(workspace_id), TEXT(agent_id));
    return read_all(tx, row, out);
}

enum err store_tool_find_copy(struct tx *tx, const char *agent_id, const char *source_id,
                              struct tool *out)
{
    AUTO(cursor)
    row = QUERY(tx,
                SELECT_TOOL "WHERE agent_id = ? AND source_id = ?"
                            " ORDER BY created_ms, id LIMIT 1",
                TEXT(agent_id), TEXT(source_id));
    return cursor_next(row) ? read_row(tx, row, out) : tx_missing(tx);
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
    if (is_taken_by_another(tx, tool))
        return ERR_CONFLICT;
    int64_t now_ms = MAX(tx->now_ms, tool->updated_wall_ms);
    int64_t changed =
        EXEC(tx, "UPDATE tools SET name = ?, settings = ?, updated_ms = ? WHERE id = ?",
             TEXT(tool->name), TEXT(field_store_text(&tool_table, tool, tx->master_key, tx->arena)),
             NUMBER(now_ms), TEXT(tool->id));
    if (!changed)
        return tx_missing(tx);
    tool->updated_wall_ms = now_ms;
    return OK;
}

enum err store_tool_remove(struct tx *tx, const char *workspace_id, const char *id)
{
    if (!EXEC(tx, "DELETE FROM tools WHERE id = ? AND workspace_id = ?", TEXT(id),
              TEXT(workspace_id)))
        return tx_missing(tx);
    return store_agent_forget(tx, workspace_id, AGENT_TOOL_IDS, id);
}
