#include "tool/request.h"

#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/crypto.h"
#include "base/js.h"
#include "base/utf8.h"
#include "model/header.h"
#include "model/tool.h"
#include "net/url.h"
#include "tool/segment.h"

enum {
    BODY_MAX_BYTES = 1024 * 1024,
    HEADER_MAX_BYTES = 16 * 1024,
    NAME_MAX_BYTES = 128, /* of a placeholder: params[].key */
    ARGUMENT_SHOWN_CHARS = 300,
    ARGUMENTS_MAX_BYTES = 128 * 1024, /* 50 of them, each escaped to six bytes a character */
};

static const char test_header[] = "X-Service-Test-Call";

/* How a value is written where it is filled in. */
enum escape { ESCAPE_NONE, ESCAPE_PERCENT, ESCAPE_JSON };

struct filling {
    struct arena *arena;
    const struct tool_run_input *input;
};

static const char *find_variable(const struct tool_run_input *input, const char *name)
{
    for (size_t i = 0; i < input->variable_count; i++)
        if (strcmp(input->variables[i].name, name) == 0)
            return input->variables[i].value;
    return NULL;
}

/* Arguments are sent as strings, whatever the model made of them. */
static const char *text_of(struct arena *arena, const struct js *value)
{
    if (js_type(value) == JS_STRING)
        return js_text(value);
    AUTO_BUF text = BUF_INIT(BODY_MAX_BYTES);
    js_write(value, &text);
    return arena_strndup(arena, text.data ? text.data : "", text.len);
}

static const char *find_param(const struct filling *filling, const char *name)
{
    const struct tool *tool = filling->input->tool;
    for (size_t i = 0; i < tool->params.count; i++) {
        if (strcmp(tool->params.items[i].key, name) != 0)
            continue;
        const struct js *argument = js_get(filling->input->arguments, name);
        return js_type(argument) == JS_NULL ? tool->params.items[i].value
                                            : text_of(filling->arena, argument);
    }
    return "";
}

/* What the call says wins over what the model says; what nobody says is empty. */
static const char *value_of(const struct filling *filling, const char *name)
{
    const struct tool_run_input *input = filling->input;
    const char *value = NULL;
    if (strcmp(name, "call_id") == 0)
        value = input->call_id ? input->call_id : "";
    else if (strcmp(name, "agent_id") == 0)
        value = input->agent_id ? input->agent_id : "";
    else
        value = find_variable(input, name);
    if (!value)
        value = find_param(filling, name);
    return value ? value : "";
}

/* The string as JSON writes it, without its quotes. */
static void append_json(const char *value, struct buf *out)
{
    AUTO_BUF quoted = BUF_INIT(6 * BODY_MAX_BYTES);
    struct js_out json;
    js_out_init(&json, &quoted);
    js_out_text(&json, value);
    if (quoted.len >= 2)
        buf_append(out, quoted.data + 1, quoted.len - 2);
}

static void append_value(const char *value, enum escape escape, struct buf *out)
{
    switch (escape) {
    case ESCAPE_NONE:
        buf_append_str(out, value);
        return;
    case ESCAPE_PERCENT:
        url_encode(value, strlen(value), out);
        return;
    case ESCAPE_JSON:
        append_json(value, out);
        return;
    }
}

/* "{{ name }}" at text: its name, and its length in *out_len; NULL: no placeholder stands here. */
static const char *read_placeholder(struct arena *arena, const char *text, size_t *out_len)
{
    if (strncmp(text, "{{", 2) != 0)
        return NULL;
    const char *start = text + 2 + strspn(text + 2, " \t");
    const char *end = strstr(start, "}}");
    if (!end || end - start > NAME_MAX_BYTES || memchr(start, '{', (size_t)(end - start)))
        return NULL;
    size_t len = (size_t)(end - start);
    while (len > 0 && (start[len - 1] == ' ' || start[len - 1] == '\t'))
        len--;
    *out_len = (size_t)(end + 2 - text);
    return len > 0 ? arena_strndup(arena, start, len) : NULL;
}

/* Values are put in once: what looks like a placeholder inside a value stays as it is. */
static enum err fill(const struct filling *filling, const char *text, enum escape escape,
                     struct buf *out)
{
    while (*text && !out->is_full) {
        size_t plain = strcspn(text, "{"), len;
        buf_append(out, text, plain);
        text += plain;
        if (!*text)
            break;
        const char *name = read_placeholder(filling->arena, text, &len);
        if (!name) {
            buf_append_char(out, *text++);
            continue;
        }
        append_value(value_of(filling, name), escape, out);
        text += len;
    }
    return out->is_full ? ERR_LIMIT : OK;
}

static bool is_param(const struct filling *filling, const char *name)
{
    const struct tool *tool = filling->input->tool;
    for (size_t i = 0; i < tool->params.count; i++)
        if (strcmp(tool->params.items[i].key, name) == 0)
            return true;
    return false;
}

/* A segment of the path that is being written. */
struct open_segment {
    size_t start;
    bool has_value; /* something was filled in */
    bool is_given;  /* by an argument or a variable, so that nothing in it is no accident of ours */
};

static enum err close_segment(struct open_segment *segment, const struct buf *url,
                              struct fault *fault)
{
    size_t len = url->len - segment->start;
    const struct open_segment closed = *segment;
    *segment = (struct open_segment){.start = url->len + 1};
    if (!closed.has_value || (len == 0 && !closed.is_given) ||
        segment_is_one(url->data + closed.start, len))
        return OK;
    return fault_set(fault, ERR_INVALID, "an argument would lead to another path of the URL");
}

static const char *path_of(const char *url)
{
    const char *host = strstr(url, "://");
    return host ? host + 3 + strcspn(host + 3, "/?") : url + strlen(url);
}

/* As fill(), but the path keeps the segments that the template gives it. */
static enum err fill_url(const struct filling *filling, const char *template, struct buf *url,
                         struct fault *fault)
{
    const char *path = path_of(template);
    struct open_segment segment = {0};
    bool has_ended = false; /* the path has */
    for (const char *at = template; *at && !url->is_full;) {
        size_t len = 1;
        const char *name = read_placeholder(filling->arena, at, &len);
        bool in_path = at >= path && !has_ended;
        if (name) {
            append_value(value_of(filling, name), ESCAPE_PERCENT, url);
            segment.has_value |= in_path;
            segment.is_given |= is_param(filling, name) || find_variable(filling->input, name);
        } else if (in_path && (*at == '/' || *at == '?')) {
            enum err err = at == path ? OK : close_segment(&segment, url, fault);
            if (err)
                return err;
            segment.start = url->len + 1;
            has_ended = *at == '?';
        }
        if (!name)
            buf_append_char(url, *at);
        at += len;
    }
    return has_ended || url->is_full ? OK : close_segment(&segment, url, fault);
}

static enum err make_url(const struct filling *filling, struct tool_request *out,
                         struct fault *fault)
{
    const struct tool *tool = filling->input->tool;
    AUTO_BUF url = BUF_INIT(URL_MAX);
    const char *template = arena_strndup(filling->arena, tool->url, strcspn(tool->url, "#"));
    enum err err = fill_url(filling, template, &url, fault);
    if (err)
        return err;
    bool has_query = url.data && strchr(url.data, '?');
    for (size_t i = 0; tool->method == TOOL_GET && i < tool->params.count && !url.is_full; i++) {
        const char *key = tool->params.items[i].key;
        const char *value = value_of(filling, key);
        bool is_open = url.len > 0 && strchr("?&", url.data[url.len - 1]);
        if (!is_open)
            buf_append_char(&url, has_query ? '&' : '?');
        has_query = true;
        url_encode(key, strlen(key), &url);
        buf_append_char(&url, '=');
        url_encode(value, strlen(value), &url);
    }
    if (url.is_full)
        return fault_set(fault, ERR_LIMIT, "the URL is longer than %d bytes", URL_MAX);
    out->url = arena_strndup(filling->arena, url.data ? url.data : "", url.len);
    return OK;
}

/* Saving refuses reserved names as well; here stand those that were saved before it did. */
static enum err check_name(const char *name, struct fault *fault)
{
    if (header_name_is_reserved(name))
        return fault_set(fault, ERR_INVALID,
                         "the header %.60s belongs to the connection or to the service", name);
    return OK;
}

/* The last one of a name wins: credentials are added after the user's headers. */
static enum err add_header(struct tool_request *request, const char *name, const char *value,
                           struct fault *fault)
{
    if (!header_name_is_token(name))
        return fault_set(fault, ERR_INVALID, "a header's name is no header name");
    if (strpbrk(value, "\r\n"))
        return fault_set(fault, ERR_INVALID, "the value of the header %.60s holds a line break",
                         name);
    for (size_t i = 0; i < request->header_count; i++)
        if (strcasecmp(request->headers[i].name, name) == 0) {
            request->headers[i].value = value;
            return OK;
        }
    request->headers[request->header_count++] = (struct http_header){name, value};
    return OK;
}

static enum err add_own_headers(const struct filling *filling, struct tool_request *out,
                                struct fault *fault)
{
    const struct tool *tool = filling->input->tool;
    for (size_t i = 0; i < tool->headers.count; i++) {
        AUTO_BUF value = BUF_INIT(HEADER_MAX_BYTES);
        enum err err = check_name(tool->headers.items[i].key, fault);
        if (err)
            return err;
        if (fill(filling, tool->headers.items[i].value, ESCAPE_NONE, &value) != OK)
            return fault_set(fault, ERR_LIMIT, "a header is longer than %d bytes",
                             HEADER_MAX_BYTES);
        const char *text = arena_strndup(filling->arena, value.data ? value.data : "", value.len);
        err = add_header(out, tool->headers.items[i].key, text, fault);
        if (err)
            return err;
    }
    return OK;
}

static const char *basic_credentials(struct arena *arena, const char *username, const char *token)
{
    AUTO_BUF plain = BUF_INIT(HEADER_MAX_BYTES);
    AUTO_BUF encoded = BUF_INIT(2 * HEADER_MAX_BYTES);
    buf_printf(&plain, "%s:%s", username ? username : "", token);
    base64_encode(plain.data, plain.len, &encoded);
    return arena_printf(arena, "Basic %s", encoded.data ? encoded.data : "");
}

static enum err add_credentials(const struct filling *filling, struct tool_request *out,
                                struct fault *fault)
{
    const struct tool *tool = filling->input->tool;
    const char *given = tool->auth_key_header;
    const char *key_header = given && given[0] ? given : "X-API-Key";
    const char *token = tool->auth_token ? tool->auth_token : "";
    switch (tool->auth) {
    case TOOL_AUTH_BEARER:
        return add_header(out, "Authorization", arena_printf(filling->arena, "Bearer %s", token),
                          fault);
    case TOOL_AUTH_API_KEY:
        return check_name(key_header, fault) ? ERR_INVALID
                                             : add_header(out, key_header, token, fault);
    case TOOL_AUTH_BASIC:
        return add_header(out, "Authorization",
                          basic_credentials(filling->arena, tool->auth_username, token), fault);
    case TOOL_AUTH_NONE:
    case TOOL_AUTH_COUNT:
        break;
    }
    return OK;
}

static const char *content_type(const struct tool_request *request)
{
    for (size_t i = 0; i < request->header_count; i++)
        if (strcasecmp(request->headers[i].name, "Content-Type") == 0)
            return request->headers[i].value;
    return NULL;
}

static enum escape escape_for(const char *type)
{
    size_t len = strcspn(type, "; \t");
    if (len == 16 && strncasecmp(type, "application/json", 16) == 0)
        return ESCAPE_JSON;
    if (len > 5 && strncasecmp(type + len - 5, "+json", 5) == 0)
        return ESCAPE_JSON;
    if (len == 33 && strncasecmp(type, "application/x-www-form-urlencoded", 33) == 0)
        return ESCAPE_PERCENT;
    return ESCAPE_NONE;
}

static void write_params(const struct filling *filling, struct buf *out)
{
    const struct tool *tool = filling->input->tool;
    struct js_out json;
    js_out_init(&json, out);
    js_out_object(&json);
    for (size_t i = 0; i < tool->params.count; i++) {
        js_out_key(&json, tool->params.items[i].key);
        js_out_text(&json, value_of(filling, tool->params.items[i].key));
    }
    js_out_object_end(&json);
}

static enum err make_body(const struct filling *filling, struct tool_request *out,
                          struct fault *fault)
{
    const struct tool *tool = filling->input->tool;
    bool has_template = tool->body && tool->body[0];
    AUTO_BUF body = BUF_INIT(BODY_MAX_BYTES);
    if (!content_type(out)) {
        enum err err = add_header(out, "Content-Type", "application/json", fault);
        if (err)
            return err;
    }
    if (has_template)
        fill(filling, tool->body, escape_for(content_type(out)), &body);
    else
        write_params(filling, &body);
    if (body.is_full)
        return fault_set(fault, ERR_LIMIT, "the body is longer than %d bytes", BODY_MAX_BYTES);
    out->body = arena_strndup(filling->arena, body.data ? body.data : "", body.len);
    out->body_len = body.len;
    return OK;
}

static size_t shown_bytes(const char *value)
{
    size_t len = strlen(value), at = 0;
    for (int chars = 0; chars < ARGUMENT_SHOWN_CHARS && at < len; chars++)
        at += MAX(utf8_decode(value + at, len - at, NULL), (size_t)1);
    return at;
}

const char *tool_request_arguments(struct arena *arena, const struct tool_run_input *input)
{
    const struct filling filling = {arena, input};
    const struct tool *tool = input->tool;
    AUTO_BUF text = BUF_INIT(ARGUMENTS_MAX_BYTES);
    struct js_out json;
    js_out_init(&json, &text);
    js_out_object(&json);
    for (size_t i = 0; i < tool->params.count; i++) {
        const char *value = value_of(&filling, tool->params.items[i].key);
        js_out_key(&json, tool->params.items[i].key);
        js_out_text(&json, arena_strndup(arena, value, shown_bytes(value)));
    }
    js_out_object_end(&json);
    return text.is_full ? "{}" : arena_strndup(arena, text.data, text.len);
}

enum err tool_request_make(struct arena *arena, const struct tool_run_input *input,
                           struct tool_request *out, struct fault *fault)
{
    const struct tool *tool = input->tool;
    const struct filling filling = {arena, input};
    struct tool_request request = {.method = tool->method == TOOL_POST ? "POST" : "GET"};
    /* Beside the user's: Content-Type, credentials, the test header. */
    request.headers = arena_new_n(arena, struct http_header, tool->headers.count + 3);
    enum err err = make_url(&filling, &request, fault);
    if (!err)
        err = add_own_headers(&filling, &request, fault);
    if (!err && tool->method == TOOL_POST)
        err = make_body(&filling, &request, fault);
    if (!err)
        err = add_credentials(&filling, &request, fault);
    if (!err && input->is_test)
        err = add_header(&request, test_header, "true", fault);
    if (!err)
        *out = request;
    return err;
}
