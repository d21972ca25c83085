/* See call_count.h. Rows with an end_reason count ends, those without count starts. */
#include "store/call_count.h"

#include "base/arena.h"
#include "store/tx.h"

#define ONE_MORE                                                                                   \
    " ON CONFLICT (workspace_id, agent_id, source, end_reason)"                                    \
    " DO UPDATE SET calls = call_counts.calls + 1"

void call_count_started(struct tx *tx, const struct call *call)
{
    EXEC(tx,
         "INSERT INTO call_counts (workspace_id, agent_id, source, end_reason, calls)"
         " VALUES (?, ?, ?, '', 1)" ONE_MORE,
         TEXT(call->user_id), TEXT(call->agent_id), TEXT(call_source_names[call->source]));
}

void call_count_ended(struct tx *tx, const char *id)
{
    EXEC(tx,
         "INSERT INTO call_counts (workspace_id, agent_id, source, end_reason, calls)"
         " SELECT workspace_id, agent_id, source, end_reason, 1 FROM calls WHERE id = ?" ONE_MORE,
         TEXT(id));
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
