/* Keys, found by their SHA-256. A key has 190 bits from the system's random source, so a plain hash
 * is enough, and looking it up by index tells nothing about it. Thread: inside a job. */
#include "store/api_key.h"

#include <stdio.h>
#include <string.h>

#include "base/ids.h"
#include "model/workspace.h"
#include "store/columns.h"
#include "store/internal.h"
#include "store/member.h"
#include "store/session.h"

enum { TOUCH_LEAST_MS = 60000, REVOKED_KEPT = 100 };

static const char find_workspace_key[] =
    "SELECT id, workspace_id, name FROM api_keys WHERE key_sha = ? AND revoked_ms = 0";
static const char find_agent_key[] = "SELECT id, workspace_id, '' FROM agents WHERE key_sha = ?";
static const char find_public_key[] =
    "SELECT id, workspace_id, '' FROM agents WHERE public_sha = ?";

/* Whether a session is still good: store/session.h. */
static const char find_session[] =
    "SELECT m.id, s.workspace_id, m.name, m.role, s.id FROM sessions s JOIN members m"
    " ON m.id = s.member_id WHERE s.key_sha = ? AND s.used_ms > ? AND s.created_ms > ?";

/* Kinds of keys: their prefix says where they are looked up. */
static const struct {
    const char *prefix;
    enum key_kind kind;
    const char *sql;
} kinds[] = {
    {"sk_", KEY_WORKSPACE, find_workspace_key},
    {"ak_", KEY_AGENT, find_agent_key},
    {"pk_", KEY_PUBLISHABLE, find_public_key},
};

static enum err find_by_session(struct tx *tx, const char *sha, struct principal *out)
{
    AUTO(cursor) row = QUERY(tx, find_session, TEXT(sha), NUMBER(tx->now_ms - SESSION_IDLE_MS),
                             NUMBER(tx->now_ms - SESSION_MAX_MS));
    if (!cursor_next(row))
        return tx_missing(tx);
    *out = (struct principal){.kind = KEY_SESSION};
    snprintf(out->key_id, sizeof(out->key_id), "%s", cursor_text(row, 0));
    snprintf(out->workspace_id, sizeof(out->workspace_id), "%s", cursor_text(row, 1));
    snprintf(out->key_name, sizeof(out->key_name), "%s", cursor_text(row, 2));
    snprintf(out->session_id, sizeof(out->session_id), "%s", cursor_text(row, 4));
    return member_role_read(cursor_text(row, 3), &out->role);
}

enum err store_key_find(struct tx *tx, const char *key, struct principal *out)
{
    size_t i = 0;
    char sha[SHA256_HEX];
    crypto_sha256_hex(key, strlen(key), sha);
    if (strncmp(key, SESSION_PREFIX, 3) == 0)
        return find_by_session(tx, sha, out);
    while (i < ARRAY_LEN(kinds) && strncmp(key, kinds[i].prefix, 3) != 0)
        i++;
    if (i == ARRAY_LEN(kinds))
        return ERR_NOT_FOUND;
    AUTO(cursor) row = QUERY(tx, kinds[i].sql, TEXT(sha));
    if (!cursor_next(row))
        return tx_missing(tx);
    *out = (struct principal){.kind = kinds[i].kind};
    bool is_agent = out->kind != KEY_WORKSPACE;
    snprintf(is_agent ? out->agent_id : out->key_id, sizeof(out->key_id), "%s",
             cursor_text(row, 0));
    snprintf(out->workspace_id, sizeof(out->workspace_id), "%s", cursor_text(row, 1));
    snprintf(out->key_name, sizeof(out->key_name), "%s", cursor_text(row, 2));
    return OK;
}

enum err store_key_touch(struct tx *tx, const char *key_id)
{
    EXEC(tx, "UPDATE api_keys SET last_used_ms = ? WHERE id = ? AND last_used_ms <= ?",
         NUMBER(tx->now_ms), TEXT(key_id), NUMBER(tx->now_ms - TOUCH_LEAST_MS));
    return tx_result(tx);
}

enum err store_key_create(struct tx *tx, const char *workspace_id, const char *name,
                          struct api_key *out)
{
    char id[ID_SIZE], key[KEY_SIZE], sha[SHA256_HEX];
    id_new("key_", id);
    key_new("sk_", key);
    crypto_sha256_hex(key, strlen(key), sha);
    int64_t changed = EXEC(tx,
                           "INSERT INTO api_keys (id, workspace_id, name, key_sha, created_ms,"
                           " last_used_ms, revoked_ms)"
                           " SELECT ?, id, ?, ?, ?, 0, 0 FROM workspaces WHERE id = ?",
                           TEXT(id), TEXT(name), TEXT(sha), NUMBER(tx->now_ms), TEXT(workspace_id));
    if (!changed)
        return tx_missing(tx);
    *out = (struct api_key){.id = arena_strdup(tx->arena, id),
                            .workspace_id = arena_strdup(tx->arena, workspace_id),
                            .name = arena_strdup(tx->arena, name),
                            .key = arena_strdup(tx->arena, key),
                            .created_wall_ms = tx->now_ms};
    return OK;
}

enum err store_key_list(struct tx *tx, const char *workspace_id, struct api_key_list *out)
{
    *out = (struct api_key_list){0};
    const char *sql = columns_select(tx, &api_key_table, "revoked_ms",
                                     "FROM api_keys WHERE ? = 'all' OR workspace_id = ?"
                                     " ORDER BY created_ms DESC, id DESC");
    AUTO(cursor) row =
        QUERY(tx, sql, TEXT(workspace_id ? "one" : "all"), TEXT(workspace_id ? workspace_id : ""));
    while (cursor_next(row)) {
        struct api_key *key = GROW(out, tx->arena);
        key->key = "";
        key->is_revoked = cursor_number(row, columns_count(&api_key_table)) != 0;
        enum err err = columns_read(tx, row, &api_key_table, key);
        if (err)
            return err;
    }
    return tx_result(tx);
}

/* Keys may be made and revoked without end: their rows may not. */
static void drop_oldest(struct tx *tx, const char *key_id)
{
    EXEC(tx,
         "DELETE FROM api_keys WHERE revoked_ms > 0 AND id NOT IN (SELECT k.id FROM api_keys k"
         " WHERE k.revoked_ms > 0 AND k.workspace_id = api_keys.workspace_id"
         " ORDER BY k.revoked_ms DESC, k.id DESC LIMIT ?)"
         " AND workspace_id = (SELECT workspace_id FROM api_keys WHERE id = ?)",
         NUMBER(REVOKED_KEPT), TEXT(key_id));
}

enum err store_key_revoke(struct tx *tx, const char *workspace_id, const char *key_id)
{
    if (!EXEC(tx,
              "UPDATE api_keys SET revoked_ms = ? WHERE id = ? AND revoked_ms = 0"
              " AND (? = 'all' OR workspace_id = ?)",
              NUMBER(tx->now_ms), TEXT(key_id), TEXT(workspace_id ? "one" : "all"),
              TEXT(workspace_id ? workspace_id : "")))
        return tx_missing(tx);
    drop_oldest(tx, key_id);
    tx_touch(tx, STORE_KEYS);
    return tx_result(tx);
}
