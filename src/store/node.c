/* Nodes: names, epochs, leases by the database's clock. Thread: inside a job. */
#include "store/node.h"

#include <stdio.h>
#include <string.h>

#include "store/internal.h"

const char *node_lease_prefix(struct tx *tx)
{
    return arena_printf(tx->arena, "%s:", tx->store->node);
}

const char *node_lease(struct tx *tx)
{
    return arena_printf(tx->arena, "%s:%lld", tx->store->node,
                        (long long)atomic_load(&tx->store->epoch));
}

/* What this process's predecessor held under its name is taken up at once, not when its leases run
 * out: deliveries under way and documents being read. */
static void take_over_own(struct tx *tx)
{
    const char *mine = node_lease(tx), *any = node_lease_prefix(tx);
    EXEC(tx,
         "UPDATE deliveries SET due_ms = was_due_ms, leased_by = '' WHERE state = 'waiting'"
         " AND substr(leased_by, 1, length(?)) = ? AND leased_by <> ?",
         TEXT(any), TEXT(any), TEXT(mine));
    EXEC(tx,
         "UPDATE documents SET leased_until_ms = 0, leased_by = '' WHERE status = 'processing'"
         " AND substr(leased_by, 1, length(?)) = ? AND leased_by <> ?",
         TEXT(any), TEXT(any), TEXT(mine));
}

enum err store_node_start(struct tx *tx, const char *public_url)
{
    int64_t epoch = QUERY_NUMBER(
        tx, 0,
        "INSERT INTO nodes (id, epoch, public_url, lease_until_ms, started_ms)"
        " VALUES (?, 1, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET epoch = nodes.epoch + 1,"
        " public_url = excluded.public_url, lease_until_ms = excluded.lease_until_ms,"
        " started_ms = excluded.started_ms RETURNING epoch",
        TEXT(tx->store->node), TEXT(public_url), NUMBER(tx->now_ms + NODE_LEASE_MS),
        NUMBER(tx->now_ms));
    if (!epoch)
        return tx_missing(tx);
    atomic_store(&tx->store->epoch, epoch);
    take_over_own(tx);
    return tx_result(tx);
}

enum err store_node_renew(struct tx *tx, int64_t *out_until_ms)
{
    int64_t until_ms = tx->now_ms + NODE_LEASE_MS;
    if (!EXEC(tx,
              "UPDATE nodes SET lease_until_ms = ?"
              " WHERE id = ? AND epoch = ? AND lease_until_ms > ?",
              NUMBER(until_ms), TEXT(tx->store->node), NUMBER(atomic_load(&tx->store->epoch)),
              NUMBER(tx->now_ms)))
        return tx_has_failed(tx) ? ERR_IO : ERR_DENIED;
    *out_until_ms = until_ms;
    return OK;
}

enum err store_node_stop(struct tx *tx)
{
    EXEC(tx, "UPDATE nodes SET lease_until_ms = ? WHERE id = ? AND epoch = ?", NUMBER(tx->now_ms),
         TEXT(tx->store->node), NUMBER(atomic_load(&tx->store->epoch)));
    return tx_result(tx);
}

enum err store_node_owner(struct tx *tx, const char *call_id, char out_node[ID_SIZE * 2],
                          bool *out_is_here, bool *out_is_alive)
{
    AUTO(cursor)
    row = QUERY(tx,
                "SELECT c.owner, c.owner_epoch, COALESCE(n.epoch, 0),"
                " COALESCE(n.lease_until_ms, 0) FROM calls c"
                " LEFT JOIN nodes n ON n.id = c.owner WHERE c.id = ?",
                TEXT(call_id));
    if (!cursor_next(row))
        return tx_missing(tx);
    snprintf(out_node, ID_SIZE * 2, "%s", cursor_text(row, 0));
    int64_t epoch = cursor_number(row, 1);
    *out_is_here =
        strcmp(out_node, tx->store->node) == 0 && epoch == atomic_load(&tx->store->epoch);
    *out_is_alive =
        *out_node && epoch == cursor_number(row, 2) && cursor_number(row, 3) > tx->now_ms;
    return OK;
}
