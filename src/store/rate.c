#include "store/rate.h"

#include "base/attr.h"
#include "store/columns.h"

enum {
    KEPT_MS = 10000, /* a node that is so late has missed something */
    DEAD_MS = 60000, /* of a node that does not tidy up any more; or the clock was set */
    TELLINGS_MAX = 640,
};
static const char seal_context[] = "rates.told";

static const struct field told_rows[] = {
    COLUMN_TEXT(struct rate_telling, node, "node"),
    COLUMN_NUMBER(struct rate_telling, at_ms, "at_ms"),
    COLUMN_TEXT(struct rate_telling, text, "told"), /* sealed */
};
static FIELD_TABLE(told_table, struct rate_telling, "rates", told_rows);

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
    const char *sql = columns_select(tx, &told_table, NULL,
                                     "FROM rates WHERE at_ms > ? AND node <> ?"
                                     " ORDER BY node, at_ms LIMIT ?");
    enum err err = columns_list(
        tx, &told_table, sql,
        VALUES(NUMBER(tx->now_ms - KEPT_MS), TEXT(store_node(tx->store)), NUMBER(TELLINGS_MAX)),
        out);
    for (size_t i = 0; i < out->count && !err; i++)
        out->items[i].text = tx_open(tx, seal_context, out->items[i].text);
    return err ? err : tx_result(tx);
}
