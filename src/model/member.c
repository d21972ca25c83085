/* Members and sessions as the API shows them. */
#include "model/member.h"

#include <ctype.h>
#include <string.h>

#include "base/arena.h"
#include "base/utf8.h"
#include "model/workspace.h"

const char *const member_role_names[ROLE_COUNT] = {"viewer", "editor", "owner"};

static void check_name(struct field_context *context, const struct field *row, void *object,
                       const char *path)
{
    (void)row;
    if (!workspace_name_is_good(((const struct member *)object)->name))
        faults_add(&context->faults, path, "must be 1 to 100 printable characters");
}

static bool has_control(const char *text)
{
    size_t len = strlen(text);
    for (size_t at = 0; at < len;) {
        uint32_t code;
        at += utf8_decode(text + at, len - at, &code);
        if (code < ' ' || (code >= 0x7f && code < 0xa0))
            return true;
    }
    return false;
}

/* Something, an @, a host; kept in lower case, so that it is found however it is typed. */
static void check_email(struct field_context *context, const struct field *row, void *object,
                        const char *path)
{
    (void)row;
    struct member *member = object;
    const char *at = strrchr(member->email, '@');
    size_t len = strlen(member->email);
    if (len == 0)
        return;
    if (!at || at == member->email || at[1] == '\0' || strcspn(member->email, " <>\"") != len ||
        has_control(member->email)) {
        faults_add(&context->faults, path, "must be an e-mail address");
        return;
    }
    char *lower = arena_strdup(context->arena, member->email);
    for (char *c = lower; *c; c++)
        *c = (char)(isupper((unsigned char)*c) ? tolower((unsigned char)*c) : *c);
    member->email = lower;
}

static const struct field member_rows[] = {
    ROW_TEXT(struct member, id, "id", .flags = FIELD_READ_ONLY, .column = "id"),
    ROW_TEXT(struct member, user_id, "userId", .flags = FIELD_READ_ONLY, .about = "Workspace.",
             .column = "workspace_id"),
    ROW_TEXT(struct member, name, "name", .flags = FIELD_REQUIRED, .min = 1, .max = MEMBER_NAME_MAX,
             .check = check_name, .column = "name"),
    ROW_TEXT(struct member, email, "email", .max = MEMBER_EMAIL_MAX, .check = check_email,
             .column = "email",
             .about = "What a password goes with; empty: signs in by links only."),
    ROW_ENUM(struct member, role, "role", enum member_role, member_role_names,
             .standard = ROLE_VIEWER, .column = "role",
             .about = "viewer looks, editor changes, owner also decides on keys and members."),
    ROW_BOOL(struct member, has_password, "hasPassword", .flags = FIELD_READ_ONLY),
    ROW_TIME(struct member, seen_wall_ms, "lastSeenAt", .flags = FIELD_READ_ONLY | FIELD_NULL_EMPTY,
             .column = "seen_ms"),
    ROW_TIME(struct member, created_wall_ms, "createdAt", .flags = FIELD_READ_ONLY,
             .column = "created_ms"),
    ROW_TIME(struct member, updated_wall_ms, "updatedAt", .flags = FIELD_READ_ONLY,
             .column = "updated_ms"),
};
FIELD_TABLE(member_table, struct member, "Member", member_rows,
            .about = "A person who works with the workspace in the studio.");

static const struct field session_rows[] = {
    ROW_TEXT(struct session, id, "id", .column = "id"),
    ROW_TEXT(struct session, browser, "browser", .column = "browser",
             .about = "As it named itself at the sign-in."),
    ROW_TEXT(struct session, address, "address", .column = "address"),
    ROW_BOOL(struct session, is_current, "current", .about = "The one that asks."),
    ROW_TIME(struct session, created_wall_ms, "createdAt", .column = "created_ms"),
    ROW_TIME(struct session, used_wall_ms, "usedAt", .column = "used_ms"),
};
FIELD_TABLE(session_table, struct session, "Session", session_rows);
