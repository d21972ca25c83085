/* The running calls' money: debited every few seconds for all calls of a node in one transaction.
 * Rows are locked in the order of their ids, calls before workspaces, so that two nodes never wait
 * for each other. Thread: inside a job. */
#include <stdlib.h>
#include <string.h>

#include "store/call.h"
#include "store/call_row.h"
#include "store/funds.h"
#include "store/ledger.h"
#include "store/tx.h"

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
    const struct call_row *x = &((const struct entry *)a)->row;
    const struct call_row *y = &((const struct entry *)b)->row;
    int order = strcmp(x->workspace_id, y->workspace_id);
    return order ? order : strcmp(x->agent_id, y->agent_id);
}

/* Locks the calls; returns how many are ours and to be had, moved to the front. */
static size_t lock_all(struct tx *tx, struct entry *entries, size_t n, bool may_wait)
{
    size_t ours = 0;
    for (size_t i = 0; i < n; i++) {
        struct entry entry = entries[i];
        const char *id = entry.point->call_id;
        enum err err =
            may_wait ? call_row_own(tx, id, &entry.row) : call_row_own_now(tx, id, &entry.row);
        entry.point->is_passed = err == ERR_AGAIN;
        entry.point->is_fenced = err && err != ERR_AGAIN;
        if (!err)
            entries[ours++] = entry;
    }
    return ours;
}

static void take_one(struct tx *tx, int64_t *balance_usd4, struct entry *entry)
{
    const struct call_row *row = &entry->row;
    const struct call_checkpoint *point = entry->point;
    if (!row->user_joined_ms)
        return;
    int64_t more_usd4 = money_cost_usd4(row->rate_usd4, point->billed_ms / 1000) - row->taken_usd4;
    int64_t got_usd4 =
        more_usd4 > 0 ? ledger_take(tx, balance_usd4, row, more_usd4, point->billed_ms) : 0;
    int64_t since_us = MAX(tx->begun_us - point->at_us, (int64_t)0);
    EXEC(tx,
         "UPDATE calls SET cost_usd4 = cost_usd4 + ?, durable_ms = ?, seen_ms = ?, seen_at_ms = ?"
         " WHERE id = ?",
         NUMBER(got_usd4), NUMBER(MAX(row->user_joined_ms + point->billed_ms, row->durable_ms)),
         NUMBER(point->lasted_ms + since_us / 1000), NUMBER(tx->now_ms), TEXT(row->id));
}

static enum err take_workspace(struct tx *tx, struct entry *entries, size_t n, bool may_wait)
{
    const char *workspace_id = entries[0].row.workspace_id;
    int64_t balance_usd4;
    struct funds funds;
    enum err err = ledger_open(tx, workspace_id, may_wait, &balance_usd4);
    for (size_t i = 0; i < n; i++)
        entries[i].point->is_passed = err == ERR_AGAIN;
    if (err)
        return err == ERR_AGAIN ? OK : err;
    for (size_t i = 0; i < n; i++)
        take_one(tx, &balance_usd4, &entries[i]);
    ledger_write(tx, workspace_id, balance_usd4);
    err = funds_read(tx, workspace_id, balance_usd4, &funds);
    for (size_t i = 0; i < n && !err; i++)
        entries[i].point->exhausted_us =
            funds_exhausted_us(tx, &funds, &entries[i].row, entries[i].point->embed_limit_usd4);
    return err ? err : tx_result(tx);
}

enum err store_call_checkpoint(struct tx *tx, struct call_checkpoint *points, size_t n,
                               bool may_wait)
{
    struct entry *entries = arena_new_n(tx->arena, struct entry, n + 1);
    for (size_t i = 0; i < n; i++)
        entries[i].point = &points[i];
    qsort(entries, n, sizeof(*entries), by_call);
    n = lock_all(tx, entries, n, may_wait);
    qsort(entries, n, sizeof(*entries), by_workspace);
    for (size_t first = 0, next; first < n; first = next) {
        const char *workspace_id = entries[first].row.workspace_id;
        for (next = first + 1;
             next < n && strcmp(entries[next].row.workspace_id, workspace_id) == 0;)
            next++;
        enum err err = take_workspace(tx, &entries[first], next - first, may_wait);
        if (err)
            return err;
    }
    return tx_result(tx);
}
