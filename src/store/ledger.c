/* See ledger.h and money.h. Thread: inside a job. */
#include "store/ledger.h"

#include "base/attr.h"
#include "store/call_row.h"
#include "store/tx.h"

enum { DAY_MS = 86400000 };

enum err ledger_open(struct tx *tx, const char *workspace_id, struct balance *out)
{
    AUTO(cursor)
    row = QUERY(tx,
                "SELECT balance_usd4, burn_usd4, as_of_ms, owed FROM workspaces"
                " WHERE id = ? FOR UPDATE",
                TEXT(workspace_id));
    if (!cursor_next(row))
        return tx_missing(tx);
    *out = (struct balance){.balance_usd4 = cursor_number(row, 0),
                            .burn_usd4 = cursor_number(row, 1),
                            .as_of_ms = cursor_number(row, 2),
                            .owed = cursor_number(row, 3)};
    return OK;
}

void ledger_write(struct tx *tx, const char *workspace_id, const struct balance *balance)
{
    EXEC(tx,
         "UPDATE workspaces SET balance_usd4 = ?, burn_usd4 = ?, as_of_ms = ?, owed = ?"
         " WHERE id = ?",
         NUMBER(balance->balance_usd4), NUMBER(balance->burn_usd4), NUMBER(balance->as_of_ms),
         NUMBER(balance->owed), TEXT(workspace_id));
}

/* Time goes only forward; what happened before as_of is brought up to it. */
static void advance(struct balance *balance, int64_t now_ms)
{
    if (balance->burn_usd4 == 0 && balance->owed == 0)
        balance->as_of_ms = now_ms; /* nothing runs: begin afresh */
    if (now_ms <= balance->as_of_ms)
        return;
    balance->owed += balance->burn_usd4 * (now_ms - balance->as_of_ms);
    balance->as_of_ms = now_ms;
}

void ledger_join(struct balance *balance, int64_t rate_usd4, int64_t joined_ms)
{
    advance(balance, joined_ms);
    balance->owed += rate_usd4 * (balance->as_of_ms - joined_ms);
    balance->burn_usd4 += rate_usd4;
}

int64_t ledger_take(struct balance *balance, int64_t more_usd4)
{
    int64_t taken_usd4 = MIN(more_usd4, balance->balance_usd4);
    balance->balance_usd4 -= taken_usd4;
    balance->owed -= taken_usd4 * MONEY_SCALE;
    return taken_usd4;
}

void ledger_leave(struct balance *balance, int64_t rate_usd4, int64_t joined_ms, int64_t taken_usd4,
                  int64_t now_ms)
{
    advance(balance, MAX(now_ms, joined_ms));
    balance->owed -= rate_usd4 * (balance->as_of_ms - joined_ms) - taken_usd4 * MONEY_SCALE;
    balance->burn_usd4 -= rate_usd4;
}

void ledger_note_embed(struct tx *tx, const struct call_row *call, int64_t usd4)
{
    if (call->source != CALL_SOURCE_EMBED || usd4 == 0)
        return;
    EXEC(tx,
         "INSERT INTO embed_spend (agent_id, day, usd4) VALUES (?, ?, ?)"
         " ON CONFLICT (agent_id, day) DO UPDATE SET usd4 = embed_spend.usd4 + excluded.usd4",
         TEXT(call->agent_id), NUMBER(tx->now_ms / DAY_MS), NUMBER(usd4));
}
