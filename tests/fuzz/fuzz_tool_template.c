/* The URL, headers and body templates of a tool with the model's arguments: a header never breaks
 * its line, JSON templates stay JSON, the guard's view of the URL holds. The input is the template,
 * a NUL, then the value. */
#include "fuzz.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "base/js.h"
#include "base/utf8.h"
#include "model/tool.h"
#include "net/url.h"
#include "tool/request.h"

enum { INPUT_MAX_BYTES = 4096 };

static void run(const char *template, const char *value, enum tool_method method, const char *type)
{
    struct tool_pair param = {"x", "default"};
    struct tool_pair headers[] = {{"Content-Type", type}, {"X-Filled", template}};
    const struct tool_name_value variable = {"v", value};
    const struct tool tool = {.method = method,
                              .url = template,
                              .params = {&param, 1},
                              .headers = {headers, 2},
                              .body = "{\"a\":\"{{x}}\",\"b\":\"{{v}}\"}"};
    AUTO(js) arguments = js_object();
    AUTO(arena) arena = arena_new(0);
    js_set(arguments, "x", js_string(value));
    const struct tool_run_input input = {
        .tool = &tool, .arguments = arguments, .variables = &variable, .variable_count = 1};
    struct tool_request request;
    if (tool_request_make(arena, &input, &request, NULL) != OK)
        return;
    for (size_t i = 0; i < request.header_count; i++)
        assert(!strpbrk(request.headers[i].value, "\r\n"));
    if (method == TOOL_GET || !strstr(type, "json") || !utf8_is_valid(value, strlen(value)))
        return;
    AUTO(js) body = NULL;
    assert(js_parse(request.body, request.body_len, 4, &body, NULL) == OK);
    assert(strcmp(js_text(js_get(body, "a")), value) == 0);
    assert(strcmp(js_text(js_get(body, "b")), value) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[INPUT_MAX_BYTES + 2] = {0};
    size = MIN(size, (size_t)INPUT_MAX_BYTES);
    memcpy(text, data, size);
    const char *value = text + strlen(text) + 1;
    run(text, value, TOOL_GET, "text/plain");
    run(text, value, TOOL_POST, "application/json");
    run(text, value, TOOL_POST, "application/x-www-form-urlencoded");
    return 0;
}
