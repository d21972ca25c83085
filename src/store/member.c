/* Members: their rows, and who is found by an address. */
#include "store/member.h"

#include <string.h>

#include "base/ids.h"
#include "store/tx.h"

enum { FOUND_MAX = 20 };

#define SELECT_MEMBER                                                                              \
    "SELECT id, workspace_id, name, email, role, password, seen_ms, created_ms, updated_ms"        \
    " FROM members "

enum err member_role_read(const char *text, enum member_role *out)
{
    for (int i = 0; i < ROLE_COUNT; i++) {
        if (strcmp(text, member_role_names[i]) != 0)
            continue;
        *out = (enum member_role)i;
        return OK;
    }
    return ERR_INTERNAL;
}

static enum err read_row(struct tx *tx, struct cursor *row, struct member *out)
{
    *out = (struct member){.id = cursor_text(row, 0),
                           .user_id = cursor_text(row, 1),
                           .name = cursor_text(row, 2),
                           .email = cursor_text(row, 3),
                           .has_password = *cursor_text(row, 5) != '\0',
                           .seen_wall_ms = cursor_number(row, 6),
                           .created_wall_ms = cursor_number(row, 7),
                           .updated_wall_ms = cursor_number(row, 8)};
    if (member_role_read(cursor_text(row, 4), &out->role))
        return fault_set(&tx->fault, ERR_INTERNAL, "a member's role does not read");
    return OK;
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
    EXEC(tx,
         "INSERT INTO members (id, workspace_id, name, email, role, password, seen_ms, created_ms,"
         " updated_ms) VALUES (?, ?, ?, ?, ?, '', 0, ?, ?)",
         TEXT(id), TEXT(member->user_id), TEXT(member->name), TEXT(member->email),
         TEXT(member_role_names[member->role]), NUMBER(tx->now_ms), NUMBER(tx->now_ms));
    return tx_result(tx);
}

enum err store_member_get(struct tx *tx, const char *workspace_id, const char *id,
                          struct member *out)
{
    AUTO(cursor) row =
        QUERY(tx, SELECT_MEMBER "WHERE id = ? AND workspace_id = ?", TEXT(id), TEXT(workspace_id));
    return cursor_next(row) ? read_row(tx, row, out) : tx_missing(tx);
}

enum err store_member_update(struct tx *tx, struct member *member)
{
    if (is_taken(tx, member))
        return ERR_CONFLICT;
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
    EXEC(tx, "DELETE FROM sessions WHERE member_id = ?", TEXT(id));
    EXEC(tx, "DELETE FROM links WHERE member_id = ?", TEXT(id));
    tx_touch(tx, STORE_KEYS);
    return tx_result(tx);
}

enum err store_member_list(struct tx *tx, const char *workspace_id, struct member_list *out)
{
    *out = (struct member_list){0};
    AUTO(cursor) row = QUERY(tx, SELECT_MEMBER "WHERE workspace_id = ? ORDER BY created_ms, id",
                             TEXT(workspace_id));
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

enum err store_member_find(struct tx *tx, const char *email, struct member_hash_list *out)
{
    *out = (struct member_hash_list){0};
    AUTO(cursor) row =
        QUERY(tx, SELECT_MEMBER "WHERE email = ? AND email <> '' ORDER BY created_ms, id LIMIT ?",
              TEXT(email), NUMBER(FOUND_MAX));
    while (cursor_next(row)) {
        struct member_hash *found = GROW(out, tx->arena);
        enum err err = read_row(tx, row, &found->member);
        if (err)
            return err;
        found->hash = cursor_text(row, 5);
    }
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
