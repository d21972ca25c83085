/* Agents: settings in one JSON text, keys by hash and sealed. Thread: inside a job. */
#include "store/agent.h"

#include <string.h>

#include "base/ids.h"
#include "model/agent.h"
#include "store/internal.h"

#define SELECT_AGENT                                                                               \
    "SELECT a.id, a.workspace_id, a.key_sealed, a.public_sealed, a.settings, a.created_ms,"        \
    " a.updated_ms, COALESCE(s.calls, 0), COALESCE(s.seconds, 0), COALESCE(s.cost_usd4, 0),"       \
    " a.version, a.bytes, (SELECT COUNT(*) FROM calls c WHERE c.agent_id = a.id AND c.status = "   \
    "'active')"                                                                                    \
    " FROM agents a LEFT JOIN agent_stats s ON s.agent_id = a.id "

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
    size_t len;
    const char *settings = cursor_peek(row, 4, &len);
    enum err err = field_read(&agent_table, out, settings, len, tx->master_key, tx->arena);
    if (err)
        return fault_set(&tx->fault, ERR_INTERNAL, "an agent's settings do not read");
    out->id = cursor_text(row, 0);
    out->user_id = cursor_text(row, 1);
    out->api_key = tx_open(tx, keys[AGENT_KEY_SECRET].context, cursor_text(row, 2));
    out->public_key = tx_open(tx, keys[AGENT_KEY_PUBLIC].context, cursor_text(row, 3));
    out->created_wall_ms = cursor_number(row, 5);
    out->updated_wall_ms = cursor_number(row, 6);
    out->stats = (struct agent_stats){.total_calls = cursor_number(row, 7),
                                      .total_seconds = cursor_number(row, 8),
                                      .total_cost_usd4 = cursor_number(row, 9)};
    out->version = cursor_number(row, 10);
    out->bytes = cursor_number(row, 11);
    out->active_calls = cursor_number(row, 12);
    return OK;
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
    EXEC(tx,
         "INSERT INTO agents (id, workspace_id, key_sha, key_sealed, public_sha, public_sealed,"
         " created_ms, updated_ms, version, bytes, settings)"
         " VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?)",
         TEXT(id), TEXT(agent->user_id), TEXT(secret.sha), TEXT(secret.sealed), TEXT(public.sha),
         TEXT(public.sealed), NUMBER(tx->now_ms), NUMBER(tx->now_ms), NUMBER(agent->bytes),
         TEXT(settings));
    return tx_result(tx);
}

enum err store_agent_get(struct tx *tx, const char *workspace_id, const char *id, struct agent *out)
{
    AUTO(cursor) row = QUERY(tx, SELECT_AGENT "WHERE a.id = ? AND a.workspace_id = ?", TEXT(id),
                             TEXT(workspace_id));
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

enum err store_agent_ids(struct tx *tx, const char *workspace_id, struct text_list *out)
{
    *out = (struct text_list){0};
    AUTO(cursor) row =
        QUERY(tx, "SELECT id FROM agents WHERE workspace_id = ? ORDER BY updated_ms DESC, id",
              TEXT(workspace_id));
    while (cursor_next(row))
        *GROW(out, tx->arena) = cursor_text(row, 0);
    return tx_result(tx);
}

enum err store_agent_update(struct tx *tx, struct agent *agent)
{
    /* Rises also when two edits fall into one millisecond: the list's order depends on it. */
    int64_t now_ms = MAX(tx->now_ms, agent->updated_wall_ms + 1);
    const char *settings = field_store_text(&agent_table, agent, tx->master_key, tx->arena);
    int64_t bytes = (int64_t)strlen(settings);
    int64_t version = QUERY_NUMBER(tx, 0,
                                   "UPDATE agents SET settings = ?, bytes = ?, updated_ms = ?,"
                                   " version = version + 1 WHERE id = ? RETURNING version",
                                   TEXT(settings), NUMBER(bytes), NUMBER(now_ms), TEXT(agent->id));
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
