/* The running calls' money: debited every few seconds for all calls of a node in one transaction.
 * Rows are locked in the order of their ids, calls before workspaces, so that two nodes never wait
 * for each other. Thread: inside a job. */
#include <stdlib.h>
#include <string.h>

#include "store/call.h"
#include "store/call_row.h"
#include "store/ledger.h"
#include "store/tx.h"

enum { DAY_MS = 86400000 };

struct entry {
    struct call_checkpoint *point;
    struct call_row row;
};

static int by_call(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->point->call_id,
                  ((const struct entry *)b)->point->call_id);
}

static int by_workspace(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->row.workspace_id,
                  ((const struct entry *)b)->row.workspace_id);
}

/* Locks the calls; returns how many are ours, moved to the front. */
static size_t lock_all(struct tx *tx, struct entry *entries, size_t n)
{
    size_t ours = 0;
    for (size_t i = 0; i < n; i++) {
        struct entry entry = entries[i];
        entry.point->is_fenced = call_row_own(tx, entry.point->call_id, &entry.row) != OK;
        if (!entry.point->is_fenced)
            entries[ours++] = entry;
    }
    return ours;
}

static void take_one(struct tx *tx, struct balance *balance, struct entry *entry)
{
    struct call_row *row = &entry->row;
    int64_t until_ms = entry->point->billed_to_wall_ms;
    if (row->user_joined_ms && until_ms > row->user_joined_ms) {
        int64_t seconds = (until_ms - row->user_joined_ms) / 1000;
        int64_t more_usd4 = money_cost_usd4(row->rate_usd4, seconds) - row->taken_usd4;
        int64_t got_usd4 = more_usd4 > 0 ? ledger_take(balance, more_usd4) : 0;
        EXEC(tx, "UPDATE calls SET cost_usd4 = cost_usd4 + ?, durable_ms = ? WHERE id = ?",
             NUMBER(got_usd4), NUMBER(MAX(until_ms, row->durable_ms)), TEXT(row->id));
        ledger_note_embed(tx, row, got_usd4);
        return;
    }
    EXEC(tx, "UPDATE calls SET durable_ms = ? WHERE id = ?",
         NUMBER(MAX(row->durable_ms, until_ms ? until_ms : tx->now_ms)), TEXT(row->id));
}

static enum err take_workspace(struct tx *tx, struct entry *entries, size_t n)
{
    struct balance balance;
    enum err err = ledger_open(tx, entries[0].row.workspace_id, &balance);
    if (err)
        return err;
    for (size_t i = 0; i < n; i++)
        take_one(tx, &balance, &entries[i]);
    ledger_write(tx, entries[0].row.workspace_id, &balance);
    for (size_t i = 0; i < n; i++)
        entries[i].point->exhausted_wall_ms = money_exhausted_ms(&balance);
    return tx_result(tx);
}

enum err store_call_checkpoint(struct tx *tx, struct call_checkpoint *points, size_t n)
{
    struct entry *entries = arena_new_n(tx->arena, struct entry, n + 1);
    for (size_t i = 0; i < n; i++)
        entries[i].point = &points[i];
    qsort(entries, n, sizeof(*entries), by_call);
    n = lock_all(tx, entries, n);
    qsort(entries, n, sizeof(*entries), by_workspace);
    for (size_t first = 0, next; first < n; first = next) {
        for (next = first + 1; next < n && by_workspace(&entries[first], &entries[next]) == 0;)
            next++;
        enum err err = take_workspace(tx, &entries[first], next - first);
        if (err)
            return err;
    }
    for (size_t i = 0; i < n; i++)
        if (entries[i].row.source == CALL_SOURCE_EMBED &&
            store_embed_spent(tx, entries[i].row.agent_id, tx->now_ms,
                              &entries[i].point->embed_spent_usd4))
            return ERR_IO;
    return tx_result(tx);
}

/* What was taken on the day, and what its running calls have used beyond that. */
enum err store_embed_spent(struct tx *tx, const char *agent_id, int64_t at_wall_ms,
                           int64_t *out_usd4)
{
    int64_t spent_usd4 =
        QUERY_NUMBER(tx, 0, "SELECT usd4 FROM embed_spend WHERE agent_id = ? AND day = ?",
                     TEXT(agent_id), NUMBER(at_wall_ms / DAY_MS));
    AUTO(cursor)
    row = QUERY(tx,
                "SELECT user_joined_ms, rate_usd4, cost_usd4 FROM calls"
                " WHERE agent_id = ? AND source = 'embed' AND status <> 'ended'"
                " AND user_joined_ms > 0",
                TEXT(agent_id));
    while (cursor_next(row)) {
        int64_t used_ms = at_wall_ms - cursor_number(row, 0);
        int64_t cost_usd4 = money_cost_usd4(cursor_number(row, 1), MAX(used_ms, 0) / 1000);
        spent_usd4 += MAX(cost_usd4 - cursor_number(row, 2), 0);
    }
    if (tx_has_failed(tx))
        return ERR_IO;
    *out_usd4 = spent_usd4;
    return OK;
}
