#include "net/http_client.h"

#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/mem.h"
#include "net/http_client_internal.h"
#include "net/resolver.h"
#include "net/tls.h"

enum {
    CONNECT_STANDARD_MS = 5000,
    TIMEOUT_STANDARD_MS = 30000,
    BODY_STANDARD_BYTES = 1024 * 1024,
    CONNECTIONS_STANDARD = 256,
    TENANT_CONNECTIONS = 16, /* a tenant has as many requests under way */
    URL_MAX_BYTES = 2 * URL_MAX,
    /* On a connection a body may take eight times its size (chunks of one byte), and headers. */
    FRAMING_TIMES = 8,
    FRAMING_BYTES = 1024 * 1024,
};

struct http_client {
    struct loop *loop;
    struct http_client_config config;
    struct tls_context *own_tls; /* unless one was given */
    struct http_pools *pools;
    struct fair *fair; /* of fetches */
    struct list_node fetches;
    bool is_stopped;
    bool is_freed;
};

static void on_done(struct http_transfer *transfer, int code);
static bool on_bytes(struct http_transfer *transfer, uint64_t received);

struct http_client *http_client_new(struct loop *loop, const struct http_client_config *config)
{
    struct http_client *client = mem_new(struct http_client);
    const struct http_pools_config pools = {
        .loop = loop,
        .fns = {on_done, on_bytes},
        .max_connections = config->max_connections ? config->max_connections : CONNECTIONS_STANDARD,
        .max_tenant_connections =
            config->max_connections ? config->max_connections : TENANT_CONNECTIONS,
        .max_per_host = config->max_per_host,
        .bounds_bytes = config->tenants.running > 0,
    };
    client->loop = loop;
    client->config = *config;
    client->pools = http_pools_new(&pools);
    client->fair = fair_new(&config->tenants);
    list_init(&client->fetches);
    return client;
}

/* One of its own is made when it is wanted first: reading the authorities takes 20 ms. */
const struct tls_context *http_fetch_tls(const struct http_fetch *fetch)
{
    struct http_client *client = fetch->client;
    if (!client->config.tls && tls_client_new(NULL, &client->own_tls, NULL) == OK)
        client->config.tls = client->own_tls;
    return client->config.tls;
}

const struct http_client_config *http_fetch_config(const struct http_fetch *fetch)
{
    return &fetch->client->config;
}

/* The life of a fetch. */

static void begin_next(struct http_client *client);

static void free_fetch(void *arg)
{
    struct http_fetch *fetch = arg;
    http_fetch_release(fetch);
    http_pool_release(fetch->pool, fetch->held_bytes);
    http_pool_give(fetch->pool);
    buf_clear(&fetch->got.body);
    arena_free(fetch->arena);
    mem_free(fetch);
}

/* No callback comes after this; libcurl lets go at the end of the turn, outside its own calls. */
static void retire(struct http_fetch *fetch)
{
    struct http_client *client = fetch->client;
    fetch->is_over = true;
    resolve_cancel(TAKE(fetch->name));
    timer_stop(&fetch->limit);
    timer_stop(&fetch->stall);
    list_remove(&fetch->node);
    loop_defer(client->loop, free_fetch, fetch);
    if (fetch->turn.line && fetch->turn.is_running)
        fair_done(client->fair, &fetch->turn, clock_now_us() - fetch->began_us);
    else
        fair_remove(client->fair, &fetch->turn);
    begin_next(client);
}

static void finish(struct http_fetch *fetch)
{
    if (fetch->is_over)
        return;
    int64_t now_us = clock_now_us();
    const struct http_fetch_result result = {
        .fault = fetch->fault,
        .status = http_fetch_status(fetch),
        .body = fetch->got.body.data ? fetch->got.body.data : "",
        .body_len = fetch->got.body.len,
        .is_cut = fetch->got.is_cut,
        .headers = fetch->got.headers,
        .header_count = fetch->got.header_count,
        .content_type = http_fetch_content_type(fetch),
        .latency_us = now_us - fetch->asked_us,
        .first_byte_us = fetch->got.first_byte_us ? fetch->got.first_byte_us - fetch->asked_us : -1,
    };
    retire(fetch);
    fetch->fns.on_done(fetch->arg, &result);
}

void http_fetch_cancel(struct http_fetch *fetch)
{
    if (fetch && !fetch->is_over)
        retire(fetch);
}

static void free_client(void *arg)
{
    struct http_client *client = arg;
    fair_free(client->fair);
    tls_context_free(client->own_tls);
    mem_free(client);
}

void http_client_free(struct http_client *client)
{
    struct http_fetch *fetch;
    if (!client)
        return;
    client->is_freed = true;
    LIST_EACH (fetch, &client->fetches, struct http_fetch, node) {
        retire(fetch);
    }
    http_pools_free(client->pools); /* after the fetches, at the end of the turn */
    loop_defer(client->loop, free_client, client);
}

static void stop_fetch(struct http_fetch *fetch)
{
    if (!fetch->fault.err)
        fault_set(&fetch->fault, ERR_CLOSED, "the service is ending");
    timer_set_after(&fetch->limit, 0);
}

void http_client_stop(struct http_client *client)
{
    struct http_fetch *fetch;
    client->is_stopped = true;
    LIST_EACH (fetch, &client->fetches, struct http_fetch, node) {
        stop_fetch(fetch);
    }
}

static struct http_fetch *fetch_of(struct http_transfer *transfer)
{
    return CONTAINER_OF(transfer, struct http_fetch, curl.transfer);
}

static void on_done(struct http_transfer *transfer, int code)
{
    struct http_fetch *fetch = fetch_of(transfer);
    if (fetch->is_over)
        return;
    http_fetch_conclude(fetch, code);
    finish(fetch);
}

static bool on_bytes(struct http_transfer *transfer, uint64_t received)
{
    struct http_fetch *fetch = fetch_of(transfer);
    uint64_t most = (uint64_t)fetch->asked.limits.max_body_bytes * FRAMING_TIMES + FRAMING_BYTES;
    if (fetch->is_over)
        return false;
    if (received <= most)
        return true;
    fault_set(&fetch->fault, ERR_LIMIT, "the answer's framing is too long");
    finish(fetch);
    return false;
}

static void on_limit(void *arg)
{
    struct http_fetch *fetch = arg;
    if (!fetch->fault.err && !fetch->began_us)
        fault_set(&fetch->fault, ERR_TIMEOUT, "it waited too long behind others of the workspace");
    if (!fetch->fault.err) /* one that was known at once waits here as well */
        fault_set(&fetch->fault, ERR_TIMEOUT, "no answer within %lld ms",
                  (long long)fetch->asked.limits.timeout_ms);
    finish(fetch);
}

static void on_stall(void *arg)
{
    struct http_fetch *fetch = arg;
    fault_set(&fetch->fault, ERR_TIMEOUT, "no byte for %lld ms",
              (long long)fetch->asked.limits.stall_ms);
    finish(fetch);
}

void http_fetch_touch(struct http_fetch *fetch)
{
    if (fetch->asked.limits.stall_ms > 0)
        timer_set_after(&fetch->stall, fetch->asked.limits.stall_ms * 1000);
}

static void on_resolved(void *arg, const struct net_addr *addrs, size_t count,
                        const struct fault *fault)
{
    struct http_fetch *fetch = arg;
    struct net_addr literal;
    fetch->name = NULL;
    if (fault->err) {
        fetch->fault = *fault;
        finish(fetch);
        return;
    }
    http_fetch_begin(fetch, addrs, count, net_ip_parse(fetch->asked.url.host, &literal) == OK);
}

/* It is this fetch's turn. */
static void begin(struct http_fetch *fetch)
{
    fetch->began_us = clock_now_us();
    const struct resolve_target target = {fetch->asked.url.host, fetch->asked.url.port,
                                          fetch->asked.limits.scope, fetch->asked.limits.tenant};
    fetch->name = resolve_start(fetch->client->config.resolver, &target, on_resolved, fetch);
}

static void begin_next(struct http_client *client)
{
    struct fair_item *turn;
    while (!client->is_freed && (turn = fair_next(client->fair)))
        begin(CONTAINER_OF(turn, struct http_fetch, turn));
}

/* What is sent is made anew from what the guard has understood, so that both mean the same host. */
static enum err write_url(struct http_fetch *fetch)
{
    AUTO_BUF text = BUF_INIT(URL_MAX_BYTES);
    buf_append_str(&text, url_is_tls(&fetch->asked.url) ? "https://" : "http://");
    url_write_host(&fetch->asked.url, &text);
    url_write_target(&fetch->asked.url, &text);
    if (text.is_full)
        return fault_set(&fetch->fault, ERR_LIMIT, "the URL is too long");
    fetch->asked.url_text = arena_strdup(fetch->arena, text.data);
    return OK;
}

static enum err copy_body(struct http_fetch *fetch, const struct http_fetch_request *request)
{
    if (!request->body)
        return OK;
    if (!http_pool_hold(fetch->pool, 0, request->body_len))
        return fault_set(&fetch->fault, ERR_BUSY, "too many long requests at once");
    fetch->held_bytes = fetch->asked.body_len = request->body_len;
    fetch->asked.body = arena_alloc(fetch->arena, fetch->asked.body_len + 1);
    memcpy(fetch->asked.body, request->body, fetch->asked.body_len);
    return OK;
}

static enum err prepare(struct http_fetch *fetch, const struct http_fetch_request *request)
{
    struct http_client *client = fetch->client;
    const struct guard *guard = resolver_guard(client->config.resolver);
    fetch->fault = request->refused;
    if (fetch->fault.err)
        return fetch->fault.err;
    const char *url = arena_strdup(fetch->arena, request->url);
    enum err err = guard_check_url(guard, request->scope, url, &fetch->asked.url, &fetch->fault);
    if (!err)
        err = write_url(fetch);
    if (!err)
        err = http_fetch_set_headers(fetch, request);
    if (!err)
        err = copy_body(fetch, request);
    if (!err && client->is_stopped)
        err = fault_set(&fetch->fault, ERR_CLOSED, "the service is ending");
    if (!err && fair_push(client->fair, request->tenant, &fetch->turn) != OK)
        err = fault_set(&fetch->fault, ERR_BUSY, "too many requests of the workspace wait");
    fetch->fault.err = err;
    return err;
}

static struct http_fetch_request with_standards(const struct http_fetch_request *given)
{
    struct http_fetch_request limits = *given;
    limits.connect_ms = given->connect_ms ? given->connect_ms : CONNECT_STANDARD_MS;
    limits.timeout_ms = given->timeout_ms ? given->timeout_ms : TIMEOUT_STANDARD_MS;
    limits.max_body_bytes = given->max_body_bytes ? given->max_body_bytes : BODY_STANDARD_BYTES;
    return limits;
}

struct http_fetch *http_fetch_start(struct http_client *client,
                                    const struct http_fetch_request *request,
                                    const struct http_fetch_fns *fns, void *arg)
{
    struct http_fetch *fetch = mem_new(struct http_fetch);
    fetch->client = client;
    fetch->pool = http_pool_take(client->pools, request->tenant);
    fetch->arena = arena_new(0);
    fetch->asked.limits = with_standards(request);
    fetch->asked.limits.tenant = arena_strdup(fetch->arena, request->tenant);
    fetch->fns = *fns;
    fetch->arg = arg;
    fetch->asked.method = arena_strdup(fetch->arena, request->method);
    if (request->wants_headers)
        fetch->got.headers = arena_new_n(fetch->arena, struct http_header, HTTP_FETCH_HEADERS_MAX);
    buf_init(&fetch->got.body, fetch->asked.limits.max_body_bytes);
    fetch->asked_us = clock_now_us();
    timer_init(&fetch->limit, client->loop, on_limit, fetch);
    timer_init(&fetch->stall, client->loop, on_stall, fetch);
    list_push_back(&client->fetches, &fetch->node);
    bool is_known = prepare(fetch, request) != OK;
    timer_set_after(&fetch->limit, is_known ? 0 : fetch->asked.limits.timeout_ms * 1000);
    begin_next(client);
    return fetch;
}
