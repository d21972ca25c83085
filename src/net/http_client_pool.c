#include "net/http_client_pool.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <curl/curl.h>

#include "base/list.h"
#include "base/loop.h"
#include "base/map.h"
#include "base/mem.h"

enum {
    IDLE_US = 60 * 1000 * 1000, /* most servers close an idle connection about then */
    IDLE_MAX = 256,             /* pools: 40 kB and two descriptors each */
    HOSTS_MAX = 256, /* then it is replaced: libcurl keeps each one's pin (400 bytes) and the frame
                         of its connections (150) */
    SMALL_BYTES = 64 * 1024,         /* always granted, whatever others hold */
    TENANT_BYTES = 32 * 1024 * 1024, /* 16 requests with the largest bodies both ways */
    ALL_BYTES = 256 * 1024 * 1024,
};

struct http_pools {
    struct http_pools_config config;
    struct map *by_tenant;
    struct http_pool *operators; /* NULL until it is wanted */
    struct list_node idle;       /* the one idle longest first */
    size_t idle_count;
    struct timer sweep;
    size_t held_bytes; /* of tenants */
    bool is_freed;
};

struct http_pool {
    struct http_pools *pools;
    struct list_node idle;
    char *tenant; /* NULL: the operator */
    size_t requests, held_bytes;
    int64_t idle_since_us;
    CURLM *multi;       /* NULL until the first transfer */
    CURLSH *share;      /* TLS sessions */
    struct timer timer; /* libcurl's */
    struct map *hosts;  /* that it has met */
    bool is_replaced;   /* goes with its last request */
    bool must_run_all;  /* run_all() is to come */
    bool is_freed;
};

/* One socket of libcurl's, watched for a transfer. One that is not connected yet is closed before
 * libcurl says so. */
struct watched {
    struct http_pool *pool;
    struct io *io; /* NULL: no descriptor was left; the transfer's deadlines end it */
    curl_socket_t fd;
    bool is_connected;              /* it was to be read from; before that it is written to alone */
    struct http_transfer *transfer; /* NULL: it is gone */
    struct list_node node;          /* in the transfer's */
    uint64_t before;                /* bytes that had come when the transfer got it */
};

static bool is_over(const struct http_pool *pool)
{
    return pool->is_freed || pool->pools->is_freed;
}

static void check_done(struct http_pool *pool)
{
    CURLMsg *msg;
    int left;
    while (!is_over(pool) && (msg = curl_multi_info_read(pool->multi, &left))) {
        struct http_transfer *transfer = NULL;
        CURLcode code = msg->data.result;
        if (msg->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, (char **)&transfer);
        pool->pools->config.fns.on_done(transfer, (int)code);
    }
}

/* libcurl asks for descriptors and a timer. */

static uint64_t received(curl_socket_t fd)
{
    struct tcp_info info = {0};
    socklen_t len = sizeof(info);
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 ? info.tcpi_bytes_received : 0;
}

static void on_socket(void *arg, unsigned events)
{
    struct watched *watched = arg;
    struct http_pool *pool = watched->pool;
    int running, flags = (events & IO_READ ? CURL_CSELECT_IN : 0) |
                         (events & IO_WRITE ? CURL_CSELECT_OUT : 0);
    if (is_over(pool))
        return;
    struct http_transfer *transfer = pool->tenant ? watched->transfer : NULL;
    if (transfer &&
        !pool->pools->config.fns.on_bytes(transfer, received(watched->fd) - watched->before))
        return;
    curl_multi_socket_action(pool->multi, watched->fd, flags, &running);
    check_done(pool);
}

static void free_watched(void *arg)
{
    mem_free(arg);
}

static struct watched *watch(struct http_pool *pool, CURL *easy, curl_socket_t fd, unsigned events)
{
    struct watched *watched = mem_new(struct watched);
    watched->pool = pool;
    watched->fd = fd;
    watched->before = received(fd);
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&watched->transfer);
    if (watched->transfer)
        list_push_back(&watched->transfer->watches, &watched->node);
    watched->io = io_open_apart(pool->pools->config.loop, fd, events, on_socket, watched);
    return watched;
}

static void run_all(void *arg)
{
    struct http_pool *pool = arg;
    int running;
    pool->must_run_all = false;
    if (is_over(pool))
        return;
    CURL_IGNORE_DEPRECATION(curl_multi_socket_all(pool->multi, &running);)
    check_done(pool);
}

/* libcurl (7.88) gives up an address that takes no connection in half of its time, and goes on to
 * the next one only when it is called: nothing that it has asked for calls it before the end. */
static void try_next_address(struct http_pool *pool)
{
    if (is_over(pool) || pool->must_run_all)
        return;
    pool->must_run_all = true;
    loop_defer(pool->pools->config.loop, run_all, pool);
}

static int watch_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *socket_arg)
{
    struct http_pool *pool = arg;
    struct watched *watched = socket_arg;
    if (what == CURL_POLL_REMOVE) {
        if (watched) {
            io_close(watched->io);
            list_remove(&watched->node);
            curl_multi_assign(pool->multi, fd, NULL);
            if (!watched->is_connected)
                try_next_address(pool);
            loop_defer(pool->pools->config.loop, free_watched, watched);
        }
        return 0;
    }
    unsigned events = (what & CURL_POLL_IN ? IO_READ : 0) | (what & CURL_POLL_OUT ? IO_WRITE : 0);
    if (!watched)
        watched = watch(pool, easy, fd, events);
    else if (watched->io)
        io_want(watched->io, events);
    watched->is_connected = watched->is_connected || (events & IO_READ);
    curl_multi_assign(pool->multi, fd, watched);
    return 0;
}

static void on_timer(void *arg)
{
    struct http_pool *pool = arg;
    int running;
    if (is_over(pool))
        return;
    curl_multi_socket_action(pool->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    check_done(pool);
}

static int set_timer(CURLM *multi, long timeout_ms, void *arg)
{
    struct http_pool *pool = arg;
    (void)multi;
    if (timeout_ms < 0 || is_over(pool))
        timer_stop(&pool->timer);
    else
        timer_set_after(&pool->timer, timeout_ms * 1000);
    return 0;
}

static void open_multi(struct http_pool *pool)
{
    const struct http_pools_config *config = &pool->pools->config;
    pool->multi = curl_multi_init();
    curl_multi_setopt(pool->multi, CURLMOPT_SOCKETFUNCTION, watch_socket);
    curl_multi_setopt(pool->multi, CURLMOPT_SOCKETDATA, pool);
    curl_multi_setopt(pool->multi, CURLMOPT_TIMERFUNCTION, set_timer);
    curl_multi_setopt(pool->multi, CURLMOPT_TIMERDATA, pool);
    curl_multi_setopt(pool->multi, CURLMOPT_MAXCONNECTS,
                      pool->tenant ? config->max_tenant_connections : config->max_connections);
    curl_multi_setopt(pool->multi, CURLMOPT_MAX_HOST_CONNECTIONS, config->max_per_host);
    pool->share = curl_share_init();
    curl_share_setopt(pool->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
}

/* Pools. */

static void free_pool(void *arg)
{
    struct http_pool *pool = arg;
    timer_stop(&pool->timer);
    if (pool->multi)
        curl_multi_cleanup(pool->multi);
    if (pool->share)
        curl_share_cleanup(pool->share);
    map_free(pool->hosts);
    mem_free(pool->tenant);
    mem_free(pool);
}

static void stop_idling(struct http_pool *pool)
{
    pool->pools->idle_count -= list_is_linked(&pool->idle);
    list_remove(&pool->idle);
}

static struct http_pool *find(const struct http_pools *pools, const char *tenant)
{
    return tenant ? map_get_str(pools->by_tenant, tenant) : pools->operators;
}

/* It is not taken any more. */
static void forget(struct http_pool *pool)
{
    struct http_pools *pools = pool->pools;
    if (find(pools, pool->tenant) != pool)
        return;
    if (pool->tenant)
        map_remove_str(pools->by_tenant, pool->tenant);
    else
        pools->operators = NULL;
}

/* libcurl may be on the stack. */
static void drop_pool(struct http_pool *pool)
{
    struct http_pools *pools = pool->pools;
    pool->is_freed = true;
    timer_stop(&pool->timer);
    stop_idling(pool);
    forget(pool);
    loop_defer(pools->config.loop, free_pool, pool);
}

static void sweep(void *arg)
{
    struct http_pools *pools = arg;
    int64_t now_us = loop_now_us(pools->config.loop);
    struct http_pool *first;
    while ((first = LIST_FIRST(&pools->idle, struct http_pool, idle)) &&
           first->idle_since_us + IDLE_US <= now_us)
        drop_pool(first);
    if (first)
        timer_set(&pools->sweep, first->idle_since_us + IDLE_US);
}

struct http_pools *http_pools_new(const struct http_pools_config *config)
{
    struct http_pools *pools = mem_new(struct http_pools);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    pools->config = *config;
    pools->by_tenant = map_new();
    list_init(&pools->idle);
    timer_init(&pools->sweep, config->loop, sweep, pools);
    return pools;
}

static int drop_each(void *arg, const void *key, size_t key_len, void *value)
{
    (void)arg, (void)key, (void)key_len;
    drop_pool(value);
    return 0;
}

static void free_pools(void *arg)
{
    struct http_pools *pools = arg;
    map_free(pools->by_tenant);
    mem_free(pools);
}

void http_pools_free(struct http_pools *pools)
{
    pools->is_freed = true;
    timer_stop(&pools->sweep);
    map_each(pools->by_tenant, drop_each, NULL);
    if (pools->operators)
        drop_pool(pools->operators);
    loop_defer(pools->config.loop, free_pools, pools);
}

static struct http_pool *new_pool(struct http_pools *pools, const char *tenant)
{
    struct http_pool *pool = mem_new(struct http_pool);
    pool->pools = pools;
    pool->tenant = mem_strdup(tenant);
    pool->hosts = map_new();
    timer_init(&pool->timer, pools->config.loop, on_timer, pool);
    if (tenant)
        map_set_str(pools->by_tenant, tenant, pool);
    else
        pools->operators = pool;
    return pool;
}

struct http_pool *http_pool_take(struct http_pools *pools, const char *tenant)
{
    struct http_pool *pool = find(pools, tenant);
    if (pool && map_count(pool->hosts) >= HOSTS_MAX) {
        forget(pool);
        pool->is_replaced = true;
        if (pool->requests == 0)
            drop_pool(pool);
        pool = NULL;
    }
    if (!pool)
        pool = new_pool(pools, tenant);
    pool->requests++;
    stop_idling(pool);
    return pool;
}

void http_pool_give(struct http_pool *pool)
{
    struct http_pools *pools = pool->pools;
    if (--pool->requests > 0 || is_over(pool) || (!pool->tenant && !pool->is_replaced))
        return;
    if (!pool->multi || pool->is_replaced) { /* nothing is worth keeping */
        drop_pool(pool);
        return;
    }
    pool->idle_since_us = loop_now_us(pools->config.loop);
    list_push_back(&pools->idle, &pool->idle);
    if (++pools->idle_count > IDLE_MAX)
        drop_pool(LIST_FIRST(&pools->idle, struct http_pool, idle));
    if (!timer_is_set(&pools->sweep))
        timer_set_after(&pools->sweep, IDLE_US);
}

bool http_pool_hold(struct http_pool *pool, size_t had, size_t more)
{
    struct http_pools *pools = pool->pools;
    bool is_small = had + more <= SMALL_BYTES;
    if (pools->config.bounds_bytes && pool->tenant && !is_small &&
        (pool->held_bytes + more > TENANT_BYTES || pools->held_bytes + more > ALL_BYTES))
        return false;
    pool->held_bytes += more;
    pools->held_bytes += pool->tenant ? more : 0;
    return true;
}

void http_pool_release(struct http_pool *pool, size_t bytes)
{
    pool->held_bytes -= bytes;
    pool->pools->held_bytes -= pool->tenant ? bytes : 0;
}

void http_pool_meet(struct http_pool *pool, const char *host_and_port)
{
    map_set_str(pool->hosts, host_and_port, pool);
}

void http_pool_add(struct http_pool *pool, struct http_transfer *transfer)
{
    if (!pool->multi)
        open_multi(pool);
    list_init(&transfer->watches);
    curl_easy_setopt(transfer->easy, CURLOPT_PRIVATE, transfer);
    curl_easy_setopt(transfer->easy, CURLOPT_SHARE, pool->share);
    curl_multi_add_handle(pool->multi, transfer->easy);
}

void http_pool_remove(struct http_pool *pool, struct http_transfer *transfer)
{
    curl_multi_remove_handle(pool->multi, transfer->easy);
    curl_easy_cleanup(TAKE(transfer->easy));
    while (!list_is_empty(&transfer->watches)) {
        struct watched *watched = LIST_FIRST(&transfer->watches, struct watched, node);
        list_remove(&watched->node);
        watched->transfer = NULL;
    }
}
