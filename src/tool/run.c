#include "tool/run.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/js.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "model/tool.h"
#include "net/http_client.h"
#include "tool/request.h"

enum {
    STATUS_UNREACHABLE = 502, /* contract, Test a tool */
    STATUS_TIMED_OUT = 504,
    JSON_DEPTH_MAX = 64,
    TIMEOUT_STANDARD_MS = 10000,
};

struct tool_run {
    struct arena *arena; /* the request's and the result's */
    struct http_fetch *fetch;
    tool_done_fn *on_done;
    void *arg;
};

static void free_run(struct tool_run *run)
{
    arena_free(run->arena);
    mem_free(run);
}

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

/* The first TOOL_MODEL_TEXT_CHARS code points, as UTF-8 whatever came. */
static const char *cut_for_model(struct arena *arena, const char *body, size_t len)
{
    AUTO_BUF clean = BUF_INIT(3 * TOOL_BODY_MAX_BYTES + 3);
    utf8_append_clean(&clean, body, MIN(len, (size_t)TOOL_MODEL_TEXT_CHARS * 4));
    const char *text = clean.data ? clean.data : "";
    size_t at = 0;
    for (int chars = 0; chars < TOOL_MODEL_TEXT_CHARS && at < clean.len; chars++)
        at += MAX(utf8_decode(text + at, clean.len - at, NULL), (size_t)1);
    return arena_strndup(arena, text, at);
}

static int status_of(const struct http_fetch_result *answer)
{
    if (answer->fault.err == ERR_TIMEOUT)
        return STATUS_TIMED_OUT;
    return answer->fault.err || answer->status == 0 ? STATUS_UNREACHABLE : answer->status;
}

static const char *error_of(struct arena *arena, const struct http_fetch_result *answer)
{
    if (answer->fault.err)
        return arena_strdup(arena, answer->fault.text);
    if (answer->status < 200 || answer->status > 299)
        return arena_printf(arena, "the endpoint answered %d", answer->status);
    return NULL;
}

static void on_answer(void *arg, const struct http_fetch_result *answer)
{
    struct tool_run *run = arg;
    bool has_answer = !answer->fault.err;
    const struct tool_result result = {
        .is_success = has_answer && answer->status >= 200 && answer->status <= 299,
        .status = status_of(answer),
        .latency_ms = answer->latency_us / 1000,
        .body = has_answer ? answer->body : NULL,
        .body_len = has_answer ? answer->body_len : 0,
        .is_cut = answer->is_cut,
        .headers = answer->headers,
        .header_count = has_answer ? answer->header_count : 0,
        .model_text = has_answer ? cut_for_model(run->arena, answer->body, answer->body_len) : "",
        .error = error_of(run->arena, answer),
    };
    run->on_done(run->arg, &result);
    free_run(run);
}

struct tool_run *tool_run_start(struct http_client *client, const struct tool_run_input *input,
                                tool_done_fn *on_done, void *arg)
{
    const struct http_fetch_fns fns = {NULL, on_answer};
    struct tool_run *run = mem_new(struct tool_run);
    struct tool_request made = {0};
    int64_t timeout_ms = input->tool->timeout_ms ? input->tool->timeout_ms : TIMEOUT_STANDARD_MS;
    run->arena = arena_new(0);
    run->on_done = on_done;
    run->arg = arg;
    struct http_fetch_request request = {
        .timeout_ms = MIN(timeout_ms, (int64_t)TOOL_TIMEOUT_MAX_MS),
        .max_body_bytes = TOOL_BODY_MAX_BYTES,
        .cut_body = true,
        .wants_headers = true,
        .tenant = input->workspace_id,
    };
    request.connect_ms = request.timeout_ms;
    enum err err = tool_request_make(run->arena, input, &made, &request.refused);
    request.refused.err = err;
    request.method = err ? "GET" : made.method;
    request.url = err ? "" : made.url;
    request.headers = made.headers;
    request.header_count = made.header_count;
    request.body = made.body;
    request.body_len = made.body_len;
    run->fetch = http_fetch_start(client, &request, &fns, run);
    return run;
}

void tool_run_cancel(struct tool_run *run)
{
    if (!run)
        return;
    http_fetch_cancel(run->fetch);
    free_run(run);
}
