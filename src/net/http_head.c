#include "net/http_head.h"

#include <string.h>
#include <strings.h>

#include <http_parser.h>

#include "base/arena.h"

enum {
    CONTENT_LENGTH_DIGITS = 15, /* a petabyte: more digits are an attack */
    METHOD_MAX_BYTES = 32,
};

/* What the parser's callbacks fill. */
struct reading {
    struct arena *arena;
    const struct http_limits *limits;
    struct http_head *head;
    const char *line; /* the request line: the first byte of the head */
    const char *url;
    size_t url_len;
    struct http_header *current; /* its value is still to come */
    int status;
    const char *reason;
};

static int refuse(struct reading *reading, int status, const char *reason)
{
    reading->status = status;
    reading->reason = reason;
    return 1; /* stops the parser */
}

enum err http_head_find(const char *data, size_t len, const struct http_limits *limits,
                        size_t *scanned, size_t *out_len, int *out_status)
{
    size_t at = *scanned;
    bool in_first_line = memchr(data, '\n', at) == NULL;
    *out_status = 0;
    for (; at < len; at++) {
        char c = data[at];
        if (in_first_line && at >= limits->max_line_bytes)
            return *out_status = 414, OK;
        if (at >= limits->max_head_bytes)
            return *out_status = 431, OK;
        if (c == '\0' || (c == '\n' && (at == 0 || data[at - 1] != '\r')) ||
            (c != '\n' && at > 0 && data[at - 1] == '\r'))
            return *out_status = 400, OK;
        if (c != '\n')
            continue;
        in_first_line = false;
        if (at >= 3 && data[at - 2] == '\n') {
            *out_len = at + 1;
            return OK;
        }
    }
    *scanned = at;
    return ERR_AGAIN;
}

static int on_url(http_parser *parser, const char *at, size_t len)
{
    struct reading *reading = parser->data;
    reading->url = at;
    reading->url_len = len;
    return 0;
}

static bool is_token(const char *text, size_t len)
{
    static const char others[] = "!#$%&'*+-.^_`|~";
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!is_plain && (c == '\0' || !strchr(others, c)))
            return false;
    }
    return len > 0;
}

static int on_field(http_parser *parser, const char *at, size_t len)
{
    struct reading *reading = parser->data;
    struct http_head *head = reading->head;
    if (reading->current)
        return refuse(reading, 400, "a header has no value");
    if (head->header_count == reading->limits->max_headers)
        return refuse(reading, 431, "too many headers");
    if (!is_token(at, len))
        return refuse(reading, 400, "a header's name has a character no name has");
    reading->current = &head->headers[head->header_count++];
    reading->current->name = arena_strndup(reading->arena, at, len);
    return 0;
}

static int on_value(http_parser *parser, const char *at, size_t len)
{
    struct reading *reading = parser->data;
    if (!reading->current)
        return refuse(reading, 400, "folded headers are refused");
    for (size_t i = 0; i < len; i++)
        if (((unsigned char)at[i] < ' ' && at[i] != '\t') || at[i] == 0x7f)
            return refuse(reading, 400, "a header's value has a control byte");
    while (len > 0 && (at[len - 1] == ' ' || at[len - 1] == '\t'))
        len--;
    reading->current->value = arena_strndup(reading->arena, at, len);
    reading->current = NULL;
    return 0;
}

static size_t count_headers(const struct http_head *head, const char *name, const char **out_value)
{
    size_t count = 0;
    for (size_t i = 0; i < head->header_count; i++) {
        if (strcasecmp(head->headers[i].name, name) != 0)
            continue;
        *out_value = head->headers[i].value;
        count++;
    }
    return count;
}

static int check_lengths(struct reading *reading)
{
    struct http_head *head = reading->head;
    const char *length = NULL, *coding = NULL;
    size_t lengths = count_headers(head, "Content-Length", &length);
    size_t codings = count_headers(head, "Transfer-Encoding", &coding);
    head->content_length = -1;
    if (lengths > 1 || codings > 1 || (lengths && codings))
        return refuse(reading, 400, "the body's length is declared twice");
    if (codings && head->is_http10)
        return refuse(reading, 400, "HTTP/1.0 knows no Transfer-Encoding");
    if (codings && strcasecmp(coding, "chunked") != 0)
        return refuse(reading, 501, "of the transfer codings only chunked is served");
    head->is_chunked = codings > 0;
    if (!lengths)
        return 0;
    size_t digits = strspn(length, "0123456789");
    if (digits == 0 || length[digits] || digits > CONTENT_LENGTH_DIGITS)
        return refuse(reading, 400, "Content-Length is no number");
    head->content_length = 0;
    for (size_t i = 0; i < digits; i++)
        head->content_length = head->content_length * 10 + (length[i] - '0');
    return 0;
}

static int check_host(struct reading *reading)
{
    const char *host = NULL;
    size_t count = count_headers(reading->head, "Host", &host);
    if (count > 1 || (count == 0 && !reading->head->is_http10))
        return refuse(reading, 400, "exactly one Host header is needed");
    if (host && strpbrk(host, "/\\?#@, \t"))
        return refuse(reading, 400, "the Host header is no host");
    return 0;
}

static int check_expectation(struct reading *reading)
{
    struct http_head *head = reading->head;
    const char *expect = http_header_find(head->headers, head->header_count, "Expect");
    if (!expect || head->is_http10)
        return 0;
    if (strcasecmp(expect, "100-continue") != 0)
        return refuse(reading, 417, "the only expectation that is served is 100-continue");
    head->expects_continue = true;
    return 0;
}

/* The parser takes several spaces between method, target and version. */
static int check_spaces(struct reading *reading)
{
    size_t method_len = strlen(reading->head->method);
    if (reading->url == reading->line + method_len + 1 &&
        strncmp(reading->url + reading->url_len, " HTTP/", 6) == 0)
        return 0;
    return refuse(reading, 400, "the request line is malformed");
}

/* "/path?query", "http://host/path?query" or, for OPTIONS, "*". */
static int take_target(struct reading *reading)
{
    struct http_head *head = reading->head;
    char *target = arena_strndup(reading->arena, reading->url, reading->url_len);
    for (const char *p = target; *p; p++)
        if (*p <= ' ' || *p == 0x7f || *p == '#' || (unsigned char)*p >= 0x80)
            return refuse(reading, 400, "the request's target has a byte no target has");
    const char *path = target;
    if (strncasecmp(path, "http://", 7) == 0 || strncasecmp(path, "https://", 8) == 0) {
        path = strstr(path, "//") + 2;
        path += strcspn(path, "/?");
    }
    size_t path_len = strcspn(path, "?");
    bool is_star = strcmp(path, "*") == 0 && strcmp(head->method, "OPTIONS") == 0;
    if (path[0] != '/' && !is_star && path == target)
        return refuse(reading, 400, "the request's target is no path");
    head->target = target;
    head->path = path_len ? arena_strndup(reading->arena, path, path_len) : "/";
    head->query = path[path_len] == '?' ? path + path_len + 1 : NULL;
    return 0;
}

static int on_headers_complete(http_parser *parser)
{
    struct reading *reading = parser->data;
    struct http_head *head = reading->head;
    if (parser->http_major != 1 || parser->http_minor > 1)
        return refuse(reading, 505, "only HTTP/1.0 and HTTP/1.1 are served");
    head->is_http10 = parser->http_minor == 0;
    int refused = check_spaces(reading);
    refused = refused ? refused : check_host(reading);
    refused = refused ? refused : check_lengths(reading);
    refused = refused ? refused : check_expectation(reading);
    refused = refused ? refused : take_target(reading);
    if (refused)
        return -1; /* 1 and 2 mean other things here */
    const char *connection = http_header_find(head->headers, head->header_count, "Connection");
    head->keeps_alive = head->is_http10 ? http_list_has(connection, "keep-alive")
                                        : !http_list_has(connection, "close");
    head->wants_upgrade = !head->is_http10 && http_list_has(connection, "upgrade");
    return 0;
}

static const http_parser_settings callbacks = {
    .on_url = on_url,
    .on_header_field = on_field,
    .on_header_value = on_value,
    .on_headers_complete = on_headers_complete,
};

/* The parser takes a line that begins with a space as part of the header before. */
static bool has_folded_line(const char *data, size_t len)
{
    for (size_t i = 1; i < len; i++)
        if (data[i - 1] == '\n' && (data[i] == ' ' || data[i] == '\t'))
            return true;
    return false;
}

static int status_of(enum http_errno error, const char **out_reason)
{
    switch (error) {
    case HPE_INVALID_VERSION:
        *out_reason = "only HTTP/1.0 and HTTP/1.1 are served";
        return 505;
    case HPE_HEADER_OVERFLOW:
        *out_reason = "the headers are too long";
        return 431;
    default:
        *out_reason = "the request is malformed";
        return 400;
    }
}

/* Any token is a method (RFC 9110 section 9.1): whether a path takes it is its owner's to say, and
 * a method that nobody knows is refused like one that this path does not know. The parser, which
 * has a list of its own, reads another word in its place. */
static const char any_method[] = "GET";

static size_t read_method(struct arena *arena, const char *data, size_t len, struct http_head *out)
{
    const char *space = memchr(data, ' ', len);
    size_t method_len = space ? (size_t)(space - data) : 0;
    if (method_len == 0 || method_len > METHOD_MAX_BYTES || !is_token(data, method_len))
        return 0;
    out->method = arena_strndup(arena, data, method_len);
    return method_len;
}

int http_head_parse(struct arena *arena, const char *data, size_t len,
                    const struct http_limits *limits, struct http_head *out,
                    const char **out_reason)
{
    *out = (struct http_head){.content_length = -1};
    struct reading reading = {.arena = arena, .limits = limits, .head = out, .line = data};
    if (has_folded_line(data, len)) {
        *out_reason = "folded headers are refused";
        return 400;
    }
    size_t method_len = read_method(arena, data, len, out);
    if (method_len == 0) {
        *out_reason = "the request line is malformed";
        return 400;
    }
    out->headers = arena_new_n(arena, struct http_header, limits->max_headers);
    http_parser parser;
    http_parser_init(&parser, HTTP_REQUEST);
    parser.data = &reading;
    (void)http_parser_execute(&parser, &callbacks, any_method, sizeof(any_method) - 1);
    size_t parsed =
        method_len + http_parser_execute(&parser, &callbacks, data + method_len, len - method_len);
    if (reading.status) {
        *out_reason = reading.reason;
        return reading.status;
    }
    enum http_errno error = HTTP_PARSER_ERRNO(&parser);
    if (error != HPE_OK)
        return status_of(error, out_reason);
    if (parsed != len || !out->target) {
        *out_reason = "the request is malformed";
        return 400;
    }
    return 0;
}
