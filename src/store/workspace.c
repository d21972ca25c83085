/* Workspaces and their credits. Thread: inside a job. */
#include "store/workspace.h"

#include "base/ids.h"
#include "model/workspace.h"
#include "store/columns.h"
#include "store/tx.h"

static enum err read_row(struct tx *tx, struct cursor *row, struct workspace *out)
{
    *out = (struct workspace){.currency = "USD"};
    return columns_read(tx, row, &workspace_table, out);
}

enum err store_workspace_insert(struct tx *tx, struct workspace *workspace)
{
    char id[ID_SIZE];
    id_new("usr_", id);
    workspace->id = arena_strdup(tx->arena, id);
    workspace->currency = "USD";
    workspace->created_wall_ms = tx->now_ms;
    columns_insert(tx, &(struct row_insert){
                           .into = "workspaces", .table = &workspace_table, .object = workspace});
    return tx_result(tx);
}

enum err store_workspace_get(struct tx *tx, const char *id, struct workspace *out)
{
    const char *sql = columns_select(tx, &workspace_table, NULL, "FROM workspaces WHERE id = ?");
    AUTO(cursor) row = QUERY(tx, sql, TEXT(id));
    return cursor_next(row) ? read_row(tx, row, out) : tx_missing(tx);
}

enum err store_workspace_list(struct tx *tx, struct workspace_list *out)
{
    *out = (struct workspace_list){0};
    const char *sql =
        columns_select(tx, &workspace_table, NULL, "FROM workspaces ORDER BY created_ms, id");
    AUTO(cursor) row = QUERY(tx, sql);
    while (cursor_next(row)) {
        enum err err = read_row(tx, row, GROW(out, tx->arena));
        if (err)
            return err;
    }
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
