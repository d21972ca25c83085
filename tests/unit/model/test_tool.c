#include "model/tool.h"

#include <string.h>

#include "base/js.h"
#include "model/url.h"
#include "test.h"

TEST(url_has_the_origin_of_another)
{
    static const struct {
        const char *a, *b;
        bool is_same;
    } cases[] = {
        {"https://a.example/x", "https://a.example/y?q#f", true},
        {"https://a.example", "HTTPS://A.Example:443/", true},
        {"http://a.example:80?x", "http://a.example/", true},
        {"http://a.example:8080/", "http://a.example:8080", true},
        {"http://a.example/", "https://a.example/", false},
        {"http://a.example/", "http://b.example/", false},
        {"http://a.example/", "http://a.example:81/", false},
        {"http://a.example:443/", "http://a.example/", false},
        {"http://a.example/", "http://a.example.b.example/", false},
        {"http://a.example/", "http://a.example@b.example/", false},
        {"http://a.example/", "http://a.example\\.b.example/", false},
        {"nothing", "nothing", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        CHECK_INT(url_same_origin(cases[i].a, cases[i].b), cases[i].is_same);
}

static size_t faults_of(const char *token, const char *body)
{
    AUTO(arena) arena = arena_new(0);
    AUTO(js) js = NULL;
    struct field_context context;
    field_context_init(&context, arena, NULL);
    struct tool tool;
    field_defaults(&tool_table, &tool);
    tool.url = "https://shop.example/orders";
    tool.auth_token = token;
    CHECK_INT(js_parse(body, strlen(body), 64, &js, NULL), OK);
    tool_merge(&tool, js, &context, "tools[1]");
    if (context.faults.count)
        CHECK_TEXT(context.faults.items[0].field, "tools[1].authToken");
    return context.faults.count;
}

TEST(tool_sends_a_kept_credential_nowhere_else)
{
    static const struct {
        const char *token, *body;
        size_t faults;
    } cases[] = {
        {"a-secret", "{\"url\": \"https://evil.example/\"}", 1},
        {"a-secret", "{\"url\": \"https://evil.example/\", \"authToken\": \"********cret\"}", 1},
        {"a-secret", "{\"url\": \"http://shop.example/orders\", \"auth\": \"none\"}", 1},
        {"a-secret", "{\"url\": \"https://evil.example/\", \"authToken\": \"a-secret\"}", 0},
        {"a-secret", "{\"url\": \"https://evil.example/\", \"authToken\": null}", 0},
        {"a-secret", "{\"url\": \"https://evil.example/\", \"authToken\": \"\"}", 0},
        {"a-secret", "{\"url\": \"https://shop.example/other\"}", 0},
        {"a-secret", "{\"description\": \"new\"}", 0},
        {"", "{\"url\": \"https://evil.example/\"}", 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        CHECK_INT(faults_of(cases[i].token, cases[i].body), cases[i].faults);
}
