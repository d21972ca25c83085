/* See ledger.h and money.h. Thread: inside a job. */
#include "store/ledger.h"

#include "base/attr.h"
#include "store/call_row.h"
#include "store/money.h"
#include "store/tx.h"

enum err ledger_open(struct tx *tx, const char *workspace_id, bool may_wait,
                     int64_t *out_balance_usd4)
{
    AUTO(cursor) row =
        may_wait ? QUERY(tx, "SELECT balance_usd4 FROM workspaces WHERE id = ? FOR UPDATE",
                         TEXT(workspace_id))
                 : QUERY(tx,
                         "SELECT balance_usd4 FROM workspaces WHERE id = ?"
                         " FOR UPDATE SKIP LOCKED",
                         TEXT(workspace_id));
    if (!cursor_next(row))
        return may_wait || tx_has_failed(tx) ? tx_missing(tx) : ERR_AGAIN;
    *out_balance_usd4 = cursor_number(row, 0);
    return OK;
}

void ledger_write(struct tx *tx, const char *workspace_id, int64_t balance_usd4)
{
    EXEC(tx, "UPDATE workspaces SET balance_usd4 = ? WHERE id = ?", NUMBER(balance_usd4),
         TEXT(workspace_id));
}

static void note_embed(struct tx *tx, const struct call_row *call, int64_t day, int64_t usd4)
{
    if (usd4 == 0)
        return;
    EXEC(tx,
         "INSERT INTO embed_spend (agent_id, day, usd4) VALUES (?, ?, ?)"
         " ON CONFLICT (agent_id, day) DO UPDATE SET usd4 = embed_spend.usd4 + excluded.usd4",
         TEXT(call->agent_id), NUMBER(day), NUMBER(usd4));
}

/* What was used before midnight belongs to the day before. */
static int64_t of_yesterday(const struct tx *tx, const struct call_row *call, int64_t taken_usd4,
                            int64_t billed_ms)
{
    int64_t at_midnight_ms = billed_ms - tx->now_ms % LEDGER_DAY_MS;
    int64_t until_s = MAX(at_midnight_ms, (int64_t)0) / 1000;
    int64_t usd4 = money_cost_usd4(call->rate_usd4, until_s) - call->taken_usd4;
    return MIN(MAX(usd4, (int64_t)0), MAX(taken_usd4, (int64_t)0));
}

int64_t ledger_take(struct tx *tx, int64_t *balance_usd4, const struct call_row *call,
                    int64_t more_usd4, int64_t billed_ms)
{
    int64_t taken_usd4 = MIN(more_usd4, *balance_usd4);
    *balance_usd4 -= taken_usd4;
    if (call->source != CALL_SOURCE_EMBED)
        return taken_usd4;
    int64_t day = tx->now_ms / LEDGER_DAY_MS;
    int64_t before_usd4 = of_yesterday(tx, call, taken_usd4, billed_ms);
    note_embed(tx, call, day - 1, before_usd4);
    note_embed(tx, call, day, taken_usd4 - before_usd4);
    return taken_usd4;
}

int64_t ledger_embed_noted(struct tx *tx, const char *agent_id)
{
    return QUERY_NUMBER(tx, 0, "SELECT usd4 FROM embed_spend WHERE agent_id = ? AND day = ?",
                        TEXT(agent_id), NUMBER(tx->now_ms / LEDGER_DAY_MS));
}
