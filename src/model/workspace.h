/* The workspace (in paths: a user), its keys, and who a request speaks for. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/field.h"
#include "model/member.h"

struct workspace {
    const char *id, *name;
    int64_t balance_usd4; /* less all that calls have taken so far (store/money.h) */
    const char *currency; /* "USD" */
    const char *plan;     /* an id of the catalog's plans */
    int64_t max_concurrent_calls;
    int64_t created_wall_ms;
};
struct workspace_list LIST_OF(struct workspace);
extern const struct field_table workspace_table;

/* What a workspace or a key may be called: 1 to 100 printable characters, not all of them spaces.
 */
bool workspace_name_is_good(const char *name);

struct api_key {
    const char *id, *workspace_id, *name;
    const char *key; /* in full once, when made; else "" */
    bool is_revoked;
    int64_t created_wall_ms, last_used_wall_ms;
};
struct api_key_list LIST_OF(struct api_key);
extern const struct field_table api_key_table;

/* KEY_SESSION: the cookie of a member who is signed in. */
enum key_kind { KEY_WORKSPACE, KEY_AGENT, KEY_PUBLISHABLE, KEY_SESSION, KEY_KIND_COUNT };

/* Who a key speaks for: what the store finds by the SHA-256 of a key. */
struct principal {
    enum key_kind kind;
    char workspace_id[40];
    char key_id[40];       /* KEY_WORKSPACE: key_...; KEY_SESSION: the member's, mem_...; else "" */
    char agent_id[40];     /* KEY_AGENT, KEY_PUBLISHABLE */
    char session_id[40];   /* KEY_SESSION */
    enum member_role role; /* KEY_SESSION */
    char key_name[512];
};
