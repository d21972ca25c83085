/* The end of a call: settled, counted, told; and recovery of calls whose process has died.
 * Thread: inside a job. */
#include <string.h>

#include "store/call.h"
#include "store/call_count.h"
#include "store/call_row.h"
#include "store/columns.h"
#include "store/dead_letter.h"
#include "store/internal.h"
#include "store/ledger.h"
#include "store/money.h"
#include "store/usage.h"

/* Whole seconds: up, or for a limit down, so that a limit is met exactly. */
static int64_t billed_seconds(const struct call_row *row, const struct call_end *end)
{
    if (!row->user_joined_ms || !end_reasons[end->reason].is_billed)
        return 0;
    int64_t used_ms = MAX(end->billed_ms, (int64_t)0);
    return end->is_limit ? used_ms / 1000 : money_seconds_up(used_ms);
}

/* Debits the rest; returns the whole cost. */
static enum err settle(struct tx *tx, const struct call_row *row, int64_t seconds,
                       int64_t *out_cost_usd4)
{
    *out_cost_usd4 = 0;
    if (!row->user_joined_ms)
        return OK;
    int64_t balance_usd4;
    enum err err = ledger_open(tx, row->workspace_id, true, &balance_usd4);
    if (err)
        return err;
    int64_t more_usd4 = money_cost_usd4(row->rate_usd4, seconds) - row->taken_usd4;
    *out_cost_usd4 =
        row->taken_usd4 + ledger_take(tx, &balance_usd4, row, more_usd4, seconds * 1000);
    ledger_write(tx, row->workspace_id, balance_usd4);
    return OK;
}

static void add_stats(struct tx *tx, const struct call_row *row, int64_t seconds, int64_t cost_usd4)
{
    if (!row->user_joined_ms)
        return;
    EXEC(tx,
         "INSERT INTO agent_stats (agent_id, calls, seconds, cost_usd4) VALUES (?, 1, ?, ?)"
         " ON CONFLICT (agent_id) DO UPDATE SET calls = agent_stats.calls + 1,"
         " seconds = agent_stats.seconds + excluded.seconds,"
         " cost_usd4 = agent_stats.cost_usd4 + excluded.cost_usd4",
         TEXT(row->agent_id), NUMBER(seconds), NUMBER(cost_usd4));
}

/* What the steps of an end share. */
struct ending {
    struct call_row *row;
    const struct call_end *end;
    int64_t seconds, cost_usd4;
    enum event_type type;
    const void *data; /* of the event */
};

static void write_ended(struct tx *tx, const struct ending *ending)
{
    const struct call_end *end = ending->end;
    const char *quality = end->quality ? field_store_text(&call_quality_table, end->quality,
                                                          tx->master_key, tx->arena)
                                       : "";
    const struct row_update update = {
        .of = "calls",
        .set = COLUMNS({"status", TEXT(call_status_names[CALL_ENDED])},
                       {"ended_ms", NUMBER(end->ended_wall_ms)},
                       {"end_reason", TEXT(end_reason_names[end->reason])},
                       {"duration_s", NUMBER(ending->seconds)},
                       {"cost_usd4", NUMBER(ending->cost_usd4)}, {"quality", TEXT(quality)},
                       {"owner", TEXT("")}),
        .where = "id = ?",
        .values = VALUES(TEXT(ending->row->id)),
    };
    columns_update(tx, &update);
    call_runs_cancel(tx, ending->row->id, end->ended_wall_ms);
}

struct bare {
    const char *id;
    const struct call_quality *quality;
};

static enum err count_row(struct tx *tx, void *arg)
{
    const struct bare *bare = arg;
    call_count_ended(tx, bare->id);
    store_usage_add_row(tx, bare->id, bare->quality);
    return tx_result(tx);
}

/* For ends that are written with the least there is: what cannot be counted ends all the same.
 * quality: NULL: none. */
static void count_bare(struct tx *tx, const char *id, const struct call_quality *quality)
{
    struct bare bare = {id, quality};
    struct fault why = {0};
    if (tx_try(tx, count_row, &bare, &why) == OK || tx_has_failed(tx))
        return;
    struct dead_letter letter = {
        .kind = DEAD_CALL_END, .workspace_id = "", .subject_id = id, .reason = why.text};
    store_dead_letter_add(tx, &letter);
}

static void add_usage(struct tx *tx, const struct ending *ending)
{
    const struct usage_call call = {.workspace_id = ending->row->workspace_id,
                                    .agent_id = ending->row->agent_id,
                                    .reason = ending->end->reason,
                                    .ended_wall_ms = ending->end->ended_wall_ms,
                                    .seconds = ending->seconds,
                                    .cost_usd4 = ending->cost_usd4,
                                    .quality = ending->end->quality};
    store_usage_add(tx, &call);
}

static enum err settle_and_write(struct tx *tx, void *arg)
{
    struct ending *ending = arg;
    enum err err = settle(tx, ending->row, ending->seconds, &ending->cost_usd4);
    if (err)
        return err;
    write_ended(tx, ending);
    call_count_ended(tx, ending->row->id);
    add_stats(tx, ending->row, ending->seconds, ending->cost_usd4);
    add_usage(tx, ending);
    return tx_result(tx);
}

static enum err emit(struct tx *tx, void *arg)
{
    struct ending *ending = arg;
    return event_emit(tx, ending->row, ending->type, ending->data);
}

static void set_aside(struct tx *tx, const struct ending *ending, enum dead_letter_kind kind,
                      const struct fault *why)
{
    struct dead_letter letter = {.kind = kind,
                                 .workspace_id = ending->row->workspace_id,
                                 .subject_id = ending->row->id,
                                 .reason = why->text,
                                 .excerpt =
                                     kind == DEAD_EVENT ? event_type_names[ending->type] : NULL};
    store_dead_letter_add(tx, &letter);
}

/* ERR_IO: a transient fault. Anything else: it is set aside. */
static enum err tell(struct tx *tx, struct ending *ending, enum event_type type, const void *data)
{
    struct fault why = {0};
    ending->type = type;
    ending->data = data;
    enum err err = tx_try(tx, emit, ending, &why);
    if (err && err != ERR_IO)
        set_aside(tx, ending, DEAD_EVENT, &why);
    return err;
}

struct transcript {
    const struct call_row *row;
    struct event_ended *out;
};

static enum err read_transcript(struct tx *tx, void *arg)
{
    struct transcript *transcript = arg;
    struct event_ended *out = transcript->out;
    return call_turns_read_newest(tx, transcript->row, EVENT_TRANSCRIPT_MAX_BYTES, &out->transcript,
                                  &out->is_transcript_truncated);
}

static enum err tell_ended(struct tx *tx, struct ending *ending)
{
    struct event_ended data = {.reason = ending->end->reason,
                               .duration_s = ending->seconds,
                               .cost_usd4 = ending->cost_usd4,
                               .user_joined_wall_ms = ending->row->user_joined_ms,
                               .quality = ending->end->quality};
    struct transcript transcript = {.row = ending->row, .out = &data};
    struct fault why = {0};
    ending->type = EVENT_CALL_ENDED;
    enum err err = tx_try(tx, read_transcript, &transcript, &why);
    if (err && err != ERR_IO)
        set_aside(tx, ending, DEAD_EVENT, &why);
    if (!err)
        err = tell(tx, ending, EVENT_CALL_ENDED, &data);
    if (!err || err == ERR_IO)
        return err;
    data.transcript = (struct call_turn_list){0}; /* the end is told, whatever was said */
    data.is_transcript_truncated = true;
    data.quality = NULL;
    err = tell(tx, ending, EVENT_CALL_ENDED, &data);
    return err == ERR_IO ? err : tx_result(tx);
}

static enum err end_bare(struct tx *tx, struct ending *ending)
{
    static const struct fault why = {ERR_IO, "the database failed each time it was to be ended"};
    ending->cost_usd4 = ending->row->taken_usd4;
    write_ended(tx, ending);
    count_bare(tx, ending->row->id, ending->end->quality);
    set_aside(tx, ending, DEAD_CALL_END, &why);
    return tx_result(tx);
}

/* Ends a running call whoever owns it; `row` is locked. What of it cannot be written for good
 * (an event, the cost) is set aside: only a transient fault keeps a call from ending. */
static enum err call_row_end(struct tx *tx, struct call_row *row, const struct call_end *end)
{
    struct ending ending = {.row = row, .end = end, .seconds = billed_seconds(row, end)};
    struct fault why = {0};
    if (end->is_bare)
        return end_bare(tx, &ending);
    enum err err = tx_try(tx, settle_and_write, &ending, &why);
    if (err == ERR_IO)
        return err;
    if (err) { /* it ends all the same */
        set_aside(tx, &ending, DEAD_CALL_MONEY, &why);
        ending.cost_usd4 = row->taken_usd4;
        write_ended(tx, &ending);
        count_bare(tx, row->id, end->quality);
    }
    if (end->left_identity) {
        struct event_identity left = {.identity = end->left_identity};
        if (tell(tx, &ending, EVENT_CALL_USER_LEFT, &left) == ERR_IO)
            return ERR_IO;
    }
    return tell_ended(tx, &ending);
}

static enum err end_own(struct tx *tx, const char *id, const struct call_end *end,
                        struct call_row *row)
{
    enum err err = call_row_lock(tx, id, row);
    if (err || row->status == CALL_ENDED)
        return err;
    return row->is_ours ? call_row_end(tx, row, end) : ERR_DENIED;
}

enum err store_call_end(struct tx *tx, const char *id, const struct call_end *end, struct call *out)
{
    struct call_row row;
    enum err err = end_own(tx, id, end, &row);
    return err || !out ? err : store_call_get(tx, row.workspace_id, NULL, id, out);
}

enum err store_call_end_cost(struct tx *tx, const char *id, const struct call_end *end,
                             int64_t *out_duration_s, int64_t *out_cost_usd4)
{
    struct call_row row;
    enum err err = end_own(tx, id, end, &row);
    if (err)
        return err;
    AUTO(cursor) found =
        QUERY(tx, "SELECT duration_s, cost_usd4 FROM calls WHERE id = ?", TEXT(id));
    if (!cursor_next(found))
        return tx_missing(tx);
    *out_duration_s = cursor_number(found, 0);
    *out_cost_usd4 = cursor_number(found, 1);
    return OK;
}

/* Recovery. */

struct recovery {
    const char *id;
    bool is_bare;
};

static enum err end_for_dead(struct tx *tx, void *arg)
{
    const struct recovery *recovery = arg;
    struct call_row row;
    enum err err = call_row_lock(tx, recovery->id, &row);
    if (err || row.status == CALL_ENDED || row.is_ours)
        return err;
    struct call_end end = {.reason = END_AGENT_SHUTDOWN,
                           .ended_wall_ms = row.durable_ms,
                           .billed_ms = row.durable_ms - row.user_joined_ms,
                           .is_bare = recovery->is_bare};
    return call_row_end(tx, &row, &end);
}

/* A call that cannot even be read as one is ended by its row alone: nobody looks for it again. */
static void recover_one(struct tx *tx, struct recovery *recovery)
{
    struct fault why = {0};
    enum err err = tx_try(tx, end_for_dead, recovery, &why);
    if (!err || err == ERR_IO)
        return;
    struct dead_letter letter = {
        .kind = DEAD_CALL_END, .workspace_id = "", .subject_id = recovery->id, .reason = why.text};
    store_dead_letter_add(tx, &letter);
    EXEC(tx,
         "UPDATE calls SET status = 'ended', ended_ms = durable_ms, end_reason = ?, owner = ''"
         " WHERE id = ?",
         TEXT(end_reason_names[END_AGENT_SHUTDOWN]), TEXT(recovery->id));
    count_bare(tx, recovery->id, NULL);
}

/* SKIP LOCKED: of several nodes that look, each takes other calls. A process without an epoch
 * (a command-line program) owns nothing and recovers nothing of its own name. */
enum err store_call_recover(struct tx *tx, unsigned limit, bool is_bare, unsigned *out_n)
{
    struct text_list ids = {0};
    {
        AUTO(cursor) row = QUERY(
            tx,
            "SELECT id FROM calls WHERE status <> 'ended' AND ((owner = ? AND owner_epoch < ?)"
            " OR (owner <> ? AND NOT EXISTS (SELECT 1 FROM nodes n WHERE n.id = calls.owner"
            " AND n.epoch = calls.owner_epoch))) ORDER BY id LIMIT ? FOR UPDATE SKIP LOCKED",
            TEXT(tx->store->node), NUMBER(atomic_load(&tx->store->epoch)), TEXT(tx->store->node),
            NUMBER(limit));
        while (cursor_next(row))
            *GROW(&ids, tx->arena) = cursor_text(row, 0);
    }
    *out_n = (unsigned)ids.count;
    for (size_t i = 0; i < ids.count; i++) {
        struct recovery recovery = {ids.items[i], is_bare};
        recover_one(tx, &recovery);
    }
    return tx_result(tx);
}
