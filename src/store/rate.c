#include "store/rate.h"

#include "base/attr.h"
#include "store/tx.h"

enum {
    KEPT_MS = 10000, /* a node that is so late has missed something */
    DEAD_MS = 60000, /* of a node that does not tidy up any more; or the clock was set */
    TELLINGS_MAX = 640,
};
static const char seal_context[] = "rates.told";

static bool has_neighbours(struct tx *tx)
{
    return QUERY_NUMBER(tx, 0, "SELECT COUNT(*) FROM nodes WHERE id <> ? AND lease_until_ms > 0",
                        TEXT(store_node(tx->store))) > 0;
}

static void tell(struct tx *tx, const char *text)
{
    const char *node = store_node(tx->store);
    EXEC(tx, "DELETE FROM rates WHERE (node = ? AND at_ms <= ?) OR at_ms <= ? OR at_ms > ?",
         TEXT(node), NUMBER(tx->now_ms - KEPT_MS), NUMBER(tx->now_ms - DEAD_MS),
         NUMBER(tx->now_ms + DEAD_MS));
    EXEC(tx,
         "INSERT INTO rates (node, at_ms, told)"
         " SELECT ?, CASE WHEN MAX(at_ms) >= ? THEN MAX(at_ms) + 1 ELSE ? END, ?"
         " FROM rates WHERE node = ?",
         TEXT(node), NUMBER(tx->now_ms), NUMBER(tx->now_ms), TEXT(tx_seal(tx, seal_context, text)),
         TEXT(node));
}

enum err store_rate_exchange(struct tx *tx, const char *text, struct rate_telling_list *out)
{
    *out = (struct rate_telling_list){0};
    if (*text && has_neighbours(tx))
        tell(tx, text);
    AUTO(cursor) rows =
        QUERY(tx,
              "SELECT node, at_ms, told FROM rates WHERE at_ms > ? AND node <> ?"
              " ORDER BY node, at_ms LIMIT ?",
              NUMBER(tx->now_ms - KEPT_MS), TEXT(store_node(tx->store)), NUMBER(TELLINGS_MAX));
    while (cursor_next(rows)) {
        struct rate_telling *telling = GROW(out, tx->arena);
        telling->node = cursor_text(rows, 0);
        telling->at_ms = cursor_number(rows, 1);
        telling->text = tx_open(tx, seal_context, cursor_text(rows, 2));
    }
    return tx_result(tx);
}
