/* The front of the API: which requests get to a handler at all. The order of the checks is that of
 * the contract; each function here is one of them and hands on to the next. */
#include "api/api.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "api/admission.h"
#include "api/cors.h"
#include "api/internal.h"
#include "api/proxy.h"
#include "api/request.h"
#include "api/roles.h"
#include "api/router.h"
#include "api/run.h"
#include "api/send.h"
#include "api/sign_in.h"
#include "api/spoilt.h"
#include "api/stream.h"
#include "api/sweeper.h"
#include "base/config.h"
#include "base/ids.h"
#include "base/loop.h"
#include "base/mem.h"
#include "model/document.h"
#include "net/url.h"
#include "store/session.h"

enum { JSON_BYTES = 1 << 20 /* contract, JSON bodies */ };

enum err api_open(const struct api_deps *deps, struct api **out, struct fault *fault)
{
    struct proxies *proxies;
    enum err err = proxies_new(config_text(deps->config, SET_TRUSTED_PROXIES), &proxies, fault);
    if (err)
        return err;
    struct api *api = mem_new(struct api);
    api->deps = *deps;
    api->proxies = proxies;
    api->admission = admission_new(deps->config);
    api->sign_ins = sign_ins_new();
    api->keys = keys_new(deps->control, deps->store, 0);
    api->rates = rates_new(deps->config, deps->control, deps->store);
    api->sweeper = sweeper_new(deps->control, deps->store);
    api->spoilt = spoilt_new(deps->control, deps->store);
    list_init(&api->streams);
    keys_watch(api->keys, streams_look, &api->streams);
    api->routes = routes;
    api->route_count = route_count;
    buf_init(&api->openapi, 8 << 20);
    *out = api;
    return OK;
}

bool api_is_idle(const struct api *api)
{
    return api->under_way == 0 && rates_is_idle(api->rates) && sweeper_is_idle(api->sweeper) &&
           spoilt_is_idle(api->spoilt);
}

void api_drain(struct api *api)
{
    streams_end(&api->streams);
}

void api_close(struct api *api)
{
    if (!api)
        return;
    keys_free(api->keys);
    rates_free(api->rates);
    sweeper_free(api->sweeper);
    spoilt_free(api->spoilt);
    proxies_free(api->proxies);
    admission_free(api->admission);
    sign_ins_free(api->sign_ins);
    buf_clear(&api->openapi);
    mem_free(api);
}

/* Bodies. */

/* "application/json", with any parameters. */
static bool is_type(const char *header, const char *type)
{
    size_t len = strlen(type);
    return strncasecmp(header, type, len) == 0 &&
           strspn(header + len, " \t;") + (header[len] == '\0') > 0;
}

static bool is_file(const struct request *request)
{
    const char *type = request_header(request, "Content-Type");
    return request->head.route->body == ROUTE_JSON_OR_FILE && type &&
           is_type(type, "application/octet-stream");
}

static size_t body_limit(const struct request *request)
{
    size_t own = request->head.route->max_body_bytes;
    return request->body.is_upload ? DOCUMENT_FILE_BYTES : own ? own : (size_t)JSON_BYTES;
}

/* A body that no handler reads is dropped, except that of a POST: its Idempotency-Key is checked
 * against it. */
static struct http_body_choice choose_body(const struct request *request)
{
    bool is_read = request->head.route->body != ROUTE_NO_BODY ||
                   strcmp(request->head.http->method, "POST") == 0;
    return (struct http_body_choice){.form = request->body.is_upload ? HTTP_BODY_FILE
                                             : is_read               ? HTTP_BODY_MEMORY
                                                                     : HTTP_BODY_DROP,
                                     .max_bytes = body_limit(request)};
}

static bool has_body(const struct request *request)
{
    return request->head.http->content_length > 0 || request_header(request, "Transfer-Encoding");
}

/* The deadline stops while the body comes: the server watches its pace instead. */
static void want_body(struct request *request, const struct http_body_choice *choice)
{
    timer_stop(&request->deadline);
    if (http_body_want(request->exchange, choice))
        return;                              /* on_request comes, or has come */
    request_error(request, API_UNAVAILABLE); /* the client has left */
    send_answer(request);
}

/* 413 and 415, as far as the head tells; then the body may come. A file that is too long is told by
 * its handler, after other faults (contract, Order of checks). */
static void check_head(struct request *request)
{
    const char *type = request_header(request, "Content-Type");
    request->body.is_upload = is_file(request);
    struct http_body_choice choice = choose_body(request);
    bool is_json = !request->body.is_upload && request->head.route->body != ROUTE_NO_BODY;
    if (!request->body.is_upload &&
        request->head.http->content_length > (int64_t)choice.max_bytes) {
        request_error(request, API_BODY_TOO_LARGE);
    } else if (is_json && has_body(request) && type && !is_type(type, "application/json")) {
        request_error(request, API_UNSUPPORTED_MEDIA_TYPE);
    } else {
        want_body(request, &choice);
        return;
    }
    send_answer(request);
}

bool api_on_body(void *arg, struct http_exchange *exchange, size_t more_bytes)
{
    struct api *api = arg;
    struct request *request = http_exchange_user(exchange);
    return admission_take(api->admission, &request->who.admitted,
                          request->body.is_upload ? SHARE_DISK : SHARE_MEMORY, (int64_t)more_bytes);
}

/* Who may. */

static bool is_allowed(const struct request *request)
{
    if (request->who.principal.kind == KEY_SESSION)
        return request->head.route->auth != ROUTE_PUBLISHABLE &&
               role_may(request->who.principal.role, request->head.route->operation);
    switch (request->head.route->auth) {
    case ROUTE_MEMBER:
        return false;
    case ROUTE_WORKSPACE:
        return request->who.principal.kind == KEY_WORKSPACE;
    case ROUTE_EITHER:
        return request->who.principal.kind != KEY_PUBLISHABLE;
    case ROUTE_PUBLISHABLE:
        return request->who.principal.kind == KEY_PUBLISHABLE;
    case ROUTE_NONE:
    case ROUTE_SIGN_IN:
        break;
    }
    return true;
}

static bool has_row(const struct field_table *table, const char *name)
{
    for (size_t i = 0; table && i < table->count; i++)
        if (strcmp(table->rows[i].name, name) == 0)
            return true;
    return false;
}

/* ?userId= of another workspace is refused on every path. An empty ?userId= of a list matches
 * nothing (contract, Empty query values). */
static bool names_other_workspace(struct request *request)
{
    AUTO_BUF value = BUF_INIT(4096);
    enum err err = url_query_get(request->head.http->query, "userId", &value);
    if (err == ERR_NOT_FOUND)
        return false;
    if (!err && value.len == 0 && strcmp(request->head.route->method, "GET") == 0 &&
        has_row(request->head.route->query, "userId")) {
        request->who.principal.workspace_id[0] = '\0';
        return false;
    }
    return err || strcmp(value.data ? value.data : "", request->who.principal.workspace_id) != 0;
}

static void check_scope(struct request *request)
{
    if (request_is_of_another(request)) {
        request_error(request, API_SIGNED_IN_ELSEWHERE);
    } else if (is_allowed(request) && !names_other_workspace(request)) {
        check_head(request);
        return;
    } else {
        request_error(request, API_FORBIDDEN);
    }
    send_answer(request);
}

static void check_path(struct request *request)
{
    if (request->head.route) {
        check_scope(request);
        return;
    }
    request_error(request, request->head.allow ? API_METHOD_NOT_ALLOWED : API_NOT_FOUND);
    if (request->head.allow)
        answer_header(&request->answer, "Allow", request->head.allow);
    send_answer(request);
}

static void refuse_rate(struct request *request, int64_t retry_s)
{
    request_error(request, API_RATE_LIMITED);
    answer_header(&request->answer, "Retry-After",
                  arena_printf(request->arena, "%" PRId64, MAX(retry_s, 1)));
    send_answer(request);
}

/* Too much is under way: 429 when it is this client's or workspace's own, 503 when it is all. */
static void refuse_share(struct request *request, enum admission_share share)
{
    if (admission_is_own(request->api->admission, &request->who.admitted, share)) {
        refuse_rate(request, 1);
        return;
    }
    request_error(request, API_UNAVAILABLE);
    send_answer(request);
}

static void check_rate(struct request *request)
{
    const struct principal *who = &request->who.principal;
    bool is_visitor = who->kind == KEY_PUBLISHABLE;
    const char *name = is_visitor ? arena_printf(request->arena, "pk:%s:%s", who->agent_id,
                                                 request->who.admitted.site)
                       : who->kind == KEY_AGENT ? who->agent_id
                                                : who->key_id;
    if (!rates_request(request->api->rates, name, &request->who.limit))
        refuse_rate(request, request->who.limit.retry_s);
    else if (!admission_know(request->api->admission, &request->who.admitted, who->workspace_id,
                             is_visitor))
        refuse_share(request, SHARE_PLACES);
    else
        check_path(request);
}

/* 401, or 429 for an address that fails too often. */
static void refuse_key(struct request *request)
{
    struct limit_state limit;
    if (!rates_failure(request->api->rates, &request->who.client, &limit)) {
        refuse_rate(request, limit.retry_s);
        return;
    }
    request_error(request, API_UNAUTHORIZED);
    if (request->head.is_for_pages)
        cors_allow_any(request);
    send_answer(request);
}

/* The key is known, and whether the page that asks may read the answer. */
static void check_known(struct request *request)
{
    if (request->is_late)
        send_answer(request); /* told already */
    else
        check_rate(request);
}

static void on_key(void *arg, enum err err, const struct principal *principal)
{
    struct request *request = arg;
    if (request->is_late) {
        send_answer(request); /* told already */
    } else if (err) {
        request_error(request, API_UNAVAILABLE);
        send_answer(request);
    } else if (!principal) {
        refuse_key(request);
    } else {
        request->who.principal = *principal;
        request->who.is_known = true;
        if (principal->kind == KEY_PUBLISHABLE && request->head.is_for_pages)
            cors_find(request, check_known);
        else
            check_known(request);
    }
}

static bool is_session(const char *key)
{
    return strncmp(key, SESSION_PREFIX, strlen(SESSION_PREFIX)) == 0;
}

static void find_key(struct request *request, const char *key)
{
    if (key_is_valid(key)) /* typing errors need no look-up */
        keys_find(request->api->keys, key, request->who.admitted.site, on_key, request);
    else
        refuse_key(request);
}

/* The cookie of a member: good only beside what proves a page of ours. */
static void check_session(struct request *request, const char *session)
{
    if (!request_is_from_studio(request)) {
        request_error(request, API_FORBIDDEN);
        send_answer(request);
    } else if (is_session(session)) {
        find_key(request, session);
    } else {
        refuse_key(request);
    }
}

static void check_key(struct request *request)
{
    static const char scheme[] = "Bearer ";
    const char *header = request_header(request, "Authorization");
    const char *session = header ? NULL : request_session(request);
    if (session) {
        check_session(request, session);
        return;
    }
    if (!header || strncasecmp(header, scheme, sizeof(scheme) - 1) != 0) {
        refuse_key(request);
        return;
    }
    const char *key = header + sizeof(scheme) - 1;
    key += strspn(key, " ");
    if (is_session(key)) /* is no key */
        refuse_key(request);
    else
        find_key(request, key);
}

/* OPTIONS: a preflight of what pages call, else the methods of a known path. */
static void answer_options(struct request *request)
{
    request->answer.status = 204;
    if (request->head.is_for_pages)
        cors_preflight(request);
    answer_header(&request->answer, "Allow",
                  arena_printf(request->arena, "%s, OPTIONS", request->head.allow));
    send_answer(request);
}

/* From a page of ours, so that no other site signs a visitor in as somebody else. */
static void check_sign_in(struct request *request)
{
    if (request_is_from_studio(request)) {
        check_head(request);
        return;
    }
    request_error(request, API_FORBIDDEN);
    send_answer(request);
}

static void match_route(struct request *request)
{
    struct request_head *head = &request->head;
    struct route_match match;
    route_find(head->http->method, head->http->path, &match);
    head->route = match.route;
    head->allow = *match.allow ? arena_strdup(request->arena, match.allow) : NULL;
    head->is_for_pages = match.is_for_pages;
    memcpy(head->params, match.params, sizeof(head->params));
}

void api_on_head(void *arg, struct http_exchange *take_exchange)
{
    struct api *api = arg;
    static const struct http_body_choice none = {.form = HTTP_BODY_DROP};
    struct request *request = request_new(api, take_exchange);
    const struct request_head *head = &request->head;
    timer_init(&request->deadline, api->deps.control, send_late, request);
    timer_set_after(&request->deadline, RUN_ANSWER_US);
    match_route(request);
    if (head->allow && strcmp(head->http->method, "OPTIONS") == 0)
        answer_options(request);
    else if (head->route && head->route->auth == ROUTE_NONE)
        want_body(request, &none);
    else if (!admission_take(api->admission, &request->who.admitted, SHARE_PLACES, 1))
        refuse_share(request, SHARE_PLACES);
    else if (head->route && head->route->auth == ROUTE_SIGN_IN)
        check_sign_in(request);
    else
        check_key(request);
}

void api_on_gone(void *arg, struct http_exchange *exchange)
{
    (void)arg;
    request_free(http_exchange_user(exchange));
}

void api_on_request(void *arg, struct http_exchange *take_exchange)
{
    struct request *request = http_exchange_user(take_exchange);
    (void)arg;
    if (request->head.http->body_state == HTTP_BODY_NO_ROOM) {
        refuse_share(request, request->body.is_upload ? SHARE_DISK : SHARE_MEMORY);
    } else if (request->head.http->body_state == HTTP_BODY_TOO_LONG && !request->body.is_upload) {
        request_error(request, API_BODY_TOO_LARGE);
        send_answer(request);
    } else {
        run_start(request);
    }
}

bool api_is_proxy(void *arg, const struct net_addr *peer)
{
    const struct api *api = arg;
    return proxies_have(api->proxies, peer);
}

bool api_on_failure(void *arg, const struct http_request *http)
{
    const struct api *api = arg;
    struct net_addr client;
    struct limit_state limit;
    proxies_client(api->proxies, http, &client);
    return rates_failure(api->rates, &client, &limit);
}
