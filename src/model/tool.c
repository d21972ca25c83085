/* The tool's fields (contract, Tool). */
#include "model/tool.h"

#include <string.h>

#include "model/header.h"
#include "model/internal.h"
#include "model/url.h"

const char *const tool_kind_names[TOOL_KIND_COUNT] = {"during_call", "before_call"};
static const char *const tool_method_names[TOOL_METHOD_COUNT] = {"GET", "POST"};
static const char *const tool_auth_names[TOOL_AUTH_COUNT] = {"none", "bearer", "api_key", "basic"};

const char *tool_name_saved(const char *name, struct arena *arena)
{
    /* One _ for each character, not for each byte of it. */
    char *saved = arena_alloc(arena, strlen(name) + 1), *to = saved;
    for (const char *p = name; *p; p++) {
        unsigned char c = (unsigned char)*p;
        if (c >= 'A' && c <= 'Z')
            *to++ = (char)(c - 'A' + 'a');
        else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
            *to++ = (char)c;
        else if ((c & 0xc0) != 0x80)
            *to++ = '_';
    }
    *to = '\0';
    return saved;
}

static void save_name(struct field_context *context, const struct field *row, void *object,
                      const char *path)
{
    (void)row, (void)path;
    struct tool *tool = object;
    tool->name = tool_name_saved(tool->name, context->arena);
}

/* A header's name and the credential are parts of a head: no line break may get there. */
static void check_header_text(struct field_context *context, const struct field *row, void *object,
                              const char *path)
{
    const char *text = *(const char *const *)(const void *)((const char *)object + row->offset);
    if (strpbrk(text, "\r\n"))
        faults_add(&context->faults, path, "must not have line breaks");
}

/* The same for the OpenAPI document; of the reserved names those that a generator could hit. */
#define HEADER_NAME "^(?![Tt][Ee]$)[!#$%&'*+.^_`|~0-9A-Za-z-]+$"
#define HEADER_TEXT "^[^\\r\\n]*$"

static const struct field param_rows[] = {
    ROW_TEXT(struct tool_pair, key, "key", .flags = FIELD_REQUIRED, .min = 1, .max = 128,
             .about = "Name of the argument."),
    ROW_TEXT(struct tool_pair, value, "value", .max = 4000,
             .about =
                 "An example shown to the model, sent when the model leaves the argument out."),
};
static FIELD_TABLE(param_table, struct tool_pair, "ToolParam", param_rows);

static const struct field header_rows[] = {
    ROW_TEXT(struct tool_pair, key, "key", .flags = FIELD_REQUIRED, .min = 1, .max = 128,
             .check = check_header_name, .pattern = HEADER_NAME,
             .about = "Name of the header; none that frames or routes a request, no X-Service-*.",
             .example = "\"X-Team\""),
    ROW_TEXT(struct tool_pair, value, "value", .max = 4000, .check = check_header_text,
             .pattern = HEADER_TEXT, .about = "May contain {{placeholders}}."),
};
static FIELD_TABLE(header_table, struct tool_pair, "ToolHeader", header_rows);

static const struct field output_rows[] = {
    ROW_TEXT(struct tool_output, name, "name", .flags = FIELD_REQUIRED, .min = 1, .max = 128),
    ROW_TEXT(struct tool_output, description, "description", .max = 4000),
};
static FIELD_TABLE(output_table, struct tool_output, "ToolOutput", output_rows);

#define HIDDEN .hide = FIELD_VIEW_AGENT
static const struct field tool_rows[] = {
    ROW_TEXT(struct tool, id, "id", .column = "id", .flags = FIELD_READ_ONLY,
             .example = "\"tool_01abcdefghijklmnopqr\""),
    ROW_TEXT(struct tool, user_id, "userId", .column = "workspace_id", .flags = FIELD_READ_ONLY,
             HIDDEN, .about = "Workspace."),
    ROW_TEXT(struct tool, agent_id, "agentId", .column = "agent_id",
             .flags = FIELD_CREATE_ONLY | FIELD_NULL_EMPTY, HIDDEN,
             .about = "The agent that the tool belongs to; null: any agent may use it. Cannot be "
                      "changed."),
    ROW_TEXT(struct tool, name, "name", .column = "name", .flags = FIELD_REQUIRED, .min = 1,
             .max = TOOL_NAME_MAX, .check = save_name, .example = "\"order_status\"",
             .about = "Saved in lower case, every character other than letters, digits and _ "
                      "turned into _."),
    ROW_TEXT(struct tool, description, "description", .flags = FIELD_REQUIRED, .max = 5000,
             .about = "The model reads it to decide when to use the tool.",
             .example = "\"Looks up the state of an order by its number.\""),
    ROW_ENUM(struct tool, kind, "kind", enum tool_kind, tool_kind_names),
    ROW_ENUM(struct tool, method, "method", enum tool_method, tool_method_names, HIDDEN),
    ROW_TEXT(struct tool, url, "url", .flags = FIELD_REQUIRED, HIDDEN, .min = 1, .max = 2048,
             .check = check_url, .pattern = "^https?://",
             .example = "\"https://example.com/orders/{{number}}\"",
             .about = "A public http(s) address; redirects are not followed; may contain "
                      "{{placeholders}} after the host."),
    ROW_OBJECTS(struct tool, params, "params", struct tool_pair_list, &param_table, HIDDEN,
                .max = 50),
    ROW_OBJECTS(struct tool, headers, "headers", struct tool_pair_list, &header_table, HIDDEN,
                .max = 50),
    ROW_TEXT(struct tool, body, "body", HIDDEN, .max = 20000,
             .about = "Body template for POST, with {{placeholders}}."),
    ROW_ENUM(struct tool, auth, "auth", enum tool_auth, tool_auth_names, HIDDEN),
    ROW_TEXT(struct tool, auth_token, "authToken", .flags = FIELD_SECRET, HIDDEN, .max = 4000,
             .check = check_header_text, .pattern = HEADER_TEXT,
             .about =
                 "Bearer token, API key or basic-auth password; masked in answers. A "
                 "member's update whose url names another scheme, host or port sends it anew."),
    ROW_TEXT(struct tool, auth_key_header, "authKeyHeader", HIDDEN, .min = 1, .max = 128,
             .standard_text = "X-API-Key", .check = check_header_name, .pattern = HEADER_NAME,
             .about = "Header for api_key auth; the names refused in headers are refused here."),
    ROW_TEXT(struct tool, auth_username, "authUsername", HIDDEN, .max = 4000,
             .check = check_header_text, .pattern = HEADER_TEXT,
             .about = "Username for basic auth."),
    ROW_INT(struct tool, timeout_ms, "timeoutMs", HIDDEN, .min = 500, .max = 60000,
            .standard = 10000, .about = "Cut off at 30 seconds, whatever is set."),
    ROW_OBJECTS(struct tool, outputs, "outputs", struct tool_output_list, &output_table, HIDDEN,
                .max = 50, .about = "For the user's reference."),
    ROW_TEXT(struct tool, sample_output, "sampleOutput", HIDDEN, .max = 20000,
             .about = "Example response shown to the model."),
    ROW_TIME(struct tool, created_wall_ms, "createdAt", .column = "created_ms",
             .flags = FIELD_READ_ONLY, HIDDEN),
    ROW_TIME(struct tool, updated_wall_ms, "updatedAt", .column = "updated_ms",
             .flags = FIELD_READ_ONLY, HIDDEN),
    ROW_TEXT(struct tool, source_id, "sourceId", STORED_ONLY("source_id")),
    ROW_INT(struct tool, version, "version", STORED_ONLY("version")),
    ROW_INT(struct tool, bytes, "bytes", STORED_ONLY("bytes")),
};
FIELD_TABLE(tool_table, struct tool, "Tool", tool_rows,
            .about = "An HTTP endpoint of the API user that the agent calls.");

void tool_merge(struct tool *tool, const struct js *body, struct field_context *context,
                const char *path)
{
    const char *url = tool->url, *token = tool->auth_token;
    field_merge(&tool_table, tool, body, context, path);
    bool is_kept = tool->auth_token == token; /* what is sent anew is copied, the same text too */
    if (!context->has_key && is_kept && *token && *url && !url_same_origin(url, tool->url))
        faults_add(&context->faults,
                   *path ? arena_printf(context->arena, "%s.authToken", path) : "authToken",
                   "must be sent anew when url names another scheme, host or port");
}
