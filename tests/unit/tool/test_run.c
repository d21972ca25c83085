#include "tool/run.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/js.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "model/tool.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "net/resolver.h"
#include "test.h"

/* An endpoint with a few paths, and one run of a tool against it. */
struct bench {
    struct loop *loop;
    struct guard *guard;
    struct resolver *resolver;
    struct http_client *client;
    struct http_server *server;
    struct http_exchange *held;
    bool is_success;
    int status;
    char *data, *headers, *model_text, *error;
    const char *body; /* of /given */
};

/* What came with the request, as many a test server answers. */
static const char *echo(struct http_exchange *exchange)
{
    static char text[1000];
    const struct http_request *request = http_exchange_request(exchange);
    size_t len = 0;
    for (size_t i = 0; i < request->header_count; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s: %s\n",
                                request->headers[i].name, request->headers[i].value);
    return text;
}

static void on_request(void *arg, struct http_exchange *exchange)
{
    struct bench *bench = arg;
    const char *path = http_exchange_request(exchange)->path;
    const struct http_header headers[] = {
        {"Content-Type", "application/json"}, {"X-Two", "a"}, {"x-two", "b"}};
    struct http_answer answer = {.status = 200, .headers = headers, .header_count = 3};
    if (strcmp(path, "/hold") == 0) {
        bench->held = exchange;
        return;
    }
    if (strcmp(path, "/json") == 0)
        answer.body = "{\"a\": [1, 2.5]}";
    else if (strcmp(path, "/text") == 0)
        answer.body = "plain \xff text";
    else if (strcmp(path, "/given") == 0)
        answer.body = bench->body;
    else if (strcmp(path, "/echo") == 0)
        answer.body = echo(exchange);
    else if (strcmp(path, "/missing") == 0)
        answer = (struct http_answer){.status = 404, .body = "no such thing"};
    else if (strcmp(path, "/moved") == 0)
        answer.status = 302;
    else if (strcmp(path, "/last") == 0)
        answer = (struct http_answer){.status = 299, .body = "{}"};
    else
        answer.take_body = mem_zalloc(2000000);
    answer.body_len = answer.take_body ? 2000000 : answer.body ? strlen(answer.body) : 0;
    if (answer.take_body)
        memset(answer.take_body, 'x', 2000000);
    http_answer(exchange, &answer);
}

static void on_done(void *arg, const struct tool_result *result)
{
    struct bench *bench = arg;
    bench->is_success = result->is_success;
    bench->status = result->status;
    AUTO(arena) arena = arena_new(0);
    struct tool_result copy;
    tool_result_copy(arena, result, &copy);
    AUTO(js) data = tool_result_data(&copy);
    AUTO(js) headers = tool_result_headers(&copy);
    bench->data = js_print(data);
    bench->headers = js_print(headers);
    bench->model_text = mem_strdup(result->model_text);
    bench->error = mem_strdup(result->error);
    CHECK(result->latency_ms >= 0);
    loop_stop(bench->loop);
}

static void bench_open(struct bench *bench, const char *allow)
{
    static const struct http_handler handler = {.on_request = on_request};
    const struct http_server_config config = {.bind = net_addr_ipv4(127, 0, 0, 1, 0)};
    *bench = (struct bench){.loop = loop_new("test")};
    REQUIRE(guard_new(allow, &bench->guard, NULL) == OK);
    REQUIRE(resolver_new(bench->loop, bench->guard, NULL, &bench->resolver, NULL) == OK);
    REQUIRE(http_server_open(bench->loop, &config, &handler, bench, &bench->server, NULL) == OK);
    const struct http_client_config client_config = {.resolver = bench->resolver};
    bench->client = http_client_new(bench->loop, &client_config);
}

/* What a request is given, on its way to the client. */
static int64_t given_ms;
struct http_fetch *__real_http_fetch_start(struct http_client *client,
                                           const struct http_fetch_request *request,
                                           const struct http_fetch_fns *fns, void *arg);
struct http_fetch *__wrap_http_fetch_start(struct http_client *client,
                                           const struct http_fetch_request *request,
                                           const struct http_fetch_fns *fns, void *arg);
struct http_fetch *__wrap_http_fetch_start(struct http_client *client,
                                           const struct http_fetch_request *request,
                                           const struct http_fetch_fns *fns, void *arg)
{
    given_ms = request->timeout_ms;
    CHECK_INT(request->connect_ms, request->timeout_ms);
    return __real_http_fetch_start(client, request, fns, arg);
}

static void forget_result(struct bench *bench)
{
    mem_free(TAKE(bench->data));
    mem_free(TAKE(bench->headers));
    mem_free(TAKE(bench->model_text));
    mem_free(TAKE(bench->error));
}

static void bench_close(struct bench *bench)
{
    forget_result(bench);
    http_client_free(bench->client);
    http_server_close(bench->server);
    if (bench->held)
        http_answer_error(bench->held, 500, "X", "over");
    resolver_free(bench->resolver);
    loop_free(bench->loop);
    guard_free(bench->guard);
}

static void run_as(struct bench *bench, const char *path, struct tool tool)
{
    AUTO_MEM char *url =
        mem_printf("http://127.0.0.1:%u%s", http_server_address(bench->server).port, path);
    bool is_held = strcmp(path, "/hold") == 0;
    tool.url = url;
    tool.timeout_ms = is_held ? 100 : 20000;
    const struct tool_run_input input = {.tool = &tool};
    forget_result(bench);
    tool_run_start(bench->client, &input, on_done, bench);
    loop_run(bench->loop);
}

static void run(struct bench *bench, const char *path)
{
    run_as(bench, path, (struct tool){0});
}

TEST(credentials_that_come_back_are_not_shown_to_the_model)
{
    static struct tool_pair headers[] = {
        {"X-Shop", "corner store"}, {"X-Session-Token", "Token of-the-shop"}, {"X-Key", "abc"}};
    static const struct tool rows[] = {
        {.auth = TOOL_AUTH_BEARER, .auth_token = "hush-hush"},
        {.auth = TOOL_AUTH_API_KEY, .auth_token = "hush-hush", .auth_key_header = "X-Mine"},
        {.auth = TOOL_AUTH_BASIC, .auth_token = "hush-hush", .auth_username = "shop"},
        {.auth = TOOL_AUTH_NONE, .auth_token = ""},
    };
    static const char *const shown[] = {"Bearer ********", "X-Mine: ********", "Basic ********",
                                        "corner store"};
    struct bench bench;
    bench_open(&bench, "127.0.0.1");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct tool tool = rows[i];
        tool.headers = (struct tool_pair_list){headers, ARRAY_LEN(headers)};
        run_as(&bench, "/echo", tool);
        CHECK(bench.is_success);
        CHECK(strcasestr(bench.model_text, shown[i]) != NULL);
        CHECK(!strstr(bench.model_text, "hush-hush") && !strstr(bench.model_text, "of-the-shop"));
        CHECK(!strstr(bench.model_text, "c2hvcDpodXNo")); /* shop:hush in base64 */
        CHECK(strstr(bench.model_text, "corner store"));
        CHECK(strstr(bench.data, "of-the-shop")); /* Test a tool shows its owner what came */
    }
    bench_close(&bench);
}

TEST(credentials_that_come_back_escaped_are_not_shown_either)
{
    static const struct {
        const char *secret, *body, *shown;
    } rows[] = {
        {"a/b/c", "{\"key\":\"a\\/b\\/c\"}", "{\"key\":\"********\"}"}, /* as PHP's json_encode() */
        {"a/b/c", "[\"a\\u002fb\\u002Fc\"]", "[\"********\"]"},
        {"a/b/c", "[\"a\\u002\", \"a\\u00\", \"a\\/b\"]", "[\"a\\u002\", \"a\\u00\", \"a\\/b\"]"},
        {"q\"r\\st", "[\"q\\\"r\\\\st\"] q\"r\\st", "[\"********\"] ********"},
        {"Schl\u00fcssel", "[\"Schl\\u00fcssel\", \"Schl\u00fcssel\"]",
         "[\"********\", \"********\"]"},
        {"one\U0001f511", "[\"one\\ud83d\\udd11\", \"one\\ud83d\"]",
         "[\"********\", \"one\\ud83d\"]"},
        {"a<b>&c", "[\"a\\u003cb\\u003e\\u0026c\"]", "[\"********\"]"}, /* as Go's encoding/json */
    };
    struct bench bench;
    bench_open(&bench, "127.0.0.1");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        bench.body = rows[i].body;
        struct tool tool = {.auth = TOOL_AUTH_BEARER, .auth_token = (char *)rows[i].secret};
        run_as(&bench, "/given", tool);
        CHECK_TEXT(bench.model_text, rows[i].shown);
    }
    bench_close(&bench);
}

/* Where no field is meant for them, and however they are written as they come back. */
TEST(credentials_in_plain_headers_and_in_the_url_are_not_shown_either)
{
    static const struct {
        const char *query, *name, *value, *body, *want;
    } rows[] = {
        {"", "X-Shop", "k3y4f09ab77c1d2", "got k3y4f09ab77c1d2.", "got ********."},
        {"", "X-Shop", "corner-store-number", "corner-store-number", "corner-store-number"},
        {"", "X-Order", "{{order}}", "order-2026-000123", "order-2026-000123"},
        {"", "Accept-Language", "en-us2-x-long-one", "en-us2-x-long-one", "en-us2-x-long-one"},
        {"", "Cookie", "session=abcdefgh; theme=dark", "abcdefgh dark", "******** dark"},
        {"", "X-Token", "a/b/c/d", "{\"t\":\"a\\/b\\/c\\/d\"}", "{\"t\":\"********\"}"},
        {"", "X-Token", "a+b/c=", "?t=a%2Bb%2Fc%3D", "?t=********"},
        {"?api_key=hush&page=2", "X", "", "api_key=hush page 2", "api_key=******** page 2"},
        {"?a=b&u=9f86d081884c7d65", "X", "", "9f86d081884c7d65", "********"},
        {"?token=hush%2Fhush", "X", "", "hush/hush hush%2Fhush", "******** ********"},
        {"?key={{order}}", "X", "", "order-2026-000123", "order-2026-000123"},
        {"?key=abc", "X", "", "abc", "abc"},
    };
    static struct tool_pair order = {"order", "order-2026-000123"};
    struct bench bench;
    bench_open(&bench, "127.0.0.1");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct tool_pair header = {rows[i].name, rows[i].value};
        AUTO_MEM char *path = mem_printf("/given%s", rows[i].query);
        bench.body = rows[i].body;
        run_as(&bench, path,
               (struct tool){.method = TOOL_POST, .headers = {&header, 1}, .params = {&order, 1}});
        CHECK_TEXT(bench.model_text, rows[i].want);
    }
    bench_close(&bench);
}

TEST(json_answers_are_parsed_and_headers_joined)
{
    struct bench bench;
    bench_open(&bench, "127.0.0.1");
    run(&bench, "/json");
    CHECK_TEXT(bench.error, NULL);
    CHECK(bench.is_success && bench.status == 200 && !bench.error);
    CHECK_TEXT(bench.data, "{\"a\":[1,2.5]}");
    CHECK_TEXT(bench.model_text, "{\"a\": [1, 2.5]}");
    CHECK(strstr(bench.headers, "\"x-two\":\"a, b\""));
    bench_close(&bench);
}

TEST(other_answers_are_text)
{
    struct bench bench;
    bench_open(&bench, "127.0.0.1");
    run(&bench, "/text");
    CHECK_TEXT(bench.data, "\"plain \xef\xbf\xbd text\"");
    CHECK_TEXT(bench.model_text, "plain \xef\xbf\xbd text");
    bench_close(&bench);
}

TEST(failures_have_a_status_and_a_sentence)
{
    struct bench bench;
    bench_open(&bench, "127.0.0.1");
    run(&bench, "/missing");
    CHECK(!bench.is_success && bench.status == 404);
    CHECK_TEXT(bench.error, "the endpoint answered 404");
    CHECK_TEXT(bench.data, "\"no such thing\"");
    run(&bench, "/moved");
    CHECK(!bench.is_success && bench.status == 302);
    run(&bench, "/last"); /* of those that say yes */
    CHECK(bench.is_success && bench.status == 299 && !bench.error);
    run(&bench, "/hold");
    CHECK(!bench.is_success && bench.status == 504 && bench.error);
    CHECK_TEXT(bench.data, "null");
    bench_close(&bench);
    bench_open(&bench, "");
    run(&bench, "/json");
    CHECK(!bench.is_success && bench.status == 502);
    CHECK(strstr(bench.error, "not a public address"));
    bench_close(&bench);
}

TEST(a_long_answer_is_cut)
{
    struct bench bench;
    bench_open(&bench, "127.0.0.1");
    run(&bench, "/big");
    CHECK(bench.is_success);
    CHECK_INT(strlen(bench.data), TOOL_BODY_MAX_BYTES + 2);
    CHECK_INT(utf8_count(bench.model_text), TOOL_MODEL_TEXT_CHARS);
    bench_close(&bench);
}

/* Behind a line, an object, a sentence, a value, a word: in this order. */
TEST(an_answer_is_cut_at_a_sensible_place)
{
    static const struct {
        const char *part, *end;
    } rows[] = {
        {"{\"id\":1,\"text\":\"a. b\"},", "\"a. b\"}, [the rest is left out]"},
        {"first line, second. part\n", "part [the rest is left out]"},
        {"We open at nine. And close at five ", ". [the rest is left out]"},
        {"\xe0\xa4\xb9\xe0\xa4\xbe\xe0\xa4\x81\xe0\xa5\xa4 ",
         "\xe0\xa5\xa4 [the rest is left out]"},
        {"words without an end ", " [the rest is left out]"},
    };
    struct bench bench;
    bench_open(&bench, "127.0.0.1");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_BUF body = BUF_INIT(100000);
        for (int k = 0; k < 400; k++)
            buf_append_str(&body, rows[i].part);
        bench.body = body.data;
        run(&bench, "/given");
        size_t len = strlen(bench.model_text), end = strlen(rows[i].end);
        CHECK(utf8_count(bench.model_text) <= TOOL_MODEL_TEXT_CHARS);
        CHECK(utf8_count(bench.model_text) > TOOL_MODEL_TEXT_CHARS * 3 / 4);
        CHECK_TEXT(bench.model_text + (len > end ? len - end : 0), rows[i].end);
    }
    bench_close(&bench);
}

TEST(a_cancelled_run_says_nothing)
{
    struct bench bench;
    bench_open(&bench, "127.0.0.1");
    AUTO_MEM char *url =
        mem_printf("http://127.0.0.1:%u/json", http_server_address(bench.server).port);
    const struct tool tool = {.url = url};
    const struct tool_run_input input = {.tool = &tool};
    tool_run_cancel(tool_run_start(bench.client, &input, on_done, &bench));
    run(&bench, "/text");
    CHECK(strstr(bench.data, "plain"));
    bench_close(&bench);
}

TEST(no_run_is_given_more_than_thirty_seconds)
{
    static const struct {
        int64_t set_ms, given_ms;
    } rows[] = {{500, 500}, {10000, 10000}, {30000, 30000}, {60000, 30000}, {0, 10000}};
    struct bench bench;
    bench_open(&bench, "127.0.0.1");
    AUTO_MEM char *url =
        mem_printf("http://127.0.0.1:%u/json", http_server_address(bench.server).port);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct tool tool = {.url = url, .timeout_ms = rows[i].set_ms};
        const struct tool_run_input input = {.tool = &tool};
        forget_result(&bench);
        tool_run_start(bench.client, &input, on_done, &bench);
        CHECK_INT(given_ms, rows[i].given_ms);
        loop_run(bench.loop);
    }
    bench_close(&bench);
}
