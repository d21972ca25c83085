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
#include "tool/secrets.h"

enum {
    STATUS_UNREACHABLE = 502, /* contract, Test a tool */
    STATUS_TIMED_OUT = 504,
    TIMEOUT_STANDARD_MS = 10000,
    SECRET_MAX_BYTES = 4000 * 12, /* contract, Bounds; all escaped. One may stand across the cut */
};

struct tool_run {
    struct arena *arena; /* the request's and the result's */
    struct tool_secrets secrets;
    struct http_fetch *fetch;
    tool_done_fn *on_done;
    void *arg;
};

static void free_run(struct tool_run *run)
{
    arena_free(run->arena);
    mem_free(run);
}

static bool ends_at(const char *text, size_t at, const char *mark)
{
    size_t len = strlen(mark);
    return at >= len && memcmp(text + at - len, mark, len) == 0;
}

/* Where a text of `len` bytes that goes on is best cut: after a line, an object, a sentence, a
 * value, a word, the nearest in its last quarter; else there. */
static size_t sensible_end(const char *text, size_t len)
{
    static const char *const marks[] = {
        "\n", "},", "],", "; ", ". ", "? ", "! ", "\xe0\xa5\xa4" /* danda */, ",", " "};
    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        for (size_t at = len; at > len - len / 4; at--)
            if (ends_at(text, at, marks[i]))
                return at;
    return len;
}

static size_t bytes_of(const char *text, size_t len, size_t chars)
{
    size_t at = 0;
    while (chars-- > 0 && at < len)
        at += MAX(utf8_decode(text + at, len - at, NULL), (size_t)1);
    return at;
}

/* The first TOOL_MODEL_TEXT_CHARS code points, as UTF-8 whatever came. */
static const char *cut_for_model(struct tool_run *run, const char *body, size_t len)
{
    static const char left_out[] = " [the rest is left out]";
    AUTO_BUF shown = BUF_INIT(2 * TOOL_BODY_MAX_BYTES);
    AUTO_BUF clean = BUF_INIT(6 * TOOL_BODY_MAX_BYTES + 3);
    size_t most = (size_t)TOOL_MODEL_TEXT_CHARS * 4 + SECRET_MAX_BYTES;
    tool_secrets_hide(&run->secrets, body, MIN(len, most), &shown);
    if (shown.len)
        utf8_append_clean(&clean, shown.data, shown.len);
    const char *text = clean.data ? clean.data : "";
    if (bytes_of(text, clean.len, TOOL_MODEL_TEXT_CHARS) == clean.len && len <= most)
        return arena_strndup(run->arena, text, clean.len);
    size_t at = bytes_of(text, clean.len, TOOL_MODEL_TEXT_CHARS - (sizeof(left_out) - 1));
    at = sensible_end(text, at);
    while (at > 0 && strchr(" \r\n", text[at - 1]))
        at--;
    return arena_printf(run->arena, "%.*s%s", (int)at, text, left_out);
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
        .model_text = has_answer ? cut_for_model(run, answer->body, answer->body_len) : "",
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
    tool_secrets_gather(run->arena, input->tool, &made, &run->secrets);
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
