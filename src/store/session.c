/* Links and sessions. */
#include "store/session.h"

#include <string.h>

#include "base/crypto.h"
#include "store/columns.h"
#include "store/member.h"
#include "store/tx.h"
#include "store/workspace.h"

enum { TOUCH_MIN_MS = 60000 };

enum err store_link_create(struct tx *tx, const char *member_id, char out[KEY_SIZE])
{
    char sha[SHA256_HEX];
    key_new(LINK_PREFIX, out);
    crypto_sha256_hex(out, strlen(out), sha);
    EXEC(tx, "DELETE FROM links WHERE member_id = ?", TEXT(member_id));
    EXEC(tx, "INSERT INTO links (link_sha, member_id, until_ms) VALUES (?, ?, ?)", TEXT(sha),
         TEXT(member_id), NUMBER(tx->now_ms + LINK_MS));
    return tx_result(tx);
}

static enum err member_of_link(struct tx *tx, const char *sha, struct member *out)
{
    AUTO(cursor) row = QUERY(tx,
                             "SELECT m.workspace_id, m.id FROM links l JOIN members m"
                             " ON m.id = l.member_id WHERE l.link_sha = ? AND l.until_ms > ?",
                             TEXT(sha), NUMBER(tx->now_ms));
    if (!cursor_next(row))
        return tx_missing(tx);
    return store_member_get(tx, cursor_text(row, 0), cursor_text(row, 1), out);
}

enum err store_link_look(struct tx *tx, const char *link)
{
    char sha[SHA256_HEX];
    struct member ignored;
    crypto_sha256_hex(link, strlen(link), sha);
    return member_of_link(tx, sha, &ignored);
}

enum err store_link_use(struct tx *tx, const char *link, struct member *out)
{
    char sha[SHA256_HEX];
    crypto_sha256_hex(link, strlen(link), sha);
    enum err err = member_of_link(tx, sha, out);
    if (err)
        return err;
    if (!EXEC(tx, "DELETE FROM links WHERE link_sha = ?", TEXT(sha)))
        return tx_missing(tx); /* somebody was quicker */
    return tx_result(tx);
}

/* The owner of that address, or the oldest; without an id: there is none. */
static enum err find_owner(struct tx *tx, const char *workspace_id, const char *email,
                           struct member *out)
{
    struct member_list list;
    enum err err = store_member_list(tx, workspace_id, &list);
    for (size_t i = 0; i < list.count && !err; i++) {
        const struct member *member = &list.items[i];
        if (*email ? strcmp(member->email, email) == 0 : member->role == ROLE_OWNER) {
            *out = *member;
            return OK;
        }
    }
    return err;
}

enum err store_link_for(struct tx *tx, const char *workspace_id, const char *email,
                        char out[KEY_SIZE])
{
    struct member member = {
        .user_id = workspace_id, .name = "Owner", .email = email, .role = ROLE_OWNER};
    enum err err = store_workspace_lock(tx, workspace_id);
    if (!err)
        err = find_owner(tx, workspace_id, email, &member);
    if (!err && !member.id)
        err = store_member_insert(tx, &member);
    return err ? err : store_link_create(tx, member.id, out);
}

/* A browser may be signed in again and again: the member's sessions stay few. */
static void drop_most(struct tx *tx, const char *member_id)
{
    EXEC(tx,
         "DELETE FROM sessions WHERE member_id = ? AND id NOT IN (SELECT id FROM sessions"
         " WHERE member_id = ? ORDER BY used_ms DESC LIMIT ?)",
         TEXT(member_id), TEXT(member_id), NUMBER(SESSIONS_MAX - 1));
}

enum err store_session_create(struct tx *tx, const struct member *member, const char *browser,
                              const char *address, char out[KEY_SIZE])
{
    char id[ID_SIZE], sha[SHA256_HEX];
    id_new("ses_", id);
    key_new(SESSION_PREFIX, out);
    crypto_sha256_hex(out, strlen(out), sha);
    drop_most(tx, member->id);
    struct session session = {.id = id,
                              .browser = browser,
                              .address = address,
                              .created_wall_ms = tx->now_ms,
                              .used_wall_ms = tx->now_ms};
    columns_insert(tx, &(struct row_insert){.into = "sessions",
                                            .table = &session_table,
                                            .object = &session,
                                            .also = COLUMNS({"key_sha", TEXT(sha)},
                                                            {"workspace_id", TEXT(member->user_id)},
                                                            {"member_id", TEXT(member->id)})});
    EXEC(tx, "UPDATE members SET seen_ms = ? WHERE id = ?", NUMBER(tx->now_ms), TEXT(member->id));
    return tx_result(tx);
}

enum err store_session_look(struct tx *tx, const char *session_id)
{
    AUTO(cursor) row = QUERY(tx, "SELECT id FROM sessions WHERE id = ?", TEXT(session_id));
    return cursor_next(row) ? OK : tx_missing(tx);
}

enum err store_session_touch(struct tx *tx, const char *session_id)
{
    int64_t changed = EXEC(tx, "UPDATE sessions SET used_ms = ? WHERE id = ? AND used_ms <= ?",
                           NUMBER(tx->now_ms), TEXT(session_id), NUMBER(tx->now_ms - TOUCH_MIN_MS));
    if (changed)
        EXEC(tx,
             "UPDATE members SET seen_ms = ? WHERE id = (SELECT member_id FROM sessions"
             " WHERE id = ?)",
             NUMBER(tx->now_ms), TEXT(session_id));
    return tx_result(tx);
}

enum err store_session_list(struct tx *tx, const char *member_id, struct session_list *out)
{
    *out = (struct session_list){0};
    const char *sql = columns_select(tx, &session_table, NULL,
                                     "FROM sessions WHERE member_id = ? AND used_ms > ?"
                                     " AND created_ms > ? ORDER BY used_ms DESC, id");
    return columns_list(tx, &session_table, sql,
                        VALUES(TEXT(member_id), NUMBER(tx->now_ms - SESSION_IDLE_MS),
                               NUMBER(tx->now_ms - SESSION_MAX_MS)),
                        out);
}

enum err store_session_end(struct tx *tx, const char *member_id, const char *session_id)
{
    if (!EXEC(tx, "DELETE FROM sessions WHERE id = ? AND member_id = ?", TEXT(session_id),
              TEXT(member_id)))
        return tx_missing(tx);
    tx_touch(tx, STORE_KEYS);
    return OK;
}

enum err store_session_end_others(struct tx *tx, const char *member_id, const char *kept_id)
{
    EXEC(tx, "DELETE FROM sessions WHERE member_id = ? AND id <> ?", TEXT(member_id),
         TEXT(kept_id));
    tx_touch(tx, STORE_KEYS);
    return tx_result(tx);
}

bool store_session_is_due(struct tx *tx)
{
    return QUERY_NUMBER(tx, 0,
                        "SELECT (SELECT COUNT(*) FROM links WHERE until_ms <= ?)"
                        " + (SELECT COUNT(*) FROM sessions WHERE used_ms <= ?)",
                        NUMBER(tx->now_ms), NUMBER(tx->now_ms - SESSION_IDLE_MS)) > 0;
}

enum err store_session_sweep(struct tx *tx)
{
    EXEC(tx, "DELETE FROM links WHERE until_ms <= ?", NUMBER(tx->now_ms));
    EXEC(tx, "DELETE FROM sessions WHERE used_ms <= ?", NUMBER(tx->now_ms - SESSION_IDLE_MS));
    return tx_result(tx);
}
