/* Usage by day. */
#include "store/usage.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "store/tx.h"

enum { DAY_MS = 86400000, DATE_LEN = 10 };

#define COLUMNS_OF_DAY                                                                             \
    "INSERT INTO usage_days (workspace_id, day, agent_id, end_reason, calls, seconds,"             \
    " cost_usd4, replies, reply_p50_ms, reply_p95_ms)"
#define ADDED_UP                                                                                   \
    " ON CONFLICT (workspace_id, day, agent_id, end_reason) DO UPDATE SET"                         \
    " calls = usage_days.calls + 1, seconds = usage_days.seconds + excluded.seconds,"              \
    " cost_usd4 = usage_days.cost_usd4 + excluded.cost_usd4,"                                      \
    " replies = usage_days.replies + excluded.replies,"                                            \
    " reply_p50_ms = usage_days.reply_p50_ms + excluded.reply_p50_ms,"                             \
    " reply_p95_ms = usage_days.reply_p95_ms + excluded.reply_p95_ms"

void store_usage_add_row(struct tx *tx, const char *call_id)
{
    EXEC(tx,
         COLUMNS_OF_DAY " SELECT workspace_id, ended_ms / 86400000, agent_id, end_reason, 1,"
                        " duration_s, cost_usd4, 0, 0, 0 FROM calls WHERE id = ?" ADDED_UP,
         TEXT(call_id));
}

void store_usage_add(struct tx *tx, const struct usage_call *call)
{
    const struct call_quality *quality = call->quality;
    bool has_reply =
        quality && !isnan(quality->voice_to_voice_ms.p50) && !isnan(quality->voice_to_voice_ms.p95);
    EXEC(tx, COLUMNS_OF_DAY " VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?, ?)" ADDED_UP,
         TEXT(call->workspace_id), NUMBER(call->ended_wall_ms / DAY_MS), TEXT(call->agent_id),
         TEXT(end_reason_names[call->reason]), NUMBER(call->seconds), NUMBER(call->cost_usd4),
         NUMBER(has_reply), NUMBER(has_reply ? llround(quality->voice_to_voice_ms.p50) : 0),
         NUMBER(has_reply ? llround(quality->voice_to_voice_ms.p95) : 0));
}

/* What means are made of, beside the day. */
struct sums {
    int64_t replies, p50_ms, p95_ms;
};

static void add(struct usage_day *day, struct sums *sums, struct cursor *row)
{
    day->calls += cursor_number(row, 1);
    day->seconds += cursor_number(row, 2);
    day->cost_usd4 += cursor_number(row, 3);
    sums->replies += cursor_number(row, 4);
    sums->p50_ms += cursor_number(row, 5);
    sums->p95_ms += cursor_number(row, 6);
}

static void set_means(struct usage_day *day, const struct sums *sums)
{
    double count = (double)sums->replies;
    day->reply_p50_ms = sums->replies ? (double)sums->p50_ms / count : NAN;
    day->reply_p95_ms = sums->replies ? (double)sums->p95_ms / count : NAN;
}

static const char *date_of(struct tx *tx, int64_t day)
{
    char text[CLOCK_ISO_SIZE];
    clock_iso(day * DAY_MS, text);
    text[DATE_LEN] = '\0';
    return arena_strdup(tx->arena, text);
}

static void read_days(struct tx *tx, const char *workspace_id, const char *agent_id, int64_t first,
                      struct usage *out)
{
    struct sums all = {0};
    size_t count = out->days.count;
    struct sums *sums = arena_new_n(tx->arena, struct sums, count);
    AUTO(cursor) row = QUERY(tx,
                             "SELECT day, SUM(calls), SUM(seconds), SUM(cost_usd4), SUM(replies),"
                             " SUM(reply_p50_ms), SUM(reply_p95_ms) FROM usage_days"
                             " WHERE workspace_id = ? AND day >= ? AND (? = '' OR agent_id = ?)"
                             " GROUP BY day",
                             TEXT(workspace_id), NUMBER(first), TEXT(agent_id), TEXT(agent_id));
    while (cursor_next(row)) {
        int64_t at = cursor_number(row, 0) - first;
        add(&out->total, &all, row);
        if (at < (int64_t)count)
            add(&out->days.items[at], &sums[at], row);
    }
    for (size_t i = 0; i < count; i++)
        set_means(&out->days.items[i], &sums[i]);
    set_means(&out->total, &all);
}

static void read_reasons(struct tx *tx, const char *workspace_id, const char *agent_id,
                         int64_t first, struct usage *out)
{
    AUTO(cursor) row = QUERY(tx,
                             "SELECT end_reason, SUM(calls) FROM usage_days WHERE workspace_id = ?"
                             " AND day >= ? AND (? = '' OR agent_id = ?)"
                             " GROUP BY end_reason ORDER BY 2 DESC, 1",
                             TEXT(workspace_id), NUMBER(first), TEXT(agent_id), TEXT(agent_id));
    while (cursor_next(row)) {
        struct usage_reason *reason = GROW(&out->reasons, tx->arena);
        *reason =
            (struct usage_reason){.reason = cursor_text(row, 0), .calls = cursor_number(row, 1)};
    }
}

enum err store_usage_read(struct tx *tx, const char *workspace_id, const char *agent_id,
                          int64_t days, struct usage *out)
{
    int64_t first = tx->now_ms / DAY_MS - days + 1;
    *out = (struct usage){.total = {.date = date_of(tx, first)}};
    for (int64_t i = 0; i < days; i++)
        *GROW(&out->days, tx->arena) = (struct usage_day){.date = date_of(tx, first + i)};
    read_days(tx, workspace_id, agent_id ? agent_id : "", first, out);
    read_reasons(tx, workspace_id, agent_id ? agent_id : "", first, out);
    return tx_result(tx);
}
