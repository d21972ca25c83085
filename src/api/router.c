/* Finds the route of a method and path. The table is short: a walk is faster than a tree. */
#include "api/router.h"

#include <stdio.h>
#include <string.h>

/* Does the path fit the pattern? Copies what stands for {…} into params. */
static bool fits(const char *pattern, const char *path, char params[ROUTE_PARAMS_MAX][64])
{
    int count = 0;
    while (*pattern) {
        if (*pattern != '{') {
            if (*pattern++ != *path++)
                return false;
            continue;
        }
        size_t len = strcspn(path, "/");
        if (len == 0 || len >= sizeof(params[0]) || count == ROUTE_PARAMS_MAX)
            return false;
        memcpy(params[count], path, len);
        params[count++][len] = '\0';
        path += len;
        pattern += strcspn(pattern, "}") + 1;
    }
    return *path == '\0';
}

static void allow_add(struct route_match *match, const char *method)
{
    if (*match->allow)
        strncat(match->allow, ", ", sizeof(match->allow) - strlen(match->allow) - 1);
    strncat(match->allow, method, sizeof(match->allow) - strlen(match->allow) - 1);
    if (strcmp(method, "GET") == 0)
        strncat(match->allow, ", HEAD", sizeof(match->allow) - strlen(match->allow) - 1);
}

/* A path that is in the table literally (/v1/webhooks/events) does not match one with an id. */
static bool is_literal(const char *path)
{
    for (size_t i = 0; i < route_count; i++)
        if (strcmp(routes[i].path, path) == 0)
            return true;
    return false;
}

void route_find(const char *method, const char *path, struct route_match *out)
{
    *out = (struct route_match){0};
    if (strcmp(method, "HEAD") == 0)
        method = "GET";
    bool must_equal = is_literal(path);
    for (size_t i = 0; i < route_count; i++) {
        char params[ROUTE_PARAMS_MAX][64] = {0};
        if (!fits(routes[i].path, path, params) ||
            (must_equal && strcmp(routes[i].path, path) != 0))
            continue;
        allow_add(out, routes[i].method);
        out->is_for_pages |= routes[i].is_for_pages;
        if (!out->route && strcmp(routes[i].method, method) == 0) {
            out->route = &routes[i];
            memcpy(out->params, params, sizeof(params));
        }
    }
}
