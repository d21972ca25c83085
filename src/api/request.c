/* The life of a request behind its head: jobs, URL checks, idempotency, the answer. */
#include "api/request.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/internal.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "base/ids.h"
#include "base/js.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "net/resolver.h"
#include "store/idempotency.h"

enum { JSON_DEPTH_MAX = 64 /* contract, JSON bodies */ };

static bool is_good_id(const char *text)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    size_t len = strlen(text);
    return len >= 1 && len <= REQUEST_ID_MAX && strspn(text, letters) == len;
}

struct request *request_new(struct api *api, struct http_exchange *exchange)
{
    struct arena *arena = arena_new(0);
    struct request *request = arena_new_of(arena, struct request);
    request->api = api;
    request->deps = &api->deps;
    request->exchange = exchange;
    request->http = http_exchange_request(exchange);
    request->arena = arena;
    request->started_us = clock_now_us();
    request->is_first_job = true;
    answer_init(&request->answer, arena);
    const char *id = http_exchange_header(exchange, "X-Request-Id");
    if (id && is_good_id(id))
        snprintf(request->id, sizeof request->id, "%s", id);
    else
        uuid_new(request->id);
    proxies_client(api->proxies, &request->http->peer,
                   http_exchange_header(exchange, "X-Forwarded-For"), request->address);
    api->under_way++;
    return request;
}

/* ---- the answer ---- */

static void add_number(struct request *request, const char *name, int64_t value)
{
    answer_header(&request->answer, name, arena_printf(request->arena, "%" PRId64, value));
}

static void add_headers(struct request *request)
{
    struct answer *answer = &request->answer;
    answer_header(answer, "Content-Type", answer->content_type);
    answer_header(answer, "X-Request-Id", request->id);
    answer_header(answer, "Cache-Control", "no-store");
    answer_header(answer, "X-Content-Type-Options", "nosniff");
    if (answer->status == 401)
        answer_header(answer, "WWW-Authenticate", "Bearer");
    if (answer->status == 503)
        answer_header(answer, "Retry-After", "5");
    if (request->has_principal && request->limit.per_minute) {
        add_number(request, "RateLimit-Limit", request->limit.per_minute);
        add_number(request, "RateLimit-Remaining", request->limit.remaining);
        add_number(request, "RateLimit-Reset", request->limit.reset_s);
    }
}

static void count(const struct request *request)
{
    char status[8];
    snprintf(status, sizeof status, "%d", request->answer.status);
    metric_add_label(METRIC_HTTP_REQUESTS, status, 1);
    const char *operation = request->route ? request->route->operation : "none";
    int64_t took_us = clock_now_us() - request->started_us;
    metric_observe_label_us(METRIC_HTTP_SECONDS, operation, took_us);
    if (request->answer.status >= 500)
        log_warn("http.answer", LOG_S("request", request->id), LOG_S("operation", operation),
                 LOG_I("status", request->answer.status), LOG_I("us", took_us));
    else
        log_debug("http.answer", LOG_S("request", request->id), LOG_S("operation", operation),
                  LOG_I("status", request->answer.status), LOG_I("us", took_us));
}

void request_send(struct request *request)
{
    if (request->has_principal && request->principal.kind == KEY_PUBLISHABLE &&
        !request->is_origin_known && request_header(request, "Origin")) {
        embed_send(request);
        return;
    }
    struct answer *answer = &request->answer;
    add_headers(request);
    count(request);
    size_t len = answer->body.len;
    struct http_answer out = {
        .status = answer->status,
        .headers = answer->headers,
        .header_count = answer->header_count,
        .body_len = len,
        .take_body = len ? buf_take(&answer->body, &len) : NULL,
    };
    http_answer(request->exchange, &out);
    js_free(request->body);
    answer_clear(answer);
    request->api->under_way--;
    arena_free(request->arena);
}

/* ---- idempotency ---- */

static bool is_kept(int status)
{
    return status < 300 || status == 400 || status == 403 || status == 404 || status == 409;
}

static struct idempotency_key idempotency(struct request *request)
{
    const struct http_request *http = request->http;
    char *sha = arena_alloc(request->arena, SHA256_HEX);
    const char *body = request->is_upload ? request->file : http->body;
    size_t body_len = request->is_upload ? request->file_len : http->body_len;
    crypto_sha256_hex(body ? body : "", body ? body_len : 0, sha);
    const struct principal *who = &request->principal;
    return (struct idempotency_key){
        .owner = who->kind == KEY_PUBLISHABLE ? arena_printf(request->arena, "pk:%s", who->agent_id)
                                              : (*who->key_id ? who->key_id : who->agent_id),
        .target = http->target,
        .key = request->idempotency_key,
        .body_sha = sha,
    };
}

static bool is_printable(const char *text)
{
    size_t len = strlen(text);
    for (const char *p = text; *p; p++)
        if (*p < ' ' || *p > '~')
            return false;
    return len >= 1 && len <= 255;
}

/* false: answered. */
static bool reserve(struct request *request)
{
    const char *header = request_header(request, "Idempotency-Key");
    request->idempotency_key = NULL;
    if (!header || strcmp(request->http->method, "POST") != 0)
        return true;
    if (!is_printable(header)) {
        request_fault(request, "Idempotency-Key", "must be 1 to 255 printable characters");
        return false;
    }
    request->idempotency_key = header;
    struct idempotency_key key = idempotency(request);
    struct kept_answer kept = {0};
    enum err err = store_idempotency_reserve(request->tx, &key, &kept);
    if (err == OK)
        return true;
    request->idempotency_key = NULL; /* this answer is none of its own */
    if (err == ERR_CONFLICT) {
        struct answer *answer = &request->answer;
        answer->status = kept.status;
        buf_reset(&answer->body);
        (void)buf_append(&answer->body, kept.body, kept.body_len);
        answer_header(answer, "Idempotent-Replayed", "true");
        return false;
    }
    request_error(request, err == ERR_BUSY      ? API_IDEMPOTENCY_KEY_IN_USE
                           : err == ERR_INVALID ? API_IDEMPOTENCY_KEY_REUSED
                                                : API_INTERNAL_ERROR);
    return false;
}

/* In the job that made the answer, or in one of its own: keeps it or gives the key free. */
static enum err settle(struct request *request)
{
    struct idempotency_key key = idempotency(request);
    const struct answer *answer = &request->answer;
    if (!is_kept(answer->status))
        return store_idempotency_release(request->tx, &key);
    struct kept_answer kept = {.status = answer->status,
                               .headers = "",
                               .body = answer->body.data,
                               .body_len = answer->body.len};
    return store_idempotency_keep(request->tx, &key, &kept);
}

/* ---- jobs ---- */

/* The spooled file, or nothing of one that is too long. */
static bool load_file(struct request *request)
{
    const struct http_request *http = request->http;
    if (request->file)
        return true;
    char *data = arena_alloc(request->arena, http->body_path ? http->body_len + 1 : 1);
    FILE *file = http->body_path ? fopen(http->body_path, "rbe") : NULL;
    size_t len = file ? fread(data, 1, http->body_len, file) : 0;
    if (file)
        fclose(file);
    if (http->body_path && len != http->body_len) {
        request_error(request, API_INTERNAL_ERROR);
        return false;
    }
    request->file = data;
    request->file_len = len;
    return true;
}

static bool parse_body(struct request *request)
{
    const struct http_request *http = request->http;
    enum route_body form = request->route->body;
    if (request->is_upload)
        return load_file(request);
    if (request->body)
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

static enum err run_step(struct request *request)
{
    if (!parse_body(request))
        return ERR_CONFLICT;
    if (request->is_first_job && !reserve(request))
        return ERR_CONFLICT;
    request->step(request);
    struct answer *answer = &request->answer;
    if (answer->status == 0)
        return request->after ? OK : ERR_AGAIN; /* ERR_AGAIN: names must be resolved */
    if (request->idempotency_key && (is_kept(answer->status) || !request->is_first_job)) {
        request->is_settled = true;
        return settle(request);
    }
    return answer->status < 400 ? OK : ERR_CONFLICT;
}

static enum err job(struct tx *tx, void *arg)
{
    struct request *request = arg;
    log_scope(NULL, request->id);
    request->tx = tx;
    request->after = NULL;
    request->is_settled = false;
    answer_reset(&request->answer);
    enum err err = run_step(request);
    request->is_undone = err == ERR_CONFLICT || err == ERR_AGAIN;
    request->tx = NULL;
    log_scope(NULL, NULL);
    return err;
}

static void resolve_urls(struct request *request);

static void job_done(void *arg, enum err err)
{
    struct request *request = arg;
    if (err != OK && !(request->is_undone && (err == ERR_CONFLICT || err == ERR_AGAIN))) {
        bool is_store = store_is_transient(err) || err == ERR_TIMEOUT || err == ERR_LIMIT;
        request_error(request, is_store ? API_UNAVAILABLE : API_INTERNAL_ERROR);
        request->after = NULL;
        request->is_settled = false;
        request_finish(request);
        return;
    }
    if (err == ERR_AGAIN) {
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
    return request->has_principal ? request->principal.workspace_id : request->address;
}

static void start_job(struct request *request, enum store_mode mode)
{
    struct store_line line = {.key = request_line(request), .mode = mode};
    if (store_job_for(request->deps->store, line, job, request, request->deps->control, job_done) ==
        OK)
        return;
    request_error(request, API_UNAVAILABLE);
    request_send(request);
}

void request_job(struct request *request, enum store_mode mode, handler_fn *step)
{
    request->step = step;
    bool must_write = request->is_reserved ||
                      (request->is_first_job && request_header(request, "Idempotency-Key") != NULL);
    start_job(request, must_write ? STORE_WRITE : mode);
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
    enum err err = settle(request);
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
        struct store_line line = {.key = request_line(request), .mode = STORE_WRITE};
        if (store_job_for(request->deps->store, line, settle_job, request, request->deps->control,
                          settle_done) == OK)
            return;
    }
    request_send(request);
}

void request_start(struct request *request)
{
    const struct route *route = request->route;
    if (route->store == ROUTE_LOOP) {
        route->handle(request);
        request_finish(request);
        return;
    }
    request_job(request, route->store == ROUTE_WRITE ? STORE_WRITE : STORE_READ, route->handle);
}
