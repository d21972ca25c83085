/* Usage by day. */
#include "store/usage.h"

#include <string.h>

#include "base/clock.h"
#include "store/columns.h"

enum { DAY_MS = 86400000, DATE_LEN = 10 };

/* A row of usage_days: what the calls of a workspace, a day, an agent and a reason came to. */
struct usage_row {
    const char *workspace_id, *agent_id, *end_reason;
    int64_t day, calls, seconds, cost_usd4;
};

static const struct field usage_rows[] = {
    COLUMN_TEXT(struct usage_row, workspace_id, "workspace_id"),
    COLUMN_NUMBER(struct usage_row, day, "day"),
    COLUMN_TEXT(struct usage_row, agent_id, "agent_id"),
    COLUMN_TEXT(struct usage_row, end_reason, "end_reason"),
    COLUMN_NUMBER(struct usage_row, calls, "calls"),
    COLUMN_NUMBER(struct usage_row, seconds, "seconds"),
    COLUMN_NUMBER(struct usage_row, cost_usd4, "cost_usd4"),
};
static FIELD_TABLE(usage_row_table, struct usage_row, "usage_days", usage_rows);

static void add_row(struct tx *tx, const struct usage_row *row)
{
    const struct row_insert insert = {
        .into = "usage_days",
        .table = &usage_row_table,
        .object = row,
        .conflict = "ON CONFLICT (workspace_id, day, agent_id, end_reason) DO UPDATE SET"
                    " calls = usage_days.calls + excluded.calls,"
                    " seconds = usage_days.seconds + excluded.seconds,"
                    " cost_usd4 = usage_days.cost_usd4 + excluded.cost_usd4",
    };
    columns_insert(tx, &insert);
}

/* A row of usage_replies: the replies of a workspace, a day and an agent by size. Not columns of
 * usage_days: that has a row for each reason, too, and summing up rows as wide as these took seven
 * times as long as all else. */
struct replies_row {
    const char *workspace_id, *agent_id;
    int64_t day;
    struct reply_times times;
};

static const struct field replies_rows[] = {
    COLUMN_TEXT(struct replies_row, workspace_id, "workspace_id"),
    COLUMN_NUMBER(struct replies_row, day, "day"),
    COLUMN_TEXT(struct replies_row, agent_id, "agent_id"),
#define REPLY_TIME(from, below)                                                                    \
    COLUMN_NUMBER(struct replies_row, times.counts[REPLY_FROM_##from], "ms_" #from),
#include "model/reply_times.def"
#undef REPLY_TIME
};
static FIELD_TABLE(replies_row_table, struct replies_row, "usage_replies", replies_rows);

static void add_replies(struct tx *tx, const struct usage_row *of,
                        const struct call_quality *quality)
{
    if (!quality || reply_times_count(&quality->reply_times) == 0)
        return;
    const struct replies_row row = {.workspace_id = of->workspace_id,
                                    .agent_id = of->agent_id,
                                    .day = of->day,
                                    .times = quality->reply_times};
    const struct row_insert insert = {
        .into = "usage_replies",
        .table = &replies_row_table,
        .object = &row,
        .conflict = "ON CONFLICT (workspace_id, day, agent_id) DO UPDATE SET day = excluded.day"
#define REPLY_TIME(from, below) ", ms_" #from " = usage_replies.ms_" #from " + excluded.ms_" #from
#include "model/reply_times.def"
#undef REPLY_TIME
    };
    columns_insert(tx, &insert);
}

/* Of calls that have ended. */
static const struct field ended_rows[] = {
    COLUMN_TEXT(struct usage_row, workspace_id, "workspace_id"),
    COLUMN_NUMBER(struct usage_row, day, "ended_ms / 86400000"),
    COLUMN_TEXT(struct usage_row, agent_id, "agent_id"),
    COLUMN_TEXT(struct usage_row, end_reason, "end_reason"),
    COLUMN_NUMBER(struct usage_row, seconds, "duration_s"),
    COLUMN_NUMBER(struct usage_row, cost_usd4, "cost_usd4"),
};
static FIELD_TABLE(ended_table, struct usage_row, "calls", ended_rows);

void store_usage_add_row(struct tx *tx, const char *call_id, const struct call_quality *quality)
{
    struct usage_row row = {.calls = 1};
    AUTO(cursor) found =
        QUERY(tx, columns_select(tx, &ended_table, NULL, "FROM calls WHERE id = ?"), TEXT(call_id));
    if (!cursor_next(found) || columns_read(tx, found, &ended_table, &row))
        return;
    add_row(tx, &row);
    add_replies(tx, &row, quality);
}

void store_usage_add(struct tx *tx, const struct usage_call *call)
{
    const struct usage_row row = {
        .workspace_id = call->workspace_id,
        .agent_id = call->agent_id,
        .end_reason = end_reason_names[call->reason],
        .day = call->ended_wall_ms / DAY_MS,
        .calls = 1,
        .seconds = call->seconds,
        .cost_usd4 = call->cost_usd4,
    };
    add_row(tx, &row);
    add_replies(tx, &row, call->quality);
}

/* A day of all reasons and agents that are asked for. */
static const struct field sum_rows[] = {
    COLUMN_NUMBER(struct usage_row, day, "day"),
    COLUMN_NUMBER(struct usage_row, calls, "SUM(calls)"),
    COLUMN_NUMBER(struct usage_row, seconds, "SUM(seconds)"),
    COLUMN_NUMBER(struct usage_row, cost_usd4, "SUM(cost_usd4)"),
};
static FIELD_TABLE(sum_table, struct usage_row, "usage_days", sum_rows);
struct usage_row_list LIST_OF(struct usage_row);

/* The replies of a day, of all agents that are asked for. */
static const struct field replies_sum_rows[] = {
    COLUMN_NUMBER(struct replies_row, day, "day"),
#define REPLY_TIME(from, below)                                                                    \
    COLUMN_NUMBER(struct replies_row, times.counts[REPLY_FROM_##from], "SUM(ms_" #from ")"),
#include "model/reply_times.def"
#undef REPLY_TIME
};
static FIELD_TABLE(replies_sum_table, struct replies_row, "usage_replies", replies_sum_rows);
struct replies_row_list LIST_OF(struct replies_row);

static const struct field reason_rows[] = {
    COLUMN_TEXT(struct usage_reason, reason, "end_reason"),
    COLUMN_NUMBER(struct usage_reason, calls, "SUM(calls)"),
};
static FIELD_TABLE(reason_table, struct usage_reason, "usage_days", reason_rows);

/* A reason of a day, of all agents that are asked for. */
static const struct field day_reason_rows[] = {
    COLUMN_NUMBER(struct usage_row, day, "day"),
    COLUMN_TEXT(struct usage_row, end_reason, "end_reason"),
    COLUMN_NUMBER(struct usage_row, calls, "SUM(calls)"),
};
static FIELD_TABLE(day_reason_table, struct usage_row, "usage_days", day_reason_rows);

#define THESE_DAYS "WHERE workspace_id = ? AND day >= ? AND (? = '' OR agent_id = ?)"
#define OF_DAYS    "FROM usage_days " THESE_DAYS

static void add(struct usage_row *sums, const struct usage_row *row)
{
    sums->calls += row->calls;
    sums->seconds += row->seconds;
    sums->cost_usd4 += row->cost_usd4;
}

static void set_day(struct usage_day *day, const struct usage_row *sums)
{
    day->calls = sums->calls;
    day->seconds = sums->seconds;
    day->cost_usd4 = sums->cost_usd4;
}

static void set_replies(struct usage_day *day, const struct reply_times *times)
{
    day->reply_p50_ms = reply_times_percentile(times, 50);
    day->reply_p95_ms = reply_times_percentile(times, 95);
}

static const char *date_of(struct tx *tx, int64_t day)
{
    char text[CLOCK_ISO_SIZE];
    clock_iso(day * DAY_MS, text);
    text[DATE_LEN] = '\0';
    return arena_strdup(tx->arena, text);
}

static enum err read_days(struct tx *tx, const struct db_value *scope, int64_t first,
                          struct usage *out)
{
    struct usage_row all = {0};
    struct usage_row_list days = {0};
    enum err err =
        columns_list(tx, &sum_table, columns_select(tx, &sum_table, NULL, OF_DAYS " GROUP BY day"),
                     scope, &days);
    for (size_t i = 0; i < days.count && !err; i++) {
        int64_t at = days.items[i].day - first;
        add(&all, &days.items[i]);
        if (at < (int64_t)out->days.count)
            set_day(&out->days.items[at], &days.items[i]);
    }
    set_day(&out->total, &all);
    return err;
}

static enum err read_replies(struct tx *tx, const struct db_value *scope, int64_t first,
                             struct usage *out)
{
    const struct reply_times none = {0};
    struct reply_times all = {0};
    struct replies_row_list days = {0};
    const char *sql = columns_select(tx, &replies_sum_table, NULL,
                                     "FROM usage_replies " THESE_DAYS " GROUP BY day");
    enum err err = columns_list(tx, &replies_sum_table, sql, scope, &days);
    for (size_t i = 0; i < out->days.count; i++)
        set_replies(&out->days.items[i], &none);
    for (size_t i = 0; i < days.count && !err; i++) {
        int64_t at = days.items[i].day - first;
        reply_times_join(&all, &days.items[i].times);
        if (at < (int64_t)out->days.count)
            set_replies(&out->days.items[at], &days.items[i].times);
    }
    set_replies(&out->total, &all);
    return err;
}

/* Of each day and of all, most frequent first. */
static enum err read_reasons(struct tx *tx, const struct db_value *scope, int64_t first,
                             struct usage *out)
{
    struct usage_row_list rows = {0};
    const char *sql = columns_select(tx, &day_reason_table, NULL,
                                     OF_DAYS " GROUP BY day, end_reason ORDER BY 1, 3 DESC, 2");
    enum err err = columns_list(tx, &day_reason_table, sql, scope, &rows);
    for (size_t i = 0; i < rows.count && !err; i++) {
        const struct usage_row *row = &rows.items[i];
        int64_t at = row->day - first;
        if (at < (int64_t)out->days.count)
            *GROW(&out->days.items[at].reasons, tx->arena) =
                (struct usage_reason){row->end_reason, row->calls};
    }
    sql =
        columns_select(tx, &reason_table, NULL, OF_DAYS " GROUP BY end_reason ORDER BY 2 DESC, 1");
    if (!err)
        err = columns_list(tx, &reason_table, sql, scope, &out->reasons);
    out->total.reasons = out->reasons;
    return err;
}

enum err store_usage_read(struct tx *tx, const char *workspace_id, const char *agent_id,
                          int64_t days, struct usage *out)
{
    int64_t first = tx->now_ms / DAY_MS - days + 1;
    *out = (struct usage){.total = {.date = date_of(tx, first)}};
    for (int64_t i = 0; i < days; i++)
        *GROW(&out->days, tx->arena) = (struct usage_day){.date = date_of(tx, first + i)};
    const char *agent = agent_id ? agent_id : "";
    const struct db_value *scope =
        VALUES(TEXT(workspace_id), NUMBER(first), TEXT(agent), TEXT(agent));
    enum err err = read_days(tx, scope, first, out);
    if (!err)
        err = read_replies(tx, scope, first, out);
    return err ? err : read_reasons(tx, scope, first, out);
}
