/* Nodes: names, epochs, leases. Thread: inside a job. */
#include "store/node.h"

#include <stdio.h>
#include <string.h>

#include "store/columns.h"
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

bool node_may_lease(const struct tx *tx)
{
    return !tx->store->starts_later || atomic_load(&tx->store->epoch) != 0;
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
    static const char above_own[] = "1 + COALESCE((SELECT MAX(owner_epoch) FROM calls"
                                    " WHERE owner = ? AND status <> 'ended'), 0)";
    const struct row_insert insert = {
        .into = "nodes",
        .also = COLUMNS({"id", TEXT(tx->store->node)}, {"epoch", TEXT(tx->store->node), above_own},
                        {"public_url", TEXT(public_url)},
                        {"lease_until_ms", NUMBER(tx->now_ms + NODE_LEASE_MS)},
                        {"started_ms", NUMBER(tx->now_ms)}),
        .conflict = "ON CONFLICT (id) DO UPDATE SET"
                    " epoch = CASE WHEN nodes.epoch + 1 > excluded.epoch THEN nodes.epoch + 1"
                    " ELSE excluded.epoch END,"
                    " public_url = excluded.public_url, lease_until_ms = excluded.lease_until_ms,"
                    " started_ms = excluded.started_ms",
    };
    int64_t epoch = columns_insert_returning(tx, &insert, "epoch");
    if (!epoch)
        return tx_missing(tx);
    atomic_store(&tx->store->epoch, epoch);
    take_over_own(tx);
    tx_touch(tx, STORE_OUTBOX); /* from now on they may be leased */
    tx_touch(tx, STORE_DOCUMENTS);
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

struct node_row {
    const char *id, *public_url;
    int64_t epoch, lease_until_ms;
};
struct node_row_list LIST_OF(struct node_row);

static const struct field node_rows[] = {
    COLUMN_TEXT(struct node_row, id, "id"),
    COLUMN_NUMBER(struct node_row, epoch, "epoch"),
    COLUMN_NUMBER(struct node_row, lease_until_ms, "lease_until_ms"),
    COLUMN_TEXT(struct node_row, public_url, "public_url"),
};
static FIELD_TABLE(node_table, struct node_row, "nodes", node_rows);

enum err store_node_others(struct tx *tx, struct node_sight out[NODES_SEEN_MAX], size_t *out_n)
{
    struct node_row_list rows = {0};
    const char *sql =
        columns_select(tx, &node_table, NULL,
                       "FROM nodes WHERE id <> ? AND lease_until_ms > 0 ORDER BY id LIMIT ?");
    enum err err = columns_list(tx, &node_table, sql,
                                VALUES(TEXT(tx->store->node), NUMBER(NODES_SEEN_MAX)), &rows);
    for (*out_n = 0; *out_n < rows.count; (*out_n)++) {
        const struct node_row *row = &rows.items[*out_n];
        struct node_sight *seen = &out[*out_n];
        *seen = (struct node_sight){.epoch = row->epoch, .lease_until_ms = row->lease_until_ms};
        snprintf(seen->id, sizeof(seen->id), "%s", row->id);
        snprintf(seen->public_url, sizeof(seen->public_url), "%s", row->public_url);
    }
    return err;
}

void store_node_fence(struct tx *tx, const struct node_sight *seen)
{
    EXEC(tx,
         "UPDATE nodes SET lease_until_ms = 0, epoch = epoch + 1"
         " WHERE id = ? AND epoch = ? AND lease_until_ms = ?",
         TEXT(seen->id), NUMBER(seen->epoch), NUMBER(seen->lease_until_ms));
}

struct owner_row {
    const char *node;
    int64_t epoch, newest_epoch; /* as the call says, as the node is now */
};

static const struct field owner_rows[] = {
    COLUMN_TEXT(struct owner_row, node, "c.owner"),
    COLUMN_NUMBER(struct owner_row, epoch, "c.owner_epoch"),
    COLUMN_NUMBER(struct owner_row, newest_epoch, "COALESCE(n.epoch, 0)"),
};
static FIELD_TABLE(owner_table, struct owner_row, "calls", owner_rows);

enum err store_node_owner(struct tx *tx, const char *call_id, char out_node[ID_SIZE * 2],
                          bool *out_is_here, bool *out_is_alive)
{
    struct owner_row owner;
    AUTO(cursor) row =
        QUERY(tx,
              columns_select(tx, &owner_table, NULL,
                             "FROM calls c LEFT JOIN nodes n ON n.id = c.owner WHERE c.id = ?"),
              TEXT(call_id));
    enum err err = cursor_next(row) ? columns_read(tx, row, &owner_table, &owner) : tx_missing(tx);
    if (err)
        return err;
    snprintf(out_node, ID_SIZE * 2, "%s", owner.node);
    *out_is_here =
        strcmp(owner.node, tx->store->node) == 0 && owner.epoch == atomic_load(&tx->store->epoch);
    *out_is_alive = *owner.node && owner.epoch == owner.newest_epoch;
    return OK;
}
