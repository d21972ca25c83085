/* The tool: an HTTP endpoint of the API user that the agent calls. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/field.h"

enum tool_kind { TOOL_DURING_CALL, TOOL_BEFORE_CALL, TOOL_KIND_COUNT };
extern const char *const tool_kind_names[TOOL_KIND_COUNT];
enum tool_method { TOOL_GET, TOOL_POST, TOOL_METHOD_COUNT };
enum tool_auth {
    TOOL_AUTH_NONE,
    TOOL_AUTH_BEARER,
    TOOL_AUTH_API_KEY,
    TOOL_AUTH_BASIC,
    TOOL_AUTH_COUNT
};

enum { TOOL_NAME_MAX = 128 };

struct tool_pair { /* an entry of params or headers */
    const char *key, *value;
};
struct tool_pair_list LIST_OF(struct tool_pair);

struct tool_output {
    const char *name, *description;
};
struct tool_output_list LIST_OF(struct tool_output);

struct tool {
    const char *id, *user_id;
    const char *agent_id; /* "": belongs to no agent */
    const char *name, *description;
    enum tool_kind kind;
    enum tool_method method;
    const char *url;
    struct tool_pair_list params, headers;
    const char *body;
    enum tool_auth auth;
    const char *auth_token; /* in full; sealed in the store view */
    const char *auth_key_header, *auth_username;
    int64_t timeout_ms;
    struct tool_output_list outputs;
    const char *sample_output;
    const char *source_id; /* of a copy: the tool it was copied from; "" */
    int64_t created_wall_ms, updated_wall_ms;
    int64_t bytes;   /* as stored: of what FIELD_VIEW_STORE holds */
    int64_t version; /* as stored: rises with each change */
};
struct tool_list LIST_OF(struct tool);

/* FIELD_VIEW_STORE holds what has no column of its own. */
extern const struct field_table tool_table;

/* field_merge(), but a credential that is kept goes nowhere else by the hand of a member, who may
 * not read it: a url of another scheme, host or port without the credential sent anew is a fault at
 * authToken. With a secret key a masked value leaves the stored one as it is, whatever changes. */
void tool_merge(struct tool *tool, const struct js *body, struct field_context *context,
                const char *path);

/* Lower case, every character but ASCII letters, digits and _ turned into _. */
const char *tool_name_saved(const char *name, struct arena *arena);
