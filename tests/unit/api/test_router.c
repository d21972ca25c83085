/* The table of routes: what each path takes, and that the table is whole. */
#include "api/router.h"

#include <string.h>

#include "api/roles.h"
#include "test.h"

struct find_case {
    const char *method, *path, *operation, *allow, *param;
};

TEST(route_find_by_method_and_path)
{
    static const struct find_case cases[] = {
        {"GET", "/v1/agents", "listAgents", "GET, HEAD, POST", ""},
        {"HEAD", "/v1/agents/ua_1", "getAgent", "GET, HEAD, PATCH, DELETE", "ua_1"},
        {"PUT", "/v1/agents/ua_1", NULL, "GET, HEAD, PATCH, DELETE", ""},
        {"GET", "/v1/webhooks/events", "listEventTypes", "GET, HEAD", ""},
        {"PATCH", "/v1/webhooks/events", NULL, "GET, HEAD", ""},
        {"GET", "/v1/webhooks/wh_1", "getWebhook", "GET, HEAD, PATCH, DELETE", "wh_1"},
        {"DELETE", "/v1/calls/x", "deleteCall", "GET, HEAD, DELETE", "x"},
        {"POST", "/v1/calls/x/end", "endCall", "POST", "x"},
        {"GET", "/v1/agents/", NULL, "", ""},
        {"GET", "/v1/agents//rotate-key", NULL, "", ""},
        {"GET", "/v1/agents/a/b", NULL, "", ""},
        {"GET", "/v1", NULL, "", ""},
        {"GET", "", NULL, "", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct route_match match;
        route_find(cases[i].method, cases[i].path, &match);
        CHECK_TEXT(match.route ? match.route->operation : "", cases[i].operation ?: "");
        CHECK_TEXT(match.allow, cases[i].allow);
        CHECK_TEXT(match.params[0], cases[i].param);
    }
}

TEST(route_find_takes_two_ids_and_no_long_one)
{
    struct route_match match;
    char path[128] = "/v1/agents/";
    route_find("POST", "/v1/webhooks/wh_1/deliveries/7/resend", &match);
    REQUIRE(match.route);
    CHECK_TEXT(match.params[0], "wh_1");
    CHECK_TEXT(match.params[1], "7");
    memset(path + strlen(path), 'x', 64);
    route_find("GET", path, &match);
    CHECK(!match.route);
}

TEST(routes_are_whole)
{
    for (size_t i = 0; i < route_count; i++) {
        const struct route *route = &routes[i];
        CHECK(route->handle && route->operation);
        CHECK(route->auth == ROUTE_NONE || (route->tag && route->summary));
        CHECK(route->auth == ROUTE_NONE || route->output || route->output_type);
        CHECK((route->body == ROUTE_NO_BODY) == (route->input == NULL));
        for (size_t j = 0; j < i; j++)
            CHECK(strcmp(route->operation, routes[j].operation) != 0);
    }
}

TEST(every_route_that_a_session_may_ask_for_has_a_least_role)
{
    for (size_t i = 0; i < route_count; i++) {
        bool is_for_sessions = routes[i].auth == ROUTE_WORKSPACE ||
                               routes[i].auth == ROUTE_EITHER || routes[i].auth == ROUTE_MEMBER;
        CHECK_INT(role_knows(routes[i].operation), is_for_sessions);
    }
    CHECK(!role_may(ROLE_OWNER, "unknown"));
    CHECK(role_may(ROLE_EDITOR, "updateAgent") && !role_may(ROLE_VIEWER, "updateAgent"));
}
