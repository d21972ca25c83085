/* People of a workspace, and their sessions in the studio. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/field.h"

/* Each may do what those before it may (api/roles.c says what). */
enum member_role { ROLE_VIEWER, ROLE_EDITOR, ROLE_OWNER, ROLE_COUNT };
extern const char *const member_role_names[ROLE_COUNT];

enum {
    MEMBERS_MAX = 500, /* of a workspace */
    MEMBER_NAME_MAX = 100,
    MEMBER_EMAIL_MAX = 254, /* code points, both */
};

struct member {
    const char *id, *user_id;
    const char *name;
    const char *email; /* lower case; "": signs in by links only */
    enum member_role role;
    bool has_password;
    int64_t seen_wall_ms, created_wall_ms, updated_wall_ms;
};
struct member_list LIST_OF(struct member);
extern const struct field_table member_table;

struct session {
    const char *id;
    const char *browser, *address; /* of the sign-in: User-Agent, client */
    bool is_current;
    int64_t created_wall_ms, used_wall_ms;
};
struct session_list LIST_OF(struct session);
extern const struct field_table session_table;
