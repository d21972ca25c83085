/* Which header names and URLs a tenant may save. */
#include "model/header.h"

#include <stdio.h>

#include "base/js.h"
#include "model/tool.h"
#include "test.h"

TEST(a_name_that_frames_or_routes_is_reserved_in_any_case)
{
    static const char *const refused[] = {
        "Host",    "host",   "Content-Length",      "content-LENGTH",     "Transfer-Encoding",
        "TE",      "te",     "Connection",          "Keep-Alive",         "Upgrade",
        "Trailer", "Expect", "Proxy-Authorization", "proxy-connection",   "Proxy-",
        "Trailer", "EXPECT", "X-Service-Event",     "x-service-anything", "X-SERVICE-Test-Call",
    };
    static const char *const taken[] = {
        "Authorization", "X-API-Key", "Hostname", "X-Host",     "Content-Type",
        "Te-am",         "Proxy",     "Cookie",   "X-Services", "Content-Lengths",
    };
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        CHECK(header_name_is_token(refused[i]) && header_name_is_reserved(refused[i]));
    for (size_t i = 0; i < ARRAY_LEN(taken); i++)
        CHECK(header_name_is_token(taken[i]) && !header_name_is_reserved(taken[i]));
}

TEST(a_name_is_a_token)
{
    static const char *const none[] = {"",     "a b",   "a:b",  "a\r\nb",
                                       "a\tb", "größe", "a(b)", "a\x7f"};
    for (size_t i = 0; i < ARRAY_LEN(none); i++)
        CHECK(!header_name_is_token(none[i]));
    CHECK(header_name_is_token("!#$%&'*+-.^_`|~09azAZ"));
}

static bool is_refused(const char *body, const char *field)
{
    AUTO(arena) arena = arena_new(0);
    AUTO(js) js = NULL;
    if (js_parse(body, strlen(body), 64, &js, NULL) != OK)
        test_fail(__FILE__, __LINE__, "%s is no JSON", body);
    struct field_context context;
    field_context_init(&context, arena, NULL);
    struct tool tool;
    field_create(&tool_table, &tool, js, &context, "");
    for (size_t i = 0; i < context.faults.count; i++)
        if (strcmp(context.faults.items[i].field, field) == 0)
            return true;
    return false;
}

TEST(a_tool_is_not_saved_with_a_reserved_name)
{
    CHECK(is_refused("{\"headers\":[{\"key\":\"X-A\"},{\"key\":\"Transfer-encoding\"}]}",
                     "headers[1].key"));
    CHECK(!is_refused("{\"headers\":[{\"key\":\"X-A\"}]}", "headers[0].key"));
    CHECK(is_refused("{\"authKeyHeader\":\"Content-Length\"}", "authKeyHeader"));
    CHECK(is_refused("{\"authKeyHeader\":\"a b\"}", "authKeyHeader"));
    CHECK(!is_refused("{\"authKeyHeader\":\"X-Token\"}", "authKeyHeader"));
}

TEST(a_url_has_a_scheme_and_a_host)
{
    static const char *const none[] = {
        "x",          "http:",       "http://",    "http:///path", "http:/path",  "https://:8080/",
        "http://@/",  "http://u:p@", "http://?q",  "http://#f",    "mailto:a@b",  "://host/",
        "1http://a/", "http://a b/", "http://[]/", "http://@:80/", "//host/path",
    };
    static const char *const taken[] = {
        "http://a",         "HTTPS://a:1/",   "gopher://a/",       "http://{{host}}/",
        "http://u:p@h/",    "http://[::1]/",  "http://a/?q=a@b:c", "http://a/@",
        "http://10.0.0.1/", "ftp://a.b/c?d#", "http://a@b@c/",
    };
    char body[200];
    for (size_t i = 0; i < ARRAY_LEN(none); i++) {
        snprintf(body, sizeof(body), "{\"url\":\"%s\"}", none[i]);
        if (!is_refused(body, "url"))
            test_fail(__FILE__, __LINE__, "%s is taken for a URL", none[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(taken); i++) {
        snprintf(body, sizeof(body), "{\"url\":\"%s\"}", taken[i]);
        if (is_refused(body, "url"))
            test_fail(__FILE__, __LINE__, "%s is taken for none", taken[i]);
    }
}
