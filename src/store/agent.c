/* Agents: settings in one JSON text, keys by hash and sealed. Thread: inside a job. */
#include "store/agent.h"

#include <string.h>

#include "base/ids.h"
#include "model/agent.h"
#include "store/columns.h"
#include "store/internal.h"

/* What stands beside the columns of agent_table, in the order of enum also. */
#define ALSO                                                                                       \
    "settings, key_sealed, public_sealed, COALESCE(calls, 0), COALESCE(seconds, 0),"               \
    " COALESCE(cost_usd4, 0), (SELECT COUNT(*) FROM calls c WHERE c.agent_id = agents.id"          \
    " AND c.status = 'active')"
enum also { SETTINGS, KEY, PUBLIC_KEY, CALLS, SECONDS, COST_USD4, ACTIVE };

/* Where a kind of key is kept. */
static const struct {
    const char *prefix, *context, *update;
} keys[] = {
    [AGENT_KEY_SECRET] = {"ak_", "agent.apiKey",
                          "UPDATE agents SET key_sha = ?, key_sealed = ? WHERE id = ?"},
    [AGENT_KEY_PUBLIC] = {"pk_", "agent.publicKey",
                          "UPDATE agents SET public_sha = ?, public_sealed = ? WHERE id = ?"},
};

static enum err read_row(struct tx *tx, struct cursor *row, struct agent *out)
{
    unsigned also = columns_count(&agent_table);
    size_t len;
    const char *settings = cursor_peek(row, also + SETTINGS, &len);
    enum err err = field_read(&agent_table, out, settings, len, tx->master_key, tx->arena);
    if (err)
        return fault_set(&tx->fault, ERR_INTERNAL, "an agent's settings do not read");
    out->api_key = tx_open(tx, keys[AGENT_KEY_SECRET].context, cursor_text(row, also + KEY));
    out->public_key =
        tx_open(tx, keys[AGENT_KEY_PUBLIC].context, cursor_text(row, also + PUBLIC_KEY));
    out->stats = (struct agent_stats){.total_calls = cursor_number(row, also + CALLS),
                                      .total_seconds = cursor_number(row, also + SECONDS),
                                      .total_cost_usd4 = cursor_number(row, also + COST_USD4)};
    out->active_calls = cursor_number(row, also + ACTIVE);
    return columns_read(tx, row, &agent_table, out);
}

struct fresh_key {
    const char *key, *sealed;
    char sha[SHA256_HEX];
};

static struct fresh_key make_key(struct tx *tx, enum agent_key which)
{
    char key[KEY_SIZE];
    struct fresh_key fresh = {0};
    key_new(keys[which].prefix, key);
    fresh.key = arena_strdup(tx->arena, key);
    fresh.sealed = tx_seal(tx, keys[which].context, key);
    crypto_sha256_hex(key, strlen(key), fresh.sha);
    return fresh;
}

enum err store_agent_insert(struct tx *tx, struct agent *agent)
{
    char id[ID_SIZE];
    id_new("ua_", id);
    struct fresh_key secret = make_key(tx, AGENT_KEY_SECRET);
    struct fresh_key public = make_key(tx, AGENT_KEY_PUBLIC);
    agent->id = arena_strdup(tx->arena, id);
    agent->api_key = secret.key;
    agent->public_key = public.key;
    agent->created_wall_ms = agent->updated_wall_ms = tx->now_ms;
    const char *settings = field_store_text(&agent_table, agent, tx->master_key, tx->arena);
    agent->version = 1;
    agent->bytes = (int64_t)strlen(settings);
    const struct column *also =
        COLUMNS({"key_sha", TEXT(secret.sha)}, {"key_sealed", TEXT(secret.sealed)},
                {"public_sha", TEXT(public.sha)}, {"public_sealed", TEXT(public.sealed)},
                {"settings", TEXT(settings)}, {"name", TEXT(agent->name)});
    columns_insert(tx, &(struct row_insert){
                           .into = "agents", .table = &agent_table, .object = agent, .also = also});
    return tx_result(tx);
}

enum err store_agent_get(struct tx *tx, const char *workspace_id, const char *id, struct agent *out)
{
    const char *sql = columns_select(tx, &agent_table, ALSO,
                                     "FROM agents LEFT JOIN agent_stats ON agent_id = id"
                                     " WHERE id = ? AND workspace_id = ?");
    AUTO(cursor) row = QUERY(tx, sql, TEXT(id), TEXT(workspace_id));
    return cursor_next(row) ? read_row(tx, row, out) : tx_missing(tx);
}

enum err store_agent_lock(struct tx *tx, const char *workspace_id, const char *id,
                          struct agent *out)
{
    AUTO(cursor) row =
        QUERY(tx, "SELECT id FROM agents WHERE id = ? AND workspace_id = ? FOR UPDATE", TEXT(id),
              TEXT(workspace_id));
    return cursor_next(row) ? store_agent_get(tx, workspace_id, id, out) : tx_missing(tx);
}

enum err store_agent_update(struct tx *tx, struct agent *agent)
{
    /* Rises also when two edits fall into one millisecond: the list's order depends on it. */
    int64_t now_ms = MAX(tx->now_ms, agent->updated_wall_ms + 1);
    const char *settings = field_store_text(&agent_table, agent, tx->master_key, tx->arena);
    int64_t bytes = (int64_t)strlen(settings);
    /* Calls share what they began with by id and version (call/snapshot.h): settings never change
     * without their version. */
    int64_t version = QUERY_NUMBER(
        tx, 0,
        "UPDATE agents SET settings = ?, name = ?, bytes = ?, updated_ms = ?,"
        " version = version + 1 WHERE id = ? RETURNING version",
        TEXT(settings), TEXT(agent->name), NUMBER(bytes), NUMBER(now_ms), TEXT(agent->id));
    if (!version)
        return tx_missing(tx);
    agent->updated_wall_ms = now_ms;
    agent->version = version;
    agent->bytes = bytes;
    if (QUERY_NUMBER(tx, 0,
                     "SELECT COUNT(*) FROM calls WHERE agent_id = ? AND status = 'active'"
                     " AND source = 'embed'",
                     TEXT(agent->id)))
        tx_touch(tx, STORE_BALANCE); /* what they may spend on a day may have changed */
    return tx_result(tx);
}

enum err store_agent_remove(struct tx *tx, const char *workspace_id, const char *id)
{
    if (!EXEC(tx, "DELETE FROM agents WHERE id = ? AND workspace_id = ?", TEXT(id),
              TEXT(workspace_id)))
        return tx_missing(tx);
    EXEC(tx, "DELETE FROM tools WHERE agent_id = ?", TEXT(id));
    EXEC(tx, "DELETE FROM agent_stats WHERE agent_id = ?", TEXT(id));
    tx_touch(tx, STORE_KEYS);
    return tx_result(tx);
}

enum err store_agent_rotate(struct tx *tx, struct agent *agent, enum agent_key which)
{
    struct fresh_key fresh = make_key(tx, which);
    if (!EXEC(tx, keys[which].update, TEXT(fresh.sha), TEXT(fresh.sealed), TEXT(agent->id)))
        return tx_missing(tx);
    *(which == AGENT_KEY_SECRET ? &agent->api_key : &agent->public_key) = fresh.key;
    tx_touch(tx, STORE_KEYS);
    return OK;
}
