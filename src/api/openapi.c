/* Prints the OpenAPI document: paths from the routes, components from the field tables, webhooks
 * from the event types. Nothing is written twice: what the document says is what the parser and the
 * writer do. */
#include "api/openapi.h"

#include <stdio.h>
#include <string.h>

#include "api/internal.h"
#include "api/request.h"
#include "api/resources.h"
#include "api/route.h"
#include "base/js.h"
#include "model/event.h"
#include "model/schema.h"

struct printer {
    const struct route *routes;
    size_t route_count;
    struct js_out out;
    struct schema_set set;
};

static void text(struct printer *p, const char *key, const char *value)
{
    js_out_key(&p->out, key);
    js_out_text(&p->out, value);
}

static void begin(struct printer *p, const char *key)
{
    js_out_key(&p->out, key);
    js_out_object(&p->out);
}

static void end(struct printer *p)
{
    js_out_object_end(&p->out);
}

static void ref(struct printer *p, const char *target)
{
    js_out_object(&p->out);
    text(p, "$ref", target);
    end(p);
}

/* Parameters. */

static void write_path_parameters(struct printer *p, const struct route *route)
{
    for (const char *at = strchr(route->path, '{'); at; at = strchr(at + 1, '{')) {
        char name[32];
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(at + 1, "}"), at + 1);
        js_out_object(&p->out);
        text(p, "name", name);
        text(p, "in", "path");
        js_out_key(&p->out, "required");
        js_out_bool(&p->out, true);
        begin(p, "schema");
        text(p, "type", "string");
        text(p, "pattern", "^[A-Za-z0-9_-]{1,63}$");
        end(p);
        end(p);
    }
}

/* A query parameter has no null: the schema of its value is that of a required field. */
static void write_query_parameters(struct printer *p, const struct field_table *query)
{
    for (size_t i = 0; query && i < query->count; i++) {
        struct field row = query->rows[i];
        row.flags |= FIELD_REQUIRED;
        js_out_object(&p->out);
        text(p, "name", row.name);
        text(p, "in", "query");
        if (row.about)
            text(p, "description", row.about);
        js_out_key(&p->out, "schema");
        schema_value(&p->set, &row, SCHEMA_BODY, &p->out);
        end(p);
    }
}

static bool has_error(const struct route *route, enum api_error error)
{
    for (size_t i = 0; i < ROUTE_ERRORS_MAX; i++)
        if (route->errors[i] == error)
            return true;
    return false;
}

static void write_parameters(struct printer *p, const struct route *route)
{
    bool is_post = strcmp(route->method, "POST") == 0;
    if (!strchr(route->path, '{') && !route->query && !is_post)
        return;
    js_out_key(&p->out, "parameters");
    js_out_array(&p->out);
    write_path_parameters(p, route);
    write_query_parameters(p, route->query);
    if (is_post)
        ref(p, "#/components/parameters/IdempotencyKey");
    if (has_error(route, API_PRECONDITION_FAILED))
        ref(p, "#/components/parameters/IfMatch");
    js_out_array_end(&p->out);
}

/* Bodies. */

static void write_body(struct printer *p, const struct route *route)
{
    if (!route->input)
        return;
    begin(p, "requestBody");
    js_out_key(&p->out, "required");
    js_out_bool(&p->out, route->body != ROUTE_JSON_OPTIONAL);
    begin(p, "content");
    begin(p, "application/json");
    js_out_key(&p->out, "schema");
    schema_ref(&p->set, route->input, route->is_update ? SCHEMA_PATCH : SCHEMA_BODY, &p->out);
    if (!route->is_update && schema_has_example(route->input)) {
        js_out_key(&p->out, "example");
        schema_example(route->input, &p->out);
    }
    end(p);
    if (route->body == ROUTE_JSON_OR_FILE) {
        begin(p, "application/octet-stream");
        begin(p, "schema");
        text(p, "description", "The file: PDF, Word .docx or text, at most 25 MB.");
        end(p);
        end(p);
    }
    end(p);
    end(p);
}

/* Responses. */

static void write_headers(struct printer *p)
{
    static const char *const names[] = {"X-Request-Id", "RateLimit-Limit", "RateLimit-Remaining",
                                        "RateLimit-Reset"};
    begin(p, "headers");
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        char target[64];
        snprintf(target, sizeof(target), "#/components/headers/%s", names[i]);
        js_out_key(&p->out, names[i]);
        ref(p, target);
    }
    end(p);
}

static void write_success(struct printer *p, const struct route *route)
{
    char status[8];
    snprintf(status, sizeof(status), "%d", route->status);
    begin(p, status);
    text(p, "description", route->status == 201 ? "Created." : "Done.");
    write_headers(p);
    begin(p, "content");
    begin(p, route->output_type ? route->output_type : "application/json");
    js_out_key(&p->out, "schema");
    if (route->output) {
        schema_ref(&p->set, route->output, SCHEMA_ANSWER, &p->out);
    } else {
        js_out_object(&p->out);
        end(p);
    }
    end(p);
    end(p);
    end(p);
}

static bool takes_session(const struct route *route)
{
    return route->auth == ROUTE_WORKSPACE || route->auth == ROUTE_EITHER ||
           route->auth == ROUTE_MEMBER;
}

/* Which errors of the table a route may answer. */
static void collect_errors(const struct route *route, bool out[API_ERROR_COUNT])
{
    static const enum api_error everywhere[] = {API_BAD_REQUEST,    API_UNAUTHORIZED,
                                                API_FORBIDDEN,      API_RATE_LIMITED,
                                                API_INTERNAL_ERROR, API_UNAVAILABLE};
    for (size_t i = 0; i < ARRAY_LEN(everywhere); i++)
        out[everywhere[i]] = true;
    for (size_t i = 0; i < ROUTE_ERRORS_MAX; i++)
        if (route->errors[i])
            out[route->errors[i]] = true;
    if (strchr(route->path, '{'))
        out[API_NOT_FOUND] = true;
    if (takes_session(route))
        out[API_SIGNED_IN_ELSEWHERE] = true;
    if (route->body != ROUTE_NO_BODY)
        out[API_INVALID_JSON] = out[API_UNSUPPORTED_MEDIA_TYPE] = true;
    out[API_BODY_TOO_LARGE] = true; /* of a GET as well: its body is refused by its length */
    if (strcmp(route->method, "POST") == 0)
        out[API_VALIDATION_FAILED] = out[API_IDEMPOTENCY_KEY_REUSED] =
            out[API_IDEMPOTENCY_KEY_IN_USE] = true;
}

static void write_error_example(struct printer *p, enum api_error error)
{
    const struct api_error_row *row = &api_errors[error];
    begin(p, row->code);
    begin(p, "value");
    text(p, "error", row->sentence);
    text(p, "code", row->code);
    js_out_key(&p->out, "status");
    js_out_int(&p->out, row->status);
    end(p);
    end(p);
}

static void write_error(struct printer *p, int status, const bool *errors)
{
    char name[8], sentence[400] = "";
    snprintf(name, sizeof(name), "%d", status);
    for (int i = 1; i < API_ERROR_COUNT; i++)
        if (errors[i] && api_errors[i].status == status)
            snprintf(sentence + strlen(sentence), sizeof(sentence) - strlen(sentence), "%s`%s`",
                     *sentence ? ", " : "", api_errors[i].code);
    begin(p, name);
    text(p, "description", sentence);
    write_headers(p);
    begin(p, "content");
    begin(p, "application/json");
    js_out_key(&p->out, "schema");
    ref(p, "#/components/schemas/Error");
    begin(p, "examples");
    for (int i = 1; i < API_ERROR_COUNT; i++)
        if (errors[i] && api_errors[i].status == status)
            write_error_example(p, (enum api_error)i);
    end(p);
    end(p);
    end(p);
    end(p);
}

static void write_responses(struct printer *p, const struct route *route)
{
    bool errors[API_ERROR_COUNT] = {0};
    collect_errors(route, errors);
    begin(p, "responses");
    write_success(p, route);
    for (int i = 1, last = 0; i < API_ERROR_COUNT; i++) { /* the table is in order of status */
        if (!errors[i] || api_errors[i].status == last)
            continue;
        last = api_errors[i].status;
        write_error(p, last, errors);
    }
    end(p);
}

/* Operations. */

static void write_security(struct printer *p, enum route_auth auth)
{
    static const char *const schemes[][3] = {
        [ROUTE_WORKSPACE] = {"workspaceKey", "session"},
        [ROUTE_EITHER] = {"workspaceKey", "agentKey", "session"},
        [ROUTE_PUBLISHABLE] = {"publishableKey"},
        [ROUTE_MEMBER] = {"session"},
        [ROUTE_SIGN_IN] = {NULL},
        [ROUTE_NONE] = {NULL}};
    js_out_key(&p->out, "security");
    js_out_array(&p->out);
    for (size_t i = 0; i < 3 && schemes[auth][i]; i++) {
        js_out_object(&p->out);
        js_out_key(&p->out, schemes[auth][i]);
        js_out_array(&p->out);
        js_out_array_end(&p->out);
        end(p);
    }
    js_out_array_end(&p->out);
}

static void write_tag(struct printer *p, const char *tag)
{
    js_out_key(&p->out, "tags");
    js_out_array(&p->out);
    js_out_text(&p->out, tag);
    js_out_array_end(&p->out);
}

static void write_operation(struct printer *p, const struct route *route)
{
    char method[8];
    snprintf(method, sizeof(method), "%s", route->method);
    for (char *c = method; *c; c++)
        *c = (char)(*c | 0x20); /* ASCII upper case to lower */
    begin(p, method);
    text(p, "operationId", route->operation);
    text(p, "summary", route->summary);
    write_tag(p, route->tag);
    write_security(p, route->auth);
    write_parameters(p, route);
    write_body(p, route);
    write_responses(p, route);
    end(p);
}

static bool is_first_of_path(const struct printer *p, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(p->routes[i].path, p->routes[index].path) == 0)
            return false;
    return p->routes[index].tag != NULL;
}

static void write_paths(struct printer *p)
{
    begin(p, "paths");
    for (size_t i = 0; i < p->route_count; i++) {
        if (!is_first_of_path(p, i))
            continue;
        begin(p, p->routes[i].path);
        for (size_t j = i; j < p->route_count; j++)
            if (strcmp(p->routes[i].path, p->routes[j].path) == 0)
                write_operation(p, &p->routes[j]);
        end(p);
    }
    end(p);
}

/* Webhooks. */

/* The body that all events share, with the type's own data. */
static void write_event_schema(struct printer *p, enum event_type type)
{
    begin(p, "schema");
    js_out_key(&p->out, "allOf");
    js_out_array(&p->out);
    schema_ref(&p->set, &event_table, SCHEMA_ANSWER, &p->out);
    js_out_object(&p->out);
    begin(p, "properties");
    begin(p, "type");
    text(p, "const", event_type_names[type]);
    end(p);
    js_out_key(&p->out, "data");
    schema_ref(&p->set, event_types[type].data, SCHEMA_ANSWER, &p->out);
    end(p);
    end(p);
    js_out_array_end(&p->out);
    end(p);
}

static void write_event_responses(struct printer *p)
{
    begin(p, "responses");
    begin(p, "2XX");
    text(p, "description", "Received; anything else is tried again after 1, 5 and 15 seconds.");
    end(p);
    begin(p, "4XX");
    text(p, "description", "Not received.");
    end(p);
    end(p);
}

static void write_webhook(struct printer *p, enum event_type type)
{
    char operation[64];
    snprintf(operation, sizeof(operation), "on_%s", event_type_names[type]);
    operation[strcspn(operation, ".")] = '_';
    begin(p, event_type_names[type]);
    begin(p, "post");
    text(p, "operationId", operation);
    text(p, "summary", event_types[type].about);
    write_tag(p, "Webhooks");
    write_security(p, ROUTE_NONE);
    begin(p, "requestBody");
    begin(p, "content");
    begin(p, "application/json");
    write_event_schema(p, type);
    end(p);
    end(p);
    end(p);
    write_event_responses(p);
    end(p);
    end(p);
}

static void write_webhooks(struct printer *p)
{
    begin(p, "webhooks");
    for (int i = 0; i < EVENT_TYPE_COUNT; i++)
        write_webhook(p, (enum event_type)i);
    end(p);
}

/* Components. */

static void write_schemes(struct printer *p)
{
    static const char *const rows[][2] = {
        {"workspaceKey", "A workspace API key (sk_...)."},
        {"agentKey", "The agent's own key (ak_...): that agent and its calls alone."},
        {"publishableKey", "The publishable key (pk_...) of the agent's call button."},
    };
    begin(p, "securitySchemes");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        begin(p, rows[i][0]);
        text(p, "type", "http");
        text(p, "scheme", "bearer");
        text(p, "description", rows[i][1]);
        end(p);
    }
    begin(p, "session");
    text(p, "type", "apiKey");
    text(p, "in", "cookie");
    text(p, "name", "earshot");
    text(p, "description",
         "The session of a member (over TLS `__Host-earshot`), from the studio's pages alone: with "
         "the header "
         "X-Earshot-Studio and, unless it is a GET, the Origin of this service. The member's role "
         "decides. With the header X-Earshot-Member, the id of the member that a page was opened "
         "for, the session of another one is refused: 409 SIGNED_IN_ELSEWHERE.");
    end(p);
    end(p);
}

static void write_shared(struct printer *p)
{
    static const char *const headers[][3] = {
        {"X-Request-Id", "string", "Names this request in the logs."},
        {"RateLimit-Limit", "integer", "Requests a minute."},
        {"RateLimit-Remaining", "integer", "Requests that are left now."},
        {"RateLimit-Reset", "integer", "Seconds until all of them are back."},
    };
    static const char *const sent[][4] = {
        {"IdempotencyKey", "Idempotency-Key",
         "The first answer is kept for 24 hours and given again.", "^[!-~]([ -~]{0,253}[!-~])?$"},
        {"IfMatch", "If-Match",
         "The ETag of the answer that was read: 412 when it was changed since.", NULL},
    };
    begin(p, "headers");
    for (size_t i = 0; i < ARRAY_LEN(headers); i++) {
        begin(p, headers[i][0]);
        text(p, "description", headers[i][2]);
        begin(p, "schema");
        text(p, "type", headers[i][1]);
        end(p);
        end(p);
    }
    end(p);
    begin(p, "parameters");
    for (size_t i = 0; i < ARRAY_LEN(sent); i++) {
        begin(p, sent[i][0]);
        text(p, "name", sent[i][1]);
        text(p, "in", "header");
        text(p, "description", sent[i][2]);
        begin(p, "schema");
        text(p, "type", "string");
        if (sent[i][3])
            text(p, "pattern", sent[i][3]);
        end(p);
        end(p);
    }
    end(p);
}

static void write_error_schema(struct printer *p)
{
    static const char schema[] =
        "{\"type\":\"object\",\"required\":[\"error\",\"code\",\"status\"],\"properties\":{"
        "\"error\":{\"type\":\"string\"},\"code\":{\"type\":\"string\",\"description\":\"Branch on "
        "it.\"},\"status\":{\"type\":\"integer\"},\"details\":{\"type\":\"array\",\"description\":"
        "\"Each fault of a body that failed validation.\",\"items\":{\"type\":\"object\","
        "\"required\":[\"field\",\"message\"],\"properties\":{\"field\":{\"type\":\"string\","
        "\"description\":\"A path such as voice.speed or params[2].key.\"},\"message\":{\"type\":"
        "\"string\"}}}}}}";
    struct js *js = NULL;
    js_out_key(&p->out, "Error");
    if (js_parse(schema, sizeof(schema) - 1, 16, &js, NULL) == OK)
        js_out_js(&p->out, js);
    js_free(js);
}

static void write_components(struct printer *p)
{
    begin(p, "components");
    write_schemes(p);
    write_shared(p);
    begin(p, "schemas");
    write_error_schema(p);
    schema_components(&p->set, &p->out);
    end(p);
    end(p);
}

/* The document. */

static void write_info(struct printer *p, const char *base_url)
{
    text(p, "openapi", "3.1.0");
    begin(p, "info");
    text(p, "title", "Earshot");
    text(p, "version", EARSHOT_VERSION);
    text(p, "description",
         "Voice agents that hold spoken conversations with people. Errors are { error, code, "
         "status } "
         "and branch on code; a failed validation lists every fault in details. Times are UTC, "
         "money "
         "is US dollars.");
    begin(p, "license");
    text(p, "name", "Apache-2.0");
    text(p, "identifier", "Apache-2.0");
    end(p);
    end(p);
    js_out_key(&p->out, "servers");
    js_out_array(&p->out);
    js_out_object(&p->out);
    text(p, "url", base_url);
    end(p);
    js_out_array_end(&p->out);
}

static void write_tags(struct printer *p)
{
    static const char *const tags[][2] = {
        {"Workspace and catalog", "Whose key this is, and what can be chosen."},
        {"Agents", "Saved configurations of voice, model, recognition, instructions and tools."},
        {"Tools", "HTTP endpoints of yours that agents call."},
        {"Knowledge", "Documents that agents answer from."},
        {"Calls", "Conversations between an agent and a person."},
        {"Webhooks", "Events about calls, sent to your endpoints."},
        {"Call button", "Calls from web pages, by the publishable key."},
        {"Studio", "Members, their sessions, and the keys that they make; for the studio's pages."},
    };
    js_out_key(&p->out, "tags");
    js_out_array(&p->out);
    for (size_t i = 0; i < ARRAY_LEN(tags); i++) {
        js_out_object(&p->out);
        text(p, "name", tags[i][0]);
        text(p, "description", tags[i][1]);
        end(p);
    }
    js_out_array_end(&p->out);
}

void openapi_write(const struct route *rows, size_t count, const char *base_url, struct buf *out)
{
    struct printer printer = {.routes = rows, .route_count = count}, *p = &printer;
    js_out_init(&p->out, out);
    js_out_object(&p->out);
    write_info(p, base_url);
    write_tags(p);
    write_paths(p);
    write_webhooks(p);
    write_components(p);
    end(p);
}

void openapi_get(struct request *request)
{
    struct api *api = request->api;
    struct buf *document = &api->openapi;
    if (document->len == 0)
        openapi_write(api->routes, api->route_count, request->deps->public_url, document);
    request_answer_as(request, 200, "application/json");
    (void)buf_append(&request->answer.body, document->data, document->len);
}
