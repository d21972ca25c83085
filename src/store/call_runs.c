/* Runs of a call's tools: written by its owner as they begin and end, read back piece by piece.
 * Thread: inside a job. */
#include <string.h>

#include "store/call.h"
#include "store/call_row.h"
#include "store/columns.h"
#include "store/tx.h"

enum err store_call_run_began(struct tx *tx, const char *id, const struct call_run *run)
{
    struct call_row row;
    enum err err = call_row_own(tx, id, &row);
    if (err)
        return err;
    columns_insert(tx, &(struct row_insert){.into = "call_runs",
                                            .table = &call_run_table,
                                            .object = run,
                                            .also = COLUMNS({"call_id", TEXT(id)})});
    return tx_result(tx);
}

enum err store_call_run_ended(struct tx *tx, const char *id, const struct call_run *run)
{
    struct call_row row;
    enum err err = call_row_own(tx, id, &row);
    if (err)
        return err;
    const struct row_update update = {
        .of = "call_runs",
        .set = COLUMNS({"status", TEXT(call_run_status_names[run->status])},
                       {"http_status", NUMBER(run->http_status)}, {"ms", NUMBER(run->ms)},
                       {"result", TEXT(run->result)}, {"error", TEXT(run->error)}),
        .where = "call_id = ? AND number = ?",
        .values = VALUES(TEXT(id), NUMBER(run->number)),
    };
    columns_update(tx, &update);
    return tx_result(tx);
}

void call_runs_cancel(struct tx *tx, const char *id, int64_t ended_wall_ms)
{
    EXEC(tx,
         "UPDATE call_runs SET status = ?, ms = CASE WHEN at_ms < ? THEN ? - at_ms ELSE 0 END"
         " WHERE call_id = ? AND status = ?",
         TEXT(call_run_status_names[CALL_RUN_CANCELLED]), NUMBER(ended_wall_ms),
         NUMBER(ended_wall_ms), TEXT(id), TEXT(call_run_status_names[CALL_RUN_RUNNING]));
}

static enum err read_run(struct tx *tx, struct cursor *row, struct call_run *out)
{
    enum err err = columns_read(tx, row, &call_run_table, out);
    if (!err && out->status == CALL_RUN_RUNNING)
        out->ms = MAX(tx->now_ms - out->at_wall_ms, (int64_t)0); /* so far */
    return err;
}

enum err store_call_runs(struct tx *tx, const char *id, int64_t after, size_t max_bytes,
                         struct call_run_list *out, int64_t *out_after)
{
    enum { ROWS = 32 }; /* PostgreSQL hands all rows of a query over at once */
    size_t bytes = 0, rows = ROWS;
    *out = (struct call_run_list){0};
    const char *sql =
        columns_select(tx, &call_run_table, NULL,
                       "FROM call_runs WHERE call_id = ? AND number > ? ORDER BY number LIMIT 32");
    for (*out_after = after; rows == ROWS && bytes < max_bytes;) {
        AUTO(cursor) row = tx_query(tx, sql, VALUES(TEXT(id), NUMBER(*out_after)));
        for (rows = 0; bytes < max_bytes && cursor_next(row); rows++) {
            struct call_run *run = GROW(out, tx->arena);
            *run = (struct call_run){0};
            if (read_run(tx, row, run))
                return tx_result(tx);
            bytes += strlen(run->arguments) + strlen(run->result) + strlen(run->error);
            *out_after = run->number;
        }
    }
    if (rows < ROWS && bytes < max_bytes)
        *out_after = -1;
    return tx_result(tx);
}
