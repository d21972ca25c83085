/* The life of a request behind its head: jobs, URL checks, the deadline, the answer. */
#include "api/request.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/agents_show.h"
#include "api/calls_show.h"
#include "api/internal.h"
#include "api/resources.h"
#include "base/clock.h"
#include "base/js.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "model/document.h"
#include "net/resolver.h"
#include "store/tx.h"

enum {
    JSON_DEPTH_MAX = 64,          /* contract, JSON bodies */
    ANSWER_US = 15 * 1000 * 1000, /* contract, Deadline: of a request whose route says none */
};

static void on_deadline(void *arg);

struct request *request_new(struct api *api, struct http_exchange *exchange)
{
    struct arena *arena = arena_new(0);
    struct request *request = arena_new_of(arena, struct request);
    request->api = api;
    request->deps = &api->deps;
    request->exchange = exchange;
    request->http = http_exchange_request(exchange);
    request->id = http_exchange_id(exchange);
    request->arena = arena;
    request->started_us = clock_now_us();
    request->is_first_job = true;
    answer_init(&request->answer, arena);
    proxies_client(api->proxies, request->http, &request->client);
    net_ip_print_site(&request->client, NET_SITE_BITS, request->admitted.site);
    http_exchange_set_user(exchange, request);
    timer_init(&request->deadline, api->deps.control, on_deadline, request);
    timer_set_after(&request->deadline, ANSWER_US);
    api->under_way++;
    return request;
}

/* ---- the answer ---- */

static void add_number(struct answer *answer, struct arena *arena, const char *name, int64_t value)
{
    answer_header(answer, name, arena_printf(arena, "%" PRId64, value));
}

static void add_headers(const struct request *request, struct answer *answer, struct arena *arena)
{
    answer_header(answer, "Content-Type", answer->content_type);
    answer_header(answer, "Cache-Control", "no-store");
    if (request->is_replay)
        answer_header(answer, "Idempotent-Replayed", "true");
    answer_header(answer, "X-Content-Type-Options", "nosniff");
    answer_header(answer, "Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
    answer_header(answer, "Referrer-Policy", "no-referrer");
    if (answer->status == 401)
        answer_header(answer, "WWW-Authenticate", "Bearer");
    if (answer->status == 503 && !answer_has_header(answer, "Retry-After"))
        answer_header(answer, "Retry-After", "5");
    if (request->has_principal && request->limit.per_minute) {
        add_number(answer, arena, "RateLimit-Limit", request->limit.per_minute);
        add_number(answer, arena, "RateLimit-Remaining", request->limit.remaining);
        add_number(answer, arena, "RateLimit-Reset", request->limit.reset_s);
    }
}

static void count(const struct request *request, int answer_status)
{
    char status[8];
    snprintf(status, sizeof status, "%d", answer_status);
    metric_add_label(METRIC_HTTP_REQUESTS, status, 1);
    const char *operation = request->route ? request->route->operation : "none";
    int64_t took_us = clock_now_us() - request->started_us;
    metric_observe_label_us(METRIC_HTTP_SECONDS, operation, took_us);
    if (answer_status >= 500)
        log_warn("http.answer", LOG_S("request", request->id), LOG_S("operation", operation),
                 LOG_I("status", answer_status), LOG_I("us", took_us));
    else
        log_debug("http.answer", LOG_S("request", request->id), LOG_S("operation", operation),
                  LOG_I("status", answer_status), LOG_I("us", took_us));
}

static struct http_answer to_send(struct answer *answer)
{
    size_t len = answer->body.len;
    return (struct http_answer){
        .status = answer->status,
        .headers = answer->headers,
        .header_count = answer->header_count,
        .body_len = len,
        .take_body = len ? buf_take(&answer->body, &len) : NULL,
    };
}

void request_free(struct request *request)
{
    struct api *api = request->api;
    timer_stop(&request->deadline);
    pieces_clear(request);
    admission_leave(api->admission, &request->admitted);
    js_free(request->body);
    answer_clear(&request->answer);
    api->under_way--;
    arena_free(request->arena);
}

void request_send(struct request *request)
{
    if (request->has_principal && request->principal.kind == KEY_PUBLISHABLE && !request->is_late &&
        !request->is_origin_known && request_header(request, "Origin")) {
        embed_send(request);
        return;
    }
    struct http_answer out = {0}; /* nobody hears it any more */
    if (!request->is_late) {
        add_headers(request, &request->answer, request->arena);
        count(request, request->answer.status);
        out = to_send(&request->answer);
    }
    if (!request->is_late && request->pieces.more && !request->pieces.is_whole) {
        timer_stop(&request->deadline);
        pieces_send(request, &out);
        return;
    }
    http_answer(request->exchange, &out);
    request_free(request);
}

void api_on_gone(void *arg, struct http_exchange *exchange)
{
    (void)arg;
    request_free(http_exchange_user(exchange));
}

/* ---- the deadline ---- */

/* A job may be at work with the request's arena and answer: this answer has its own. */
static void on_deadline(void *arg)
{
    struct request *request = arg;
    AUTO(arena) arena = arena_new(0);
    struct answer answer;
    request->is_late = true;
    answer_init(&answer, arena);
    answer_error(&answer, API_UNAVAILABLE, NULL, NULL);
    add_headers(request, &answer, arena);
    count(request, answer.status);
    struct http_answer out = to_send(&answer);
    http_answer_early(request->exchange, &out);
}

/* While the body comes, its own pace is looked at. */
void request_want_body(struct request *request, const struct http_body_choice *choice)
{
    timer_stop(&request->deadline);
    if (http_body_want(request->exchange, choice))
        return;                              /* on_request comes, or has come */
    request_error(request, API_UNAVAILABLE); /* the client has left */
    request_send(request);
}

/* ---- jobs ---- */

static bool parse_body(struct request *request)
{
    const struct http_request *http = request->http;
    enum route_body form = request->route->body;
    if (request->is_upload)
        return true;
    if (form == ROUTE_NO_BODY || (form == ROUTE_JSON_OPTIONAL && http->body_len == 0)) {
        request->body = js_object();
        return true;
    }
    struct fault fault = {0};
    if (js_parse(http->body ? http->body : "", http->body_len, JSON_DEPTH_MAX, &request->body,
                 &fault) == OK)
        return true;
    const char *sentence =
        arena_printf(request->arena, "The body is not valid JSON: %s", fault.text);
    answer_error(&request->answer, API_INVALID_JSON, sentence, NULL);
    return false;
}

static enum err run_handler(struct tx *tx, void *arg)
{
    struct request *request = arg;
    (void)tx;
    request->step(request);
    return request->answer.status < 400 ? OK : ERR_CONFLICT;
}

/* With an Idempotency-Key a refusal is kept, and so committed: what the handler had written before
 * it refused is undone. */
static void run_apart(struct request *request)
{
    struct fault why;
    enum err err = tx_try(request->tx, run_handler, request, &why);
    if (err && err != ERR_CONFLICT)
        request_error(request, API_INTERNAL_ERROR);
}

static enum err run_step(struct request *request)
{
    if (!parse_body(request))
        return ERR_CONFLICT;
    if (request->is_first_job && !idempotency_reserve(request))
        return ERR_CONFLICT;
    bool may_settle = request->idempotency_key && request->tx->is_write;
    if (may_settle)
        run_apart(request);
    else
        request->step(request);
    struct answer *answer = &request->answer;
    if (answer->status == 0 && request->after)
        return may_settle && request->shown ? idempotency_settle(request) : OK;
    if (answer->status == 0)
        return ERR_CONFLICT; /* names must be resolved */
    if (may_settle && (idempotency_keeps(answer->status) || !request->is_first_job)) {
        request->is_settled = true;
        return idempotency_settle(request);
    }
    return answer->status < 400 ? OK : ERR_CONFLICT;
}

/* What was parsed is many times the body: it lives only while a job runs, of which few do. */
static void forget_parsed(struct request *request)
{
    js_free(request->body);
    request->body = NULL;
}

static enum err job(struct tx *tx, void *arg)
{
    struct request *request = arg;
    if (request->is_first_job && request->is_late)
        return ERR_CLOSED; /* told 503: so it does nothing */
    log_scope(NULL, request->id);
    request->tx = tx;
    request->after = NULL;
    request->is_settled = false;
    answer_reset(&request->answer);
    enum err err = run_step(request);
    request->is_undone = err == ERR_CONFLICT;
    forget_parsed(request);
    request->tx = NULL;
    log_scope(NULL, NULL);
    return err;
}

static void resolve_urls(struct request *request);

static void job_done(void *arg, enum err err)
{
    struct request *request = arg;
    if (err != OK && !(request->is_undone && err == ERR_CONFLICT)) {
        bool is_store = store_is_transient(err) || err == ERR_TIMEOUT || err == ERR_LIMIT;
        request_error(request, is_store ? API_UNAVAILABLE : API_INTERNAL_ERROR);
        request->after = NULL;
        request->is_settled = false;
        request_finish(request);
        return;
    }
    if (request->answer.status == 0 && !request->after && !request->is_late) {
        resolve_urls(request);
        return;
    }
    if (err == OK) {
        request->is_reserved = request->idempotency_key != NULL;
        request->is_first_job = false;
    }
    if (request->after && request->answer.status == 0)
        request->after(request);
    else
        request_finish(request);
}

/* The store's line: its workspace's, or where there is no key its address's. */
static const char *request_line(const struct request *request)
{
    const struct admitted *who = &request->admitted;
    return *who->workspace ? who->workspace : who->site;
}

enum err request_store_job(struct request *request, enum store_mode mode, store_fn *fn,
                           store_done_fn *done)
{
    struct store_line line = {.key = request_line(request), .mode = mode};
    return store_job_for(request->deps->store, line, fn, request, request->deps->control, done);
}

void request_job(struct request *request, enum store_mode mode, handler_fn *step)
{
    request->step = step;
    bool must_write = request->is_first_job && request_header(request, "Idempotency-Key") != NULL;
    if (request_store_job(request, must_write ? STORE_WRITE : mode, job, job_done) == OK)
        return;
    request_error(request, API_UNAVAILABLE);
    request->after = NULL;
    request_finish(request);
}

/* ---- answers that are made after the commit ---- */

static void run_show(struct request *request)
{
    request_job(request, STORE_READ, request->show);
}

void request_show(struct request *request, handler_fn *step)
{
    request->show = step;
    request->after = run_show;
}

/* What an answer can show anew: "agent ua_...". */
static const struct {
    const char *kind;
    handler_fn *show;
} shown_kinds[] = {
    {"agent ", agents_show},
    {"tool ", tools_get},
    {"call ", calls_write_one},
};

void request_show_again(struct request *request)
{
    request->is_first_job = false; /* nothing is reserved */
    for (size_t i = 0; i < ARRAY_LEN(shown_kinds); i++) {
        size_t len = strlen(shown_kinds[i].kind);
        if (strncmp(request->shown, shown_kinds[i].kind, len) != 0)
            continue;
        snprintf(request->params[0], sizeof request->params[0], "%s", request->shown + len);
        request_job(request, STORE_READ, shown_kinds[i].show);
        return;
    }
    request_error(request, API_INTERNAL_ERROR);
    request_finish(request);
}

/* ---- names of URLs, between two runs of the handler ---- */

struct url_check {
    struct request *request;
    size_t index;
};

static void url_checked(void *arg, const struct fault *fault)
{
    struct url_check *check = arg;
    struct request *request = check->request;
    /* A name that cannot be resolved is refused too: nothing is known to be public. */
    request->urls[check->index].state = fault->err == OK ? URL_ALLOWED : URL_DENIED;
    if (--request->url_waiting == 0)
        request_job(request, request->route->store == ROUTE_WRITE ? STORE_WRITE : STORE_READ,
                    request->step);
}

static void resolve_urls(struct request *request)
{
    size_t count = 0;
    for (size_t i = 0; i < request->url_count; i++)
        count += request->urls[i].state == URL_UNKNOWN;
    if (count == 0) { /* our bug: a handler left neither answer nor step */
        request_error(request, API_INTERNAL_ERROR);
        request_finish(request);
        return;
    }
    request->url_waiting = count;
    for (size_t i = 0; i < request->url_count; i++) {
        if (request->urls[i].state != URL_UNKNOWN)
            continue;
        struct url_check *check = arena_new_of(request->arena, struct url_check);
        *check = (struct url_check){.request = request, .index = i};
        resolver_check_url(request->deps->resolver, request->principal.workspace_id,
                           request->urls[i].url, url_checked, check);
    }
}

/* ---- the end ---- */

static enum err settle_job(struct tx *tx, void *arg)
{
    struct request *request = arg;
    request->tx = tx;
    enum err err = idempotency_settle(request);
    request->tx = NULL;
    return err;
}

static void settle_done(void *arg, enum err err)
{
    struct request *request = arg;
    if (err != OK)
        log_warn("http.idempotency", LOG_S("request", request->id), LOG_S("error", err_name(err)));
    request_send(request);
}

void request_finish(struct request *request)
{
    if (request->is_reserved && !request->is_settled) {
        request->is_settled = true;
        if (request_store_job(request, STORE_WRITE, settle_job, settle_done) == OK)
            return;
    }
    request_send(request);
}

void request_start(struct request *request)
{
    const struct route *route = request->route;
    timer_set_after(&request->deadline,
                    route->deadline_s ? route->deadline_s * INT64_C(1000000) : ANSWER_US);
    if (route->store == ROUTE_LOOP) {
        route->handle(request);
        request_finish(request);
        return;
    }
    request_job(request, route->store == ROUTE_WRITE ? STORE_WRITE : STORE_READ, route->handle);
}
