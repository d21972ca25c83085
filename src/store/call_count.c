/* See call_count.h. Rows with an end_reason count ends, those without count starts. */
#include "store/call_count.h"

#include "base/arena.h"
#include "store/columns.h"
#include "store/tx.h"

static const char one_more[] = "ON CONFLICT (workspace_id, agent_id, source, end_reason)"
                               " DO UPDATE SET calls = call_counts.calls + 1";

void call_count_started(struct tx *tx, const struct call *call)
{
    const struct column *columns =
        COLUMNS({"workspace_id", TEXT(call->user_id)}, {"agent_id", TEXT(call->agent_id)},
                {"source", TEXT(call_source_names[call->source])}, {"end_reason", TEXT("")},
                {"calls", NUMBER(1)});
    columns_insert(
        tx, &(struct row_insert){.into = "call_counts", .also = columns, .conflict = one_more});
}

void call_count_ended(struct tx *tx, const char *id)
{
    const struct column *columns = COLUMNS(
        {"workspace_id", .sql = "workspace_id"}, {"agent_id", .sql = "agent_id"},
        {"source", .sql = "source"}, {"end_reason", .sql = "end_reason"}, {"calls", .sql = "1"});
    columns_insert(tx, &(struct row_insert){.into = "call_counts",
                                            .also = columns,
                                            .from = "FROM calls WHERE id = ?",
                                            .values = VALUES(TEXT(id)),
                                            .conflict = one_more});
}

/* An empty text: any. */
static const char *source_of(const struct call_filter *filter)
{
    return filter->source >= 0 ? call_source_names[filter->source] : "";
}

static int64_t sum(struct tx *tx, const struct call_filter *filter, const char *reasons,
                   const char *reason)
{
    const char *agent_id = filter->agent_id ? filter->agent_id : "";
    const char *sql = arena_printf(tx->arena,
                                   "SELECT COALESCE(SUM(calls), 0) FROM call_counts"
                                   " WHERE workspace_id = ?%s AND (? = '' OR source = ?)"
                                   " AND end_reason %s ?",
                                   *agent_id ? " AND agent_id = ?" : " AND ? = ''", reasons);
    return tx_query_number(tx, 0, sql,
                           VALUES(TEXT(filter->workspace_id), TEXT(agent_id),
                                  TEXT(source_of(filter)), TEXT(source_of(filter)), TEXT(reason)));
}

int64_t call_count_matching(struct tx *tx, const struct call_filter *filter)
{
    if (filter->end_reason != END_NONE)
        return sum(tx, filter, "=", end_reason_names[filter->end_reason]);
    return sum(tx, filter, filter->status == CALL_ENDED ? "<>" : "=", "");
}
