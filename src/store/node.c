/* Nodes: names, epochs, leases. Thread: inside a job. */
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
         " AND leased_by <> '' AND substr(leased_by, 1, length(?)) = ? AND leased_by <> ?",
         TEXT(any), TEXT(any), TEXT(mine));
    EXEC(tx,
         "UPDATE documents SET leased_until_ms = 0, leased_by = '' WHERE status = 'processing'"
         " AND substr(leased_by, 1, length(?)) = ? AND leased_by <> ?",
         TEXT(any), TEXT(any), TEXT(mine));
}

/* Above the epochs of what it owns as well: a row of nodes that was lost or spoilt must not make
 * the calls of the last run this run's own, which nobody would ever end. */
enum err store_node_start(struct tx *tx, const char *public_url)
{
    int64_t epoch = QUERY_NUMBER(
        tx, 0,
        "INSERT INTO nodes (id, epoch, public_url, lease_until_ms, started_ms)"
        " VALUES (?, 1 + COALESCE((SELECT MAX(owner_epoch) FROM calls"
        " WHERE owner = ? AND status <> 'ended'), 0), ?, ?, ?) ON CONFLICT (id) DO UPDATE SET"
        " epoch = CASE WHEN nodes.epoch + 1 > excluded.epoch THEN nodes.epoch + 1"
        " ELSE excluded.epoch END,"
        " public_url = excluded.public_url, lease_until_ms = excluded.lease_until_ms,"
        " started_ms = excluded.started_ms RETURNING epoch",
        TEXT(tx->store->node), TEXT(tx->store->node), TEXT(public_url),
        NUMBER(tx->now_ms + NODE_LEASE_MS), NUMBER(tx->now_ms));
    if (!epoch)
        return tx_missing(tx);
    atomic_store(&tx->store->epoch, epoch);
    take_over_own(tx);
    if (!tx->store->is_pg)
        EXEC(tx, "UPDATE nodes SET lease_until_ms = 0, epoch = epoch + 1 WHERE id <> ?",
             TEXT(tx->store->node));
    return tx_result(tx);
}

enum err store_node_renew(struct tx *tx)
{
    if (!EXEC(tx, "UPDATE nodes SET lease_until_ms = ? WHERE id = ? AND epoch = ?",
              NUMBER(tx->now_ms + NODE_LEASE_MS), TEXT(tx->store->node),
              NUMBER(atomic_load(&tx->store->epoch))))
        return tx_has_failed(tx) ? ERR_IO : ERR_DENIED;
    return OK;
}

enum err store_node_stop(struct tx *tx)
{
    EXEC(tx, "UPDATE nodes SET lease_until_ms = 0, epoch = epoch + 1 WHERE id = ? AND epoch = ?",
         TEXT(tx->store->node), NUMBER(atomic_load(&tx->store->epoch)));
    return tx_result(tx);
}

enum err store_node_others(struct tx *tx, struct node_sight out[NODES_SEEN_MAX], size_t *out_n)
{
    *out_n = 0;
    AUTO(cursor) row =
        QUERY(tx,
              "SELECT id, epoch, lease_until_ms FROM nodes WHERE id <> ? AND lease_until_ms > 0"
              " ORDER BY id LIMIT ?",
              TEXT(tx->store->node), NUMBER(NODES_SEEN_MAX));
    while (cursor_next(row)) {
        struct node_sight *seen = &out[(*out_n)++];
        snprintf(seen->id, sizeof(seen->id), "%s", cursor_text(row, 0));
        seen->epoch = cursor_number(row, 1);
        seen->lease_until_ms = cursor_number(row, 2);
    }
    return tx_result(tx);
}

void store_node_fence(struct tx *tx, const struct node_sight *seen)
{
    EXEC(tx,
         "UPDATE nodes SET lease_until_ms = 0, epoch = epoch + 1"
         " WHERE id = ? AND epoch = ? AND lease_until_ms = ?",
         TEXT(seen->id), NUMBER(seen->epoch), NUMBER(seen->lease_until_ms));
}

enum err store_node_owner(struct tx *tx, const char *call_id, char out_node[ID_SIZE * 2],
                          bool *out_is_here, bool *out_is_alive)
{
    AUTO(cursor) row = QUERY(tx,
                             "SELECT c.owner, c.owner_epoch, COALESCE(n.epoch, 0) FROM calls c"
                             " LEFT JOIN nodes n ON n.id = c.owner WHERE c.id = ?",
                             TEXT(call_id));
    if (!cursor_next(row))
        return tx_missing(tx);
    snprintf(out_node, ID_SIZE * 2, "%s", cursor_text(row, 0));
    int64_t epoch = cursor_number(row, 1);
    *out_is_here =
        strcmp(out_node, tx->store->node) == 0 && epoch == atomic_load(&tx->store->epoch);
    *out_is_alive = *out_node && epoch == cursor_number(row, 2);
    return OK;
}
