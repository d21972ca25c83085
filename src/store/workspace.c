/* Workspaces and their credits. Thread: inside a job. */
#include "store/workspace.h"

#include "base/ids.h"
#include "model/workspace.h"
#include "store/tx.h"

#define COLUMNS "id, name, plan, balance_usd4, max_concurrent_calls, created_ms"

static void read_row(struct cursor *row, struct workspace *out)
{
    *out = (struct workspace){.id = cursor_text(row, 0),
                              .name = cursor_text(row, 1),
                              .plan = cursor_text(row, 2),
                              .balance_usd4 = cursor_number(row, 3),
                              .max_concurrent_calls = cursor_number(row, 4),
                              .created_wall_ms = cursor_number(row, 5),
                              .currency = "USD"};
}

enum err store_workspace_insert(struct tx *tx, struct workspace *workspace)
{
    char id[ID_SIZE];
    id_new("usr_", id);
    workspace->id = arena_strdup(tx->arena, id);
    workspace->currency = "USD";
    workspace->created_wall_ms = tx->now_ms;
    EXEC(tx, "INSERT INTO workspaces (" COLUMNS ") VALUES (?, ?, ?, ?, ?, ?)", TEXT(id),
         TEXT(workspace->name), TEXT(workspace->plan), NUMBER(workspace->balance_usd4),
         NUMBER(workspace->max_concurrent_calls), NUMBER(tx->now_ms));
    return tx_result(tx);
}

enum err store_workspace_get(struct tx *tx, const char *id, struct workspace *out)
{
    AUTO(cursor) row = QUERY(tx, "SELECT " COLUMNS " FROM workspaces WHERE id = ?", TEXT(id));
    if (!cursor_next(row))
        return tx_missing(tx);
    read_row(row, out);
    return OK;
}

enum err store_workspace_list(struct tx *tx, struct workspace_list *out)
{
    *out = (struct workspace_list){0};
    AUTO(cursor) row = QUERY(tx, "SELECT " COLUMNS " FROM workspaces ORDER BY created_ms, id");
    while (cursor_next(row))
        read_row(row, GROW(out, tx->arena));
    return tx_result(tx);
}

enum err store_workspace_credit(struct tx *tx, const char *id, int64_t usd4, struct workspace *out)
{
    int64_t changed = EXEC(tx,
                           "UPDATE workspaces SET balance_usd4 = CASE WHEN balance_usd4 + ? > 0"
                           " THEN balance_usd4 + ? ELSE 0 END WHERE id = ?",
                           NUMBER(usd4), NUMBER(usd4), TEXT(id));
    if (!changed)
        return tx_missing(tx);
    tx_touch(tx, STORE_BALANCE);
    return out ? store_workspace_get(tx, id, out) : OK;
}

enum err store_workspace_lock(struct tx *tx, const char *id)
{
    AUTO(cursor) row = QUERY(tx, "SELECT id FROM workspaces WHERE id = ? FOR UPDATE", TEXT(id));
    return cursor_next(row) ? OK : tx_missing(tx);
}
