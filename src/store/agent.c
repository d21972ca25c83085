/* Agents: settings in one JSON text, keys by hash and sealed. Thread: inside a job. */
#include "store/agent.h"

#include <string.h>

#include "base/ids.h"
#include "model/agent.h"
#include "store/internal.h"

#define SELECT_AGENT                                                                               \
    "SELECT a.id, a.workspace_id, a.key_sealed, a.public_sealed, a.settings, a.created_ms,"        \
    " a.updated_ms, COALESCE(s.calls, 0), COALESCE(s.seconds, 0), COALESCE(s.cost_usd4, 0),"       \
    " (SELECT COUNT(*) FROM calls c WHERE c.agent_id = a.id AND c.status = 'active')"              \
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
    out->active_calls = cursor_number(row, 10);
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
    EXEC(tx,
         "INSERT INTO agents (id, workspace_id, key_sha, key_sealed, public_sha, public_sealed,"
         " settings, created_ms, updated_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
         TEXT(id), TEXT(agent->user_id), TEXT(secret.sha), TEXT(secret.sealed), TEXT(public.sha),
         TEXT(public.sealed),
         TEXT(field_store_text(&agent_table, agent, tx->master_key, tx->arena)), NUMBER(tx->now_ms),
         NUMBER(tx->now_ms));
    return tx_result(tx);
}

enum err store_agent_get(struct tx *tx, const char *workspace_id, const char *id, struct agent *out)
{
    AUTO(cursor)
    row = QUERY(tx, SELECT_AGENT "WHERE a.id = ? AND a.workspace_id = ?", TEXT(id),
                TEXT(workspace_id));
    return cursor_next(row) ? read_row(tx, row, out) : tx_missing(tx);
}

enum err store_agent_lock(struct tx *tx, const char *workspace_id, const char *id,
                          struct agent *out)
{
    AUTO(cursor)
    row = QUERY(tx, "SELECT id FROM agents WHERE id = ? AND workspace_id = ? FOR UPDATE", TEXT(id),
                TEXT(workspace_id));
    return cursor_next(row) ? store_agent_get(tx, workspace_id, id, out) : tx_missing(tx);
}

enum err store_agent_list(struct tx *tx, const char *workspace_id, const char *only_id,
                          struct agent_list *out)
{
    *out = (struct agent_list){0};
    AUTO(cursor)
    row = only_id
              ? QUERY(tx, SELECT_AGENT "WHERE a.workspace_id = ? AND a.id = ?", TEXT(workspace_id),
                      TEXT(only_id))
              : QUERY(tx, SELECT_AGENT "WHERE a.workspace_id = ? ORDER BY a.updated_ms DESC, a.id",
                      TEXT(workspace_id));
    while (cursor_next(row)) {
        enum err err = read_row(tx, row, GROW(out, tx->arena));
        if (err)
            return err;
    }
    return tx_result(tx);
}

enum err store_agent_update(struct tx *tx, struct agent *agent)
{
    /* Rises also when two edits fall into one millisecond: the list's order depends on it. */
    int64_t now_ms = MAX(tx->now_ms, agent->updated_wall_ms + 1);
    int64_t changed = EXEC(tx, "UPDATE agents SET settings = ?, updated_ms = ? WHERE id = ?",
                           TEXT(field_store_text(&agent_table, agent, tx->master_key, tx->arena)),
                           NUMBER(now_ms), TEXT(agent->id));
    if (!changed)
        return tx_missing(tx);
    agent->updated_wall_ms = now_ms;
    return OK;
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

static bool list_drop(struct text_list *list, const char *id)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], id) != 0)
            list->items[kept++] = list->items[i];
    bool is_changed = kept < list->count;
    list->count = kept;
    return is_changed;
}

static enum err forget_in(struct tx *tx, const char *workspace_id, const char *agent_id,
                          enum agent_mention where, const char *id)
{
    struct agent agent;
    enum err err = store_agent_get(tx, workspace_id, agent_id, &agent);
    if (err)
        return err;
    if (list_drop(where == AGENT_TOOL_IDS ? &agent.tool_ids : &agent.document_ids, id))
        EXEC(tx, "UPDATE agents SET settings = ? WHERE id = ?",
             TEXT(field_store_text(&agent_table, &agent, tx->master_key, tx->arena)),
             TEXT(agent.id));
    return tx_result(tx);
}

/* An id is long and random: an agent whose settings hold it as text is one that may mention it. */
enum err store_agent_forget(struct tx *tx, const char *workspace_id, enum agent_mention where,
                            const char *id)
{
    struct text_list ids = {0};
    {
        AUTO(cursor)
        row = QUERY(tx,
                    "SELECT id FROM agents WHERE workspace_id = ?"
                    " AND settings LIKE '%' || ? || '%' ORDER BY id FOR UPDATE",
                    TEXT(workspace_id), TEXT(id));
        while (cursor_next(row))
            *GROW(&ids, tx->arena) = cursor_text(row, 0);
    }
    for (size_t i = 0; i < ids.count; i++) {
        enum err err = forget_in(tx, workspace_id, ids.items[i], where, id);
        if (err)
            return err;
    }
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
