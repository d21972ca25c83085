#include "tool/request.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/js.h"
#include "model/tool.h"
#include "test.h"

static struct tool_pair params[] = {{"order id", "A-1"}, {"name", "Ann"}, {"note", ""}};
static struct tool_name_value variables[] = {{"phone", "+49 30"}, {"name", "Bo \"B\" & co"}};

static struct tool base_tool(void)
{
    return (struct tool){.url = "https://a.example/x", .params = {params, 3}, .timeout_ms = 1000};
}

/* "METHOD url\nName: value\n...\n\nbody" */
static enum err make(const struct tool_run_input *input, struct buf *out)
{
    AUTO(arena) arena = arena_new(0);
    struct tool_request request;
    struct fault fault;
    enum err err = tool_request_make(arena, input, &request, &fault);
    if (err) {
        buf_append_str(out, fault.text);
        return err;
    }
    buf_printf(out, "%s %s\n", request.method, request.url);
    for (size_t i = 0; i < request.header_count; i++)
        buf_printf(out, "%s: %s\n", request.headers[i].name, request.headers[i].value);
    if (request.body)
        buf_printf(out, "\n%s", request.body);
    return OK;
}

static void check(const struct tool *tool, const char *arguments, bool in_call, const char *wanted)
{
    AUTO(js) parsed = NULL;
    AUTO_BUF got = BUF_INIT(100000);
    REQUIRE(js_parse(arguments, strlen(arguments), 8, &parsed, NULL) == OK);
    const struct tool_run_input input = {
        .tool = tool,
        .arguments = parsed,
        .call_id = in_call ? "call-1" : NULL,
        .agent_id = "ua_1",
        .variables = variables,
        .variable_count = in_call ? 2 : 0,
        .is_test = !in_call,
    };
    CHECK(make(&input, &got) == OK);
    CHECK_TEXT(got.data, wanted);
}

TEST(get_sends_every_param_in_the_query)
{
    struct tool tool = base_tool();
    check(&tool, "{\"order id\":\"B/2\",\"undeclared\":\"x\"}", false,
          "GET https://a.example/x?order%20id=B%2F2&name=Ann&note=\nX-Service-Test-Call: true\n");
    tool.url = "https://a.example/{{name}}/{{ order id }}?k={{note}}#frag{{name}}";
    check(&tool, "{\"note\":\"a&b\",\"order id\":7}", true,
          "GET https://a.example/Bo%20%22B%22%20%26%20co/7?k=a%26b&order%20id=7"
          "&name=Bo%20%22B%22%20%26%20co&note=a%26b\n");
    tool.params.count = 0;
    tool.url = "https://a.example/?";
    check(&tool, "{}", true, "GET https://a.example/?\n");
}

TEST(what_the_call_says_cannot_be_overridden)
{
    struct tool_pair own[] = {{"call_id", "mine"}, {"agent_id", "mine"}, {"phone", "mine"}};
    struct tool tool = base_tool();
    tool.params = (struct tool_pair_list){own, 3};
    const char *arguments = "{\"call_id\":\"evil\",\"agent_id\":\"evil\",\"phone\":\"evil\"}";
    check(&tool, arguments, true,
          "GET https://a.example/x?call_id=call-1&agent_id=ua_1&phone=%2B49%2030\n");
    check(&tool, arguments, false,
          "GET https://a.example/x?call_id=&agent_id=ua_1&phone=evil\nX-Service-Test-Call: true\n");
}

TEST(post_sends_params_as_json_or_the_template)
{
    struct tool tool = base_tool();
    tool.method = TOOL_POST;
    check(&tool, "{\"order id\":true,\"note\":\"l1\\nl2\"}", true,
          "POST https://a.example/x\nContent-Type: application/json\n\n"
          "{\"order id\":\"true\",\"name\":\"Bo \\\"B\\\" & co\",\"note\":\"l1\\nl2\"}");
    tool.body = "{\"n\":\"{{name}}\",\"u\":\"{{unknown}}\",\"x\":{\"y\":\"{{order id}}{\"}}";
    check(&tool, "{\"order id\":\"{{name}}\"}", true,
          "POST https://a.example/x\nContent-Type: application/json\n\n"
          "{\"n\":\"Bo \\\"B\\\" & co\",\"u\":\"\",\"x\":{\"y\":\"{{name}}{\"}}");
}

TEST(templates_are_escaped_for_their_content_type)
{
    static const struct {
        const char *type, *body;
    } rows[] = {
        {"application/json; charset=utf-8", "Bo \\\"B\\\" & co"},
        {"application/vnd.x+json", "Bo \\\"B\\\" & co"},
        {"application/x-www-form-urlencoded", "Bo%20%22B%22%20%26%20co"},
        {"APPLICATION/X-WWW-FORM-URLENCODED;a=b", "Bo%20%22B%22%20%26%20co"},
        {"text/plain", "Bo \"B\" & co"},
        {"application/xml", "Bo \"B\" & co"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct tool_pair header = {"content-type", rows[i].type};
        struct tool tool = base_tool();
        AUTO_BUF wanted = BUF_INIT(1000);
        tool.method = TOOL_POST;
        tool.headers = (struct tool_pair_list){&header, 1};
        tool.body = "{{name}}";
        buf_printf(&wanted, "POST https://a.example/x\ncontent-type: %s\n\n%s", rows[i].type,
                   rows[i].body);
        check(&tool, "{}", true, wanted.data);
    }
}

TEST(credentials_are_sent_as_their_kind_says)
{
    struct tool_pair headers[] = {{"Authorization", "user's own"},
                                  {"X-Trace", "{{call_id}}-{{name}}"}};
    struct tool tool = base_tool();
    tool.params.count = 0;
    tool.headers = (struct tool_pair_list){headers, 2};
    tool.auth_token = "s3cret";
    tool.auth_username = "ann";
#define TRACE "X-Trace: call-1-Bo \"B\" & co\n"
    check(&tool, "{}", true, "GET https://a.example/x\nAuthorization: user's own\n" TRACE);
    tool.auth = TOOL_AUTH_BEARER;
    check(&tool, "{}", true, "GET https://a.example/x\nAuthorization: Bearer s3cret\n" TRACE);
    tool.auth = TOOL_AUTH_BASIC;
    check(&tool, "{}", true,
          "GET https://a.example/x\nAuthorization: Basic YW5uOnMzY3JldA==\n" TRACE);
    tool.auth = TOOL_AUTH_API_KEY;
    check(&tool, "{}", true,
          "GET https://a.example/x\nAuthorization: user's own\n" TRACE "X-API-Key: s3cret\n");
    tool.auth_key_header = "X-Key";
    check(&tool, "{}", true,
          "GET https://a.example/x\nAuthorization: user's own\n" TRACE "X-Key: s3cret\n");
}

TEST(reserved_headers_fail_the_run)
{
    static const char *const names[] = {"Content-Length", "transfer-encoding",  "Host", "TE",
                                        "proxy-x",        "X-Service-Test-Call"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct tool_pair header = {(char *)names[i], "0"};
        struct tool tool = base_tool();
        AUTO_BUF got = BUF_INIT(1000);
        const struct tool_run_input input = {.tool = &tool};
        tool.headers = (struct tool_pair_list){&header, 1};
        CHECK_INT(make(&input, &got), ERR_INVALID);
        CHECK(strstr(got.data, names[i]) != NULL);
        tool.headers.count = 0;
        tool.auth = TOOL_AUTH_API_KEY;
        tool.auth_token = "45";
        tool.auth_key_header = (char *)names[i];
        CHECK_INT(make(&input, &got), ERR_INVALID);
    }
}

TEST(an_argument_never_leads_to_another_path)
{
    static const struct {
        const char *url, *id; /* NULL: left out, and the param has no value */
        enum err err;
    } rows[] = {
        {"https://a.example/u/{{id}}/x", "..", ERR_INVALID},
        {"https://a.example/u/{{id}}", "..", ERR_INVALID},
        {"https://a.example/{{id}}?q=1", ".", ERR_INVALID},
        {"https://a.example/u/{{id}}/x", "", ERR_INVALID},
        {"https://a.example/u/{{id}}", "", ERR_INVALID},
        {"https://a.example/u/{{id}}/x", "%2e%2e", ERR_INVALID},
        {"https://a.example/u/{{id}}/x", "%252E.", ERR_INVALID},
        {"https://a.example/u/{{id}}/x", "../../admin", ERR_INVALID},
        {"https://a.example/u/{{id}}/x", "a/..", ERR_INVALID},
        {"https://a.example/u/{{id}}/x", "..\\admin", ERR_INVALID},
        {"https://a.example/u/{{id}}/x", "..%2fadmin%zz", ERR_INVALID},
        {"https://a.example/u/{{id}}/x", "..;a=b", ERR_INVALID},
        {"https://a.example/u/.{{id}}/x", ".", ERR_INVALID},
        {"https://a.example/u/{{id}}{{id}}/x", ".", ERR_INVALID},
        {"https://a.example/u/{{id}}/x", "...", OK},
        {"https://a.example/u/{{id}}/x", "a..b", OK},
        {"https://a.example/u/{{id}}/x", "1.5", OK},
        {"https://a.example/u/{{id}}/x", "2024/05", OK},
        {"https://a.example/u/v{{id}}/x", "", OK},
        {"https://a.example/u/../{{id}}", "7", OK},     /* the template's own */
        {"https://a.example/u/{{unknown}}/x", "7", OK}, /* contract: becomes empty */
        {"https://a.example/u?id={{id}}", "..", OK},
        {"https://a.example?id={{id}}/{{id}}", "..", OK},
    };
    struct tool_pair param = {"id", ""};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct tool tool = base_tool();
        AUTO(js) arguments = js_object();
        AUTO_BUF got = BUF_INIT(1000);
        const struct tool_run_input input = {.tool = &tool, .arguments = arguments};
        js_set(arguments, "id", js_string(rows[i].id));
        tool.params = (struct tool_pair_list){&param, 1};
        tool.url = (char *)rows[i].url;
        if (!CHECK_INT(make(&input, &got), rows[i].err))
            test_fail(__FILE__, __LINE__, "%s with '%s': %s", rows[i].url, rows[i].id, got.data);
    }
}

TEST(line_breaks_in_a_header_fail_the_run)
{
    struct tool_pair header = {"X-Note", "{{note}}"};
    struct tool tool = base_tool();
    AUTO(js) arguments = js_object();
    AUTO_BUF got = BUF_INIT(1000);
    tool.headers = (struct tool_pair_list){&header, 1};
    js_set(arguments, "note", js_string("a\r\nX-Evil: 1"));
    const struct tool_run_input input = {.tool = &tool, .arguments = arguments};
    CHECK_INT(make(&input, &got), ERR_INVALID);
    CHECK_TEXT(got.data, "the value of the header X-Note holds a line break");
    header.key = "X Note";
    CHECK_INT(make(&input, &got), ERR_INVALID);
}

TEST(long_urls_and_bodies_are_refused)
{
    struct tool tool = base_tool();
    AUTO(js) arguments = js_object();
    AUTO_BUF big = BUF_INIT(2000000);
    AUTO_BUF got = BUF_INIT(1000);
    buf_reserve(&big, 1100000);
    memset(big.data, 'x', 1100000);
    big.data[1100000] = '\0';
    js_set(arguments, "note", js_string(big.data));
    const struct tool_run_input input = {.tool = &tool, .arguments = arguments};
    CHECK_INT(make(&input, &got), ERR_LIMIT);
    tool.method = TOOL_POST;
    CHECK_INT(make(&input, &got), ERR_LIMIT);
}

TEST(arguments_are_told_as_they_are_sent)
{
    struct tool tool = base_tool();
    AUTO(arena) arena = arena_new(0);
    AUTO(js) arguments = NULL;
    static const char sent[] = "{\"order id\":7,\"undeclared\":\"x\",\"note\":{\"a\":[1]}}";
    REQUIRE(js_parse(sent, strlen(sent), 8, &arguments, NULL) == OK);
    const struct tool_run_input input = {
        .tool = &tool, .arguments = arguments, .variables = variables, .variable_count = 2};
    CHECK_TEXT(tool_request_arguments(arena, &input),
               "{\"order id\":\"7\",\"name\":\"Bo \\\"B\\\" & co\",\"note\":\"{\\\"a\\\":[1]}\"}");
    AUTO_BUF note = BUF_INIT(4000);
    for (int i = 0; i < 301; i++)
        buf_append_str(&note, "\xc3\xbc"); /* ü */
    js_set(arguments, "note", js_string(note.data));
    const char *told = tool_request_arguments(arena, &input);
    note.data[600] = 0;
    CHECK(strstr(told, note.data) != NULL); /* 300 characters of it */
    CHECK_INT(strlen(strstr(told, note.data)), 600 + 2);
}
