/* Members: their rows, and who is found by an address. */
#include "store/member.h"

#include <string.h>

#include "base/ids.h"
#include "store/columns.h"
#include "store/tx.h"

enum { FOUND_MAX = 20 };

/* rest: "FROM members WHERE ..." */
static struct cursor *query(struct tx *tx, const char *rest, const struct db_value *values)
{
    return tx_query(tx, columns_select(tx, &member_table, "password, vouched_ms", rest), values);
}

static const char *hash_of(struct cursor *row)
{
    return cursor_text(row, columns_count(&member_table));
}

static enum err read_row(struct tx *tx, struct cursor *row, struct member *out)
{
    *out = (struct member){.has_password = *hash_of(row) != '\0'};
    return columns_read(tx, row, &member_table, out);
}

static bool is_taken(struct tx *tx, const struct member *member)
{
    return *member->email &&
           QUERY_NUMBER(tx, 0,
                        "SELECT COUNT(*) FROM members WHERE email = ? AND workspace_id = ?"
                        " AND id <> ?",
                        TEXT(member->email), TEXT(member->user_id),
                        TEXT(member->id ? member->id : "")) > 0;
}

enum err store_member_insert(struct tx *tx, struct member *member)
{
    if (QUERY_NUMBER(tx, 0, "SELECT COUNT(*) FROM members WHERE workspace_id = ?",
                     TEXT(member->user_id)) >= MEMBERS_MAX)
        return ERR_LIMIT;
    member->id = NULL;
    if (is_taken(tx, member))
        return ERR_CONFLICT;
    char id[ID_SIZE];
    id_new("mem_", id);
    member->id = arena_strdup(tx->arena, id);
    member->created_wall_ms = member->updated_wall_ms = tx->now_ms;
    columns_insert(tx, &(struct row_insert){.into = "members",
                                            .table = &member_table,
                                            .object = member,
                                            .also = COLUMNS({"password", TEXT("")})});
    return tx_result(tx);
}

enum err store_member_get(struct tx *tx, const char *workspace_id, const char *id,
                          struct member *out)
{
    AUTO(cursor) row = query(tx, "FROM members WHERE id = ? AND workspace_id = ?",
                             VALUES(TEXT(id), TEXT(workspace_id)));
    return cursor_next(row) ? read_row(tx, row, out) : tx_missing(tx);
}

/* Links first: this waits for who is using one, whose session is then there to be ended. */
static void sign_out(struct tx *tx, const char *id)
{
    EXEC(tx, "DELETE FROM links WHERE member_id = ?", TEXT(id));
    EXEC(tx, "DELETE FROM sessions WHERE member_id = ?", TEXT(id));
}

/* What the one of the former address had does not become the new one's. */
static void invite_again(struct tx *tx, struct member *member)
{
    member->has_password = false;
    member->seen_wall_ms = 0;
    EXEC(tx, "UPDATE members SET password = '', seen_ms = 0, vouched_ms = 0 WHERE id = ?",
         TEXT(member->id));
    sign_out(tx, member->id);
}

enum err store_member_update(struct tx *tx, struct member *member, bool *out_is_moved)
{
    if (is_taken(tx, member))
        return ERR_CONFLICT;
    *out_is_moved = QUERY_NUMBER(tx, 0, "SELECT COUNT(*) FROM members WHERE id = ? AND email <> ?",
                                 TEXT(member->id), TEXT(member->email)) > 0;
    if (*out_is_moved)
        invite_again(tx, member);
    member->updated_wall_ms = tx->now_ms;
    EXEC(tx, "UPDATE members SET name = ?, email = ?, role = ?, updated_ms = ? WHERE id = ?",
         TEXT(member->name), TEXT(member->email), TEXT(member_role_names[member->role]),
         NUMBER(tx->now_ms), TEXT(member->id));
    tx_touch(tx, STORE_KEYS);
    return tx_result(tx);
}

enum err store_member_remove(struct tx *tx, const char *workspace_id, const char *id)
{
    if (!EXEC(tx, "DELETE FROM members WHERE id = ? AND workspace_id = ?", TEXT(id),
              TEXT(workspace_id)))
        return tx_missing(tx);
    sign_out(tx, id);
    tx_touch(tx, STORE_KEYS);
    return tx_result(tx);
}

enum err store_member_list(struct tx *tx, const char *workspace_id, struct member_list *out)
{
    *out = (struct member_list){0};
    AUTO(cursor) row = query(tx, "FROM members WHERE workspace_id = ? ORDER BY created_ms, id",
                             VALUES(TEXT(workspace_id)));
    while (cursor_next(row)) {
        enum err err = read_row(tx, row, GROW(out, tx->arena));
        if (err)
            return err;
    }
    return tx_result(tx);
}

bool store_member_is_last_owner(struct tx *tx, const struct member *member)
{
    return member->role == ROLE_OWNER &&
           QUERY_NUMBER(tx, 0,
                        "SELECT COUNT(*) FROM members WHERE workspace_id = ? AND role = 'owner'",
                        TEXT(member->user_id)) <= 1;
}

enum err store_member_find(struct tx *tx, const char *email, const char *workspace_id,
                           struct member_hash_list *out)
{
    *out = (struct member_hash_list){0};
    AUTO(cursor) row =
        query(tx,
              "FROM members WHERE email = ? AND email <> '' AND (? = '' OR workspace_id = ?)"
              " ORDER BY CASE WHEN vouched_ms > 0"
              " THEN 0 WHEN password <> '' THEN 1 ELSE 2 END, created_ms, id LIMIT ?",
              VALUES(TEXT(email), TEXT(workspace_id), TEXT(workspace_id), NUMBER(FOUND_MAX)));
    while (cursor_next(row)) {
        struct member_hash *found = GROW(out, tx->arena);
        enum err err = read_row(tx, row, &found->member);
        if (err)
            return err;
        found->hash = hash_of(row);
        found->is_vouched = cursor_number(row, columns_count(&member_table) + 1) > 0;
    }
    return tx_result(tx);
}

enum err store_member_vouch(struct tx *tx, const char *id)
{
    EXEC(tx, "UPDATE members SET vouched_ms = ? WHERE id = ?", NUMBER(tx->now_ms), TEXT(id));
    return tx_result(tx);
}

enum err store_member_hash(struct tx *tx, const char *id, const char **out)
{
    AUTO(cursor) row = QUERY(tx, "SELECT password FROM members WHERE id = ?", TEXT(id));
    if (!cursor_next(row))
        return tx_missing(tx);
    *out = cursor_text(row, 0);
    return OK;
}

enum err store_member_set_hash(struct tx *tx, const char *id, const char *hash)
{
    if (!EXEC(tx, "UPDATE members SET password = ?, updated_ms = ? WHERE id = ?", TEXT(hash),
              NUMBER(tx->now_ms), TEXT(id)))
        return tx_missing(tx);
    return tx_result(tx);
}
