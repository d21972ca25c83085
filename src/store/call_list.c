/* Pages of calls: ids, newest first, and how many match, of the same snapshot. Thread: inside a
 * job. */
#include "base/attr.h"
#include "base/ids.h"
#include "store/call.h"
#include "store/call_count.h"
#include "store/page.h"
#include "store/tx.h"

/* What a filter asks for, as SQL after WHERE. Its text depends only on which conditions are there,
 * so that the database prepares a handful of statements. */
struct condition {
    const char *sql;
    struct db_value values[11]; /* ten at most; DB_END after them */
    size_t count;
};

static void add(struct tx *tx, struct condition *where, const char *sql, struct db_value value)
{
    where->sql = arena_printf(tx->arena, "%s AND %s", where->sql, sql);
    where->values[where->count++] = value;
}

/* Calls that run are few and have an index of their own, which is found by these words; that it is
 * the one to use is not left to the database, which knows little of how many there are of what. */
static void add_status(struct tx *tx, struct condition *where, const struct call_filter *filter)
{
    bool is_running = filter->status != CALL_ENDED;
    add(tx, where, is_running ? "status <> 'ended' AND status = ?" : "status = ?",
        TEXT(call_status_names[filter->status]));
}

static struct condition make_condition(struct tx *tx, const struct call_filter *filter)
{
    bool is_running = filter->status >= 0 && filter->status != CALL_ENDED;
    struct condition where = {.sql = "workspace_id = ?"};
    where.values[where.count++] = TEXT(filter->workspace_id);
    if (filter->agent_id && *filter->agent_id)
        add(tx, &where, is_running ? "agent_id || '' = ?" : "agent_id = ?", TEXT(filter->agent_id));
    if (filter->source >= 0)
        add(tx, &where, is_running ? "source || '' = ?" : "source = ?",
            TEXT(call_source_names[filter->source]));
    if (filter->status >= 0)
        add_status(tx, &where, filter);
    if (filter->end_reason != END_NONE)
        add(tx, &where, "status = 'ended' AND end_reason = ?",
            TEXT(end_reason_names[filter->end_reason]));
    if (filter->until_ms) {
        add(tx, &where, "created_ms >= ?", NUMBER(filter->from_ms));
        add(tx, &where, "created_ms < ?", NUMBER(filter->until_ms));
    }
    return where;
}

/* Those of a span of time, and those that run, are few enough to be counted one by one. */
static int64_t count_matching(struct tx *tx, const struct call_filter *filter,
                              const struct condition *where)
{
    bool is_running = filter->status >= 0 && filter->status != CALL_ENDED;
    if (!filter->until_ms && !is_running)
        return call_count_matching(tx, filter);
    const char *sql = arena_printf(tx->arena, "SELECT COUNT(*) FROM calls WHERE %s", where->sql);
    return tx_query_number(tx, 0, sql, where->values);
}

static enum err add_cursor(struct tx *tx, struct condition *where, const char *before)
{
    const char *id;
    int64_t before_ms;
    if (!page_cursor_read(before, &before_ms, &id) || !uuid_is_valid(id))
        return ERR_INVALID;
    add(tx, where, "(created_ms, id) < (?, ?)", NUMBER(before_ms));
    where->values[where->count++] = TEXT(id);
    return OK;
}

static void read_page(struct tx *tx, const struct call_filter *filter,
                      const struct condition *where, struct call_page *out)
{
    const char *sql = arena_printf(tx->arena,
                                   "SELECT id, created_ms FROM calls WHERE %s"
                                   " ORDER BY created_ms DESC, id DESC LIMIT ?",
                                   where->sql);
    AUTO(cursor) row = tx_query(tx, sql, where->values);
    int64_t last_ms = 0;
    while (!out->next && cursor_next(row)) {
        if (out->ids.count == filter->limit) {
            out->next = page_cursor(tx, last_ms, out->ids.items[filter->limit - 1]);
            continue;
        }
        *GROW(&out->ids, tx->arena) = cursor_text(row, 0);
        last_ms = cursor_number(row, 1);
    }
}

enum err store_call_list(struct tx *tx, const struct call_filter *filter, struct call_page *out)
{
    struct condition where = make_condition(tx, filter);
    *out = (struct call_page){.total = count_matching(tx, filter, &where)};
    if (filter->before) {
        enum err err = add_cursor(tx, &where, filter->before);
        if (err)
            return err;
    }
    int64_t most = (int64_t)filter->limit + 1; /* one more tells of a next */
    if (!filter->before)                       /* what is not there is not searched for */
        most = MIN(most, out->total);
    where.values[where.count] = NUMBER(most);
    if (most > 0)
        read_page(tx, filter, &where, out);
    return tx_result(tx);
}
