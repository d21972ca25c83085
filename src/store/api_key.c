/* Keys, found by their SHA-256. A key has 190 bits from the system's random source, so a plain hash
 * is enough, and looking it up by index tells nothing about it. Thread: inside a job. */
#include "store/api_key.h"

#include <stdio.h>
#include <string.h>

#include "base/ids.h"
#include "model/member.h"
#include "model/workspace.h"
#include "store/columns.h"
#include "store/internal.h"
#include "store/session.h"

enum { TOUCH_MIN_MS = 60000, REVOKED_KEPT = 100 };

/* Whom a key or a session's cookie stands for: what of it a row says. */
struct holder {
    const char *id, *workspace_id, *name, *session_id;
    enum member_role role;
};

static const struct field key_holder_rows[] = {
    COLUMN_TEXT(struct holder, id, "id"),
    COLUMN_TEXT(struct holder, workspace_id, "workspace_id"),
    COLUMN_TEXT(struct holder, name, "name"),
};
static FIELD_TABLE(key_holder_table, struct holder, "api_keys", key_holder_rows);

static const struct field agent_holder_rows[] = {
    COLUMN_TEXT(struct holder, id, "id"),
    COLUMN_TEXT(struct holder, workspace_id, "workspace_id"),
};
static FIELD_TABLE(agent_holder_table, struct holder, "agents", agent_holder_rows);

static const struct field session_holder_rows[] = {
    COLUMN_TEXT(struct holder, id, "m.id"),
    COLUMN_TEXT(struct holder, workspace_id, "s.workspace_id"),
    COLUMN_TEXT(struct holder, name, "m.name"),
    COLUMN_TEXT(struct holder, session_id, "s.id"),
    COLUMN_WORD(struct holder, role, "m.role", enum member_role, member_role_names),
};
static FIELD_TABLE(session_holder_table, struct holder, "members", session_holder_rows);

/* Kinds of keys: their prefix says where they are looked up. */
static const struct {
    const char *prefix;
    enum key_kind kind;
    const struct field_table *table;
    const char *rest;
} kinds[] = {
    {"sk_", KEY_WORKSPACE, &key_holder_table, "FROM api_keys WHERE key_sha = ? AND revoked_ms = 0"},
    {"ak_", KEY_AGENT, &agent_holder_table, "FROM agents WHERE key_sha = ?"},
    {"pk_", KEY_PUBLISHABLE, &agent_holder_table, "FROM agents WHERE public_sha = ?"},
};

static enum err find_holder(struct tx *tx, const struct field_table *table, const char *rest,
                            const struct db_value *values, struct holder *out)
{
    *out = (struct holder){.name = "", .session_id = ""};
    AUTO(cursor) row = tx_query(tx, columns_select(tx, table, NULL, rest), values);
    return cursor_next(row) ? columns_read(tx, row, table, out) : tx_missing(tx);
}

static void fill(struct principal *out, enum key_kind kind, const struct holder *holder)
{
    *out = (struct principal){.kind = kind, .role = holder->role};
    bool is_agent = kind == KEY_AGENT || kind == KEY_PUBLISHABLE;
    snprintf(is_agent ? out->agent_id : out->key_id, sizeof(out->key_id), "%s", holder->id);
    snprintf(out->workspace_id, sizeof(out->workspace_id), "%s", holder->workspace_id);
    snprintf(out->key_name, sizeof(out->key_name), "%s", holder->name);
    snprintf(out->session_id, sizeof(out->session_id), "%s", holder->session_id);
}

/* Whether a session is still good: store/session.h. */
static enum err find_by_session(struct tx *tx, const char *sha, struct principal *out)
{
    struct holder holder;
    enum err err = find_holder(tx, &session_holder_table,
                               "FROM sessions s JOIN members m ON m.id = s.member_id"
                               " WHERE s.key_sha = ? AND s.used_ms > ? AND s.created_ms > ?",
                               VALUES(TEXT(sha), NUMBER(tx->now_ms - SESSION_IDLE_MS),
                                      NUMBER(tx->now_ms - SESSION_MAX_MS)),
                               &holder);
    if (!err)
        fill(out, KEY_SESSION, &holder);
    return err;
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
    struct holder holder;
    enum err err = find_holder(tx, kinds[i].table, kinds[i].rest, VALUES(TEXT(sha)), &holder);
    if (!err)
        fill(out, kinds[i].kind, &holder);
    return err;
}

enum err store_key_touch(struct tx *tx, const char *key_id)
{
    EXEC(tx, "UPDATE api_keys SET last_used_ms = ? WHERE id = ? AND last_used_ms <= ?",
         NUMBER(tx->now_ms), TEXT(key_id), NUMBER(tx->now_ms - TOUCH_MIN_MS));
    return tx_result(tx);
}

enum err store_key_create(struct tx *tx, const char *workspace_id, const char *name,
                          struct api_key *out)
{
    char id[ID_SIZE], key[KEY_SIZE], sha[SHA256_HEX];
    id_new("key_", id);
    key_new("sk_", key);
    crypto_sha256_hex(key, strlen(key), sha);
    struct api_key made = {.id = arena_strdup(tx->arena, id),
                           .workspace_id = arena_strdup(tx->arena, workspace_id),
                           .name = arena_strdup(tx->arena, name),
                           .key = arena_strdup(tx->arena, key),
                           .created_wall_ms = tx->now_ms};
    int64_t count = columns_insert(
        tx, &(struct row_insert){.into = "api_keys",
                                 .table = &api_key_table,
                                 .object = &made,
                                 .also = COLUMNS({"key_sha", TEXT(sha)}, {"revoked_ms", NUMBER(0)}),
                                 .from = "WHERE EXISTS (SELECT 1 FROM workspaces WHERE id = ?)",
                                 .values = VALUES(TEXT(workspace_id))});
    if (!count)
        return tx_missing(tx);
    *out = made;
    return OK;
}

static enum err read_key(struct tx *tx, struct cursor *row, struct api_key *out)
{
    *out = (struct api_key){.key = ""};
    out->is_revoked = cursor_number(row, columns_count(&api_key_table)) != 0;
    return columns_read(tx, row, &api_key_table, out);
}

enum err store_key_get(struct tx *tx, const char *workspace_id, const char *key_id,
                       struct api_key *out)
{
    AUTO(cursor) row = QUERY(tx,
                             columns_select(tx, &api_key_table, "revoked_ms",
                                            "FROM api_keys WHERE id = ? AND workspace_id = ?"),
                             TEXT(key_id), TEXT(workspace_id));
    return cursor_next(row) ? read_key(tx, row, out) : tx_missing(tx);
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
        enum err err = read_key(tx, row, GROW(out, tx->arena));
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
