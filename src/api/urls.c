/* The URLs of a body, between two runs of its handler. */
#include "api/urls.h"

#include <string.h>

#include "api/request.h"
#include "net/guard.h"
#include "net/resolver.h"
#include "net/url.h"

enum { URLS_MAX = 128 /* a start names 10, an agent with its tools 101 */ };

static struct checked_url *find_url(struct request_urls *urls, const char *url)
{
    for (size_t i = 0; i < urls->count; i++)
        if (strcmp(urls->items[i].url, url) == 0)
            return &urls->items[i];
    return NULL;
}

/* Remembers a name, to be resolved. */
static enum url_state add_url(struct request_urls *urls, const char *url, struct arena *arena)
{
    if (urls->count == URLS_MAX)
        return URL_DENIED;
    if (!urls->items)
        urls->items = arena_new_n(arena, struct checked_url, URLS_MAX);
    urls->items[urls->count++] = (struct checked_url){.url = arena_strdup(arena, url)};
    return URL_UNKNOWN;
}

/* An address literal is judged at once, a name when it was resolved. */
static enum url_state judge(struct request *request, const char *url)
{
    const struct checked_url *known = find_url(&request->urls, url);
    if (known)
        return known->state;
    const struct guard *guard = resolver_guard(request->deps->resolver);
    struct url parts;
    struct net_addr literal;
    if (guard_check_url(guard, GUARD_PUBLIC, url, &parts, NULL) != OK ||
        !(parts.scheme == URL_HTTP || parts.scheme == URL_HTTPS))
        return URL_DENIED;
    if (net_ip_parse(parts.host, &literal) == OK)
        return URL_ALLOWED;
    return add_url(&request->urls, url, request->arena);
}

bool urls_are_allowed(struct request *request, const char *const *urls, size_t count)
{
    bool is_known = true;
    for (size_t i = 0; i < count; i++) {
        enum url_state state = judge(request, urls[i]);
        if (state == URL_DENIED) {
            request_error(request, API_URL_NOT_ALLOWED);
            return false;
        }
        is_known &= state == URL_ALLOWED;
    }
    if (!is_known)
        request->job.step = STEP_RESOLVE;
    return is_known;
}

struct url_check {
    struct request *request;
    struct checked_url *url;
    handler_fn *done;
};

static void on_url_checked(void *arg, const struct fault *fault)
{
    const struct url_check *check = arg;
    /* A name that cannot be resolved is refused too: nothing is known to be public. */
    check->url->state = fault->err == OK ? URL_ALLOWED : URL_DENIED;
    if (--check->request->urls.waiting == 0)
        check->done(check->request);
}

void urls_resolve(struct request *request, handler_fn *done)
{
    struct request_urls *urls = &request->urls;
    for (size_t i = 0; i < urls->count; i++)
        urls->waiting += urls->items[i].state == URL_UNKNOWN;
    for (size_t i = 0; i < urls->count; i++) {
        if (urls->items[i].state != URL_UNKNOWN)
            continue;
        struct url_check *check = arena_new_of(request->arena, struct url_check);
        *check = (struct url_check){.request = request, .url = &urls->items[i], .done = done};
        resolver_check_url(request->deps->resolver, request_workspace(request), check->url->url,
                           on_url_checked, check);
    }
}
