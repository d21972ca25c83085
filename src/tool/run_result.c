/* The result of a run, read and copied; run.h says what for. */
#include <string.h>

#include "base/arena.h"
#include "base/js.h"
#include "net/http_client.h"
#include "tool/run.h"

enum { JSON_DEPTH_MAX = 64 };

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

/* What came more than once is joined, as RFC 9110 section 5.2 allows. */
struct js *tool_result_headers(const struct tool_result *result)
{
    AUTO(arena) arena = arena_new(0);
    struct js *headers = js_object();
    for (size_t i = 0; i < result->header_count; i++) {
        char *name = arena_strdup(arena, result->headers[i].name);
        for (char *p = name; *p; p++)
            *p = lower(*p);
        const char *before = js_text(js_get(headers, name));
        const char *value = result->headers[i].value;
        js_set(headers, name,
               js_string(before ? arena_printf(arena, "%s, %s", before, value) : value));
    }
    return headers;
}

struct js *tool_result_data(const struct tool_result *result)
{
    struct js *data;
    if (!result->body)
        return NULL;
    if (!result->is_cut && result->body_len > 0 &&
        js_parse(result->body, result->body_len, JSON_DEPTH_MAX, &data, NULL) == OK)
        return data;
    return js_string_n(result->body, result->body_len);
}

void tool_result_copy(struct arena *arena, const struct tool_result *from, struct tool_result *out)
{
    struct http_header *headers = arena_new_n(arena, struct http_header, from->header_count);
    *out = *from;
    for (size_t i = 0; i < from->header_count; i++)
        headers[i] = (struct http_header){arena_strdup(arena, from->headers[i].name),
                                          arena_strdup(arena, from->headers[i].value)};
    out->headers = headers;
    if (from->body) {
        char *body = arena_alloc(arena, from->body_len + 1);
        memcpy(body, from->body, from->body_len);
        out->body = body;
    }
    out->model_text = arena_strdup(arena, from->model_text);
    out->error = arena_strdup(arena, from->error);
}
