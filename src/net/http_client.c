#include "net/http_client.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <curl/curl.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/loop.h"
#include "base/mem.h"
#include "net/internal.h"
#include "net/resolver.h"
#include "net/tls.h"
#include "net/url.h"

enum {
    CONNECT_STANDARD_MS = 5000,
    TIMEOUT_STANDARD_MS = 30000,
    BODY_STANDARD_BYTES = 1024 * 1024,
    CONNECTIONS_STANDARD = 256,
    HEADERS_MAX = 100,
    URL_MAX_BYTES = 2 * URL_MAX,
};

struct http_client {
    struct loop *loop;
    CURLM *multi;
    struct timer timer; /* libcurl's */
    struct http_client_config config;
    char *ca_path;
    struct list_node fetches;
    bool is_stopped;
    bool is_freed;
};

/* One socket of libcurl's, watched. */
struct watched {
    struct http_client *client;
    struct io *io;
    curl_socket_t fd;
};

/*   resolving --> with libcurl (easy != NULL) --> over */
struct http_fetch {
    struct http_client *client;
    struct list_node node;
    struct arena *arena;
    struct resolve *name;
    struct url url;
    char *url_text;
    char *method;
    char *body;
    size_t body_len;
    struct curl_slist *headers, *pinned;
    struct http_fetch_request limits; /* its numbers only */
    struct http_fetch_fns fns;
    void *arg;
    CURL *easy;
    struct timer limit, stall;
    int64_t began_us, first_byte_us;
    struct buf got;
    struct http_header *got_headers;
    size_t got_count;
    char error_text[CURL_ERROR_SIZE];
    struct fault fault;
    bool is_cut;
    bool is_over; /* on_done has come or will never come */
};

static void check_done(struct http_client *client);

/* libcurl asks for descriptors and a timer. */

static void on_socket(void *arg, unsigned events)
{
    struct watched *watched = arg;
    struct http_client *client = watched->client;
    if (client->is_freed)
        return;
    int running, flags = (events & IO_READ ? CURL_CSELECT_IN : 0) |
                         (events & IO_WRITE ? CURL_CSELECT_OUT : 0);
    curl_multi_socket_action(client->multi, watched->fd, flags, &running);
    check_done(client);
}

static void free_watched(void *arg)
{
    mem_free(arg);
}

static int watch_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *socket_arg)
{
    struct http_client *client = arg;
    struct watched *watched = socket_arg;
    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (watched) {
            io_close(watched->io);
            curl_multi_assign(client->multi, fd, NULL);
            loop_defer(client->loop, free_watched, watched);
        }
        return 0;
    }
    unsigned events = (what & CURL_POLL_IN ? IO_READ : 0) | (what & CURL_POLL_OUT ? IO_WRITE : 0);
    if (!watched) {
        watched = mem_new(struct watched);
        watched->client = client;
        watched->fd = fd;
        watched->io = io_open(client->loop, fd, events, on_socket, watched);
        curl_multi_assign(client->multi, fd, watched);
    } else {
        io_want(watched->io, events);
    }
    return 0;
}

static void on_timer(void *arg)
{
    struct http_client *client = arg;
    int running;
    if (client->is_freed)
        return;
    curl_multi_socket_action(client->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    check_done(client);
}

static int set_timer(CURLM *multi, long timeout_ms, void *arg)
{
    struct http_client *client = arg;
    (void)multi;
    if (timeout_ms < 0 || client->is_freed)
        timer_stop(&client->timer);
    else
        timer_set_after(&client->timer, timeout_ms * 1000);
    return 0;
}

struct http_client *http_client_new(struct loop *loop, const struct http_client_config *config)
{
    struct http_client *client = mem_new(struct http_client);
    unsigned connections =
        config->max_connections ? config->max_connections : (unsigned)CONNECTIONS_STANDARD;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    client->loop = loop;
    client->config = *config;
    client->ca_path = mem_strdup(config->ca_path);
    list_init(&client->fetches);
    timer_init(&client->timer, loop, on_timer, client);
    client->multi = curl_multi_init();
    curl_multi_setopt(client->multi, CURLMOPT_SOCKETFUNCTION, watch_socket);
    curl_multi_setopt(client->multi, CURLMOPT_SOCKETDATA, client);
    curl_multi_setopt(client->multi, CURLMOPT_TIMERFUNCTION, set_timer);
    curl_multi_setopt(client->multi, CURLMOPT_TIMERDATA, client);
    curl_multi_setopt(client->multi, CURLMOPT_MAXCONNECTS, (long)connections);
    curl_multi_setopt(client->multi, CURLMOPT_MAX_HOST_CONNECTIONS, (long)config->max_per_host);
    return client;
}

/* The life of a fetch. */

static void free_fetch(void *arg)
{
    struct http_fetch *fetch = arg;
    if (fetch->easy) {
        curl_multi_remove_handle(fetch->client->multi, fetch->easy);
        curl_easy_cleanup(fetch->easy);
    }
    curl_slist_free_all(fetch->headers);
    curl_slist_free_all(fetch->pinned);
    buf_clear(&fetch->got);
    arena_free(fetch->arena);
    mem_free(fetch);
}

/* No callback comes after this; libcurl lets go at the end of the turn, outside its own calls. */
static void retire(struct http_fetch *fetch)
{
    fetch->is_over = true;
    resolve_cancel(TAKE(fetch->name));
    timer_stop(&fetch->limit);
    timer_stop(&fetch->stall);
    list_remove(&fetch->node);
    loop_defer(fetch->client->loop, free_fetch, fetch);
}

static void finish(struct http_fetch *fetch)
{
    if (fetch->is_over)
        return;
    int64_t now_us = clock_now_us();
    long status = 0;
    char *type = NULL;
    if (fetch->easy) {
        curl_easy_getinfo(fetch->easy, CURLINFO_RESPONSE_CODE, &status);
        curl_easy_getinfo(fetch->easy, CURLINFO_CONTENT_TYPE, &type);
    }
    const struct http_fetch_result result = {
        .fault = fetch->fault,
        .status = (int)status,
        .body = fetch->got.data ? fetch->got.data : "",
        .body_len = fetch->got.len,
        .is_cut = fetch->is_cut,
        .headers = fetch->got_headers,
        .header_count = fetch->got_count,
        .content_type = type,
        .latency_us = now_us - fetch->began_us,
        .first_byte_us = fetch->first_byte_us ? fetch->first_byte_us - fetch->began_us : -1,
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
    timer_stop(&client->timer);
    curl_multi_cleanup(client->multi);
    mem_free(client->ca_path);
    mem_free(client);
}

void http_client_free(struct http_client *client)
{
    struct http_fetch *fetch;
    if (!client)
        return;
    client->is_freed = true;
    LIST_EACH(fetch, &client->fetches, struct http_fetch, node)
    {
        retire(fetch);
    }
    loop_defer(client->loop, free_client, client); /* behind those of the fetches */
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
    LIST_EACH(fetch, &client->fetches, struct http_fetch, node)
    {
        stop_fetch(fetch);
    }
}

static enum err error_of(CURLcode code)
{
    switch (code) {
    case CURLE_OK:
        return OK;
    case CURLE_OPERATION_TIMEDOUT:
        return ERR_TIMEOUT;
    case CURLE_COULDNT_RESOLVE_HOST:
        return ERR_NOT_FOUND;
    case CURLE_URL_MALFORMAT:
        return ERR_INVALID;
    default:
        return ERR_IO;
    }
}

static void conclude(struct http_fetch *fetch, CURLcode code)
{
    if (!fetch->fault.err && !fetch->is_cut && code != CURLE_OK)
        fault_set(&fetch->fault, error_of(code), "%s",
                  fetch->error_text[0] ? fetch->error_text : curl_easy_strerror(code));
    finish(fetch);
}

static void check_done(struct http_client *client)
{
    CURLMsg *msg;
    int left;
    while (!client->is_freed && (msg = curl_multi_info_read(client->multi, &left))) {
        struct http_fetch *fetch = NULL;
        CURLcode code = msg->data.result;
        if (msg->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, (char **)&fetch);
        conclude(fetch, code);
    }
}

static void on_limit(void *arg)
{
    struct http_fetch *fetch = arg;
    if (!fetch->fault.err) /* one that was known at once waits here as well */
        fault_set(&fetch->fault, ERR_TIMEOUT, "no answer within %lld ms",
                  (long long)fetch->limits.timeout_ms);
    finish(fetch);
}

static void on_stall(void *arg)
{
    struct http_fetch *fetch = arg;
    fault_set(&fetch->fault, ERR_TIMEOUT, "no byte for %lld ms", (long long)fetch->limits.stall_ms);
    finish(fetch);
}

static void touch(struct http_fetch *fetch)
{
    if (fetch->limits.stall_ms > 0)
        timer_set_after(&fetch->stall, fetch->limits.stall_ms * 1000);
}

/* libcurl's callbacks while it works. It lets go of a fetch that is over at the end of the turn
 * only, so each of them looks whether it is before it touches anything. */

static size_t keep_body(struct http_fetch *fetch, const char *data, size_t len)
{
    size_t room = fetch->limits.max_body_bytes - fetch->got.len;
    if (len <= room)
        return buf_append(&fetch->got, data, len) == OK ? len : 0;
    if (fetch->limits.cut_body) {
        buf_append(&fetch->got, data, room);
        fetch->is_cut = true;
    } else {
        fault_set(&fetch->fault, ERR_LIMIT, "the answer is longer than %zu bytes",
                  fetch->limits.max_body_bytes);
    }
    return 0;
}

static size_t on_body(char *data, size_t size, size_t count, void *arg)
{
    struct http_fetch *fetch = arg;
    size_t len = size * count;
    long status = 0;
    if (fetch->is_over)
        return 0;
    touch(fetch);
    curl_easy_getinfo(fetch->easy, CURLINFO_RESPONSE_CODE, &status);
    if (!fetch->fns.on_data || status < 200 || status > 299)
        return keep_body(fetch, data, len);
    int stops = fetch->fns.on_data(fetch->arg, (int)status, data, len);
    if (stops && !fetch->is_over)
        fault_set(&fetch->fault, ERR_CLOSED, "the reader has stopped");
    return stops || fetch->is_over ? 0 : len;
}

static void keep_header(struct http_fetch *fetch, const char *line, size_t len)
{
    const char *colon = memchr(line, ':', len);
    if (!colon || fetch->got_count == HEADERS_MAX)
        return;
    const char *value = colon + 1, *end = line + len;
    while (value < end && (*value == ' ' || *value == '\t'))
        value++;
    while (end > value && (end[-1] == '\r' || end[-1] == '\n' || end[-1] == ' '))
        end--;
    struct http_header *header = &fetch->got_headers[fetch->got_count++];
    header->name = arena_strndup(fetch->arena, line, (size_t)(colon - line));
    header->value = arena_strndup(fetch->arena, value, (size_t)(end - value));
}

static size_t on_header(char *data, size_t size, size_t count, void *arg)
{
    struct http_fetch *fetch = arg;
    size_t len = size * count;
    if (fetch->is_over)
        return 0;
    touch(fetch);
    if (!fetch->first_byte_us)
        fetch->first_byte_us = clock_now_us();
    if (len > 5 && memcmp(data, "HTTP/", 5) == 0)
        fetch->got_count = 0; /* the one before was interim */
    else if (fetch->limits.wants_headers)
        keep_header(fetch, data, len);
    return len;
}

/* The guard's second look: at the very address that is about to be connected to. */
static curl_socket_t open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct http_fetch *fetch = arg;
    struct sockaddr_storage storage = {0};
    struct net_addr addr;
    (void)purpose;
    if (fetch->is_over)
        return CURL_SOCKET_BAD;
    memcpy(&storage, &address->addr, MIN(sizeof(storage), (size_t)address->addrlen));
    net_addr_from_sockaddr(&storage, &addr);
    const struct guard *guard = resolver_guard(fetch->client->config.resolver);
    if (guard_check_address(guard, fetch->limits.scope, &addr, &fetch->fault) != OK)
        return CURL_SOCKET_BAD;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static void set_method(struct http_fetch *fetch)
{
    CURL *easy = fetch->easy;
    if (fetch->body || strcmp(fetch->method, "POST") == 0) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, fetch->body ? fetch->body : "");
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)fetch->body_len);
    } else {
        curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
    }
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, fetch->method);
}

static void set_callbacks(struct http_fetch *fetch)
{
    CURL *easy = fetch->easy;
    curl_easy_setopt(easy, CURLOPT_PRIVATE, fetch);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, fetch->error_text);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, fetch);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, fetch);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, fetch);
}

static void set_rules(struct http_fetch *fetch)
{
    CURL *easy = fetch->easy;
    curl_easy_setopt(easy, CURLOPT_URL, fetch->url_text);
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "Earshot/" EARSHOT_VERSION);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, fetch->headers);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)fetch->limits.connect_ms);
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(easy, CURLOPT_SSL_CIPHER_LIST, TLS_CIPHERS);
    if (fetch->pinned)
        curl_easy_setopt(easy, CURLOPT_RESOLVE, fetch->pinned);
    if (fetch->client->ca_path) /* beside the system's directory */
        curl_easy_setopt(easy, CURLOPT_CAINFO, fetch->client->ca_path);
}

static void begin_transfer(struct http_fetch *fetch)
{
    fetch->easy = curl_easy_init();
    set_callbacks(fetch);
    set_rules(fetch);
    set_method(fetch);
    curl_multi_add_handle(fetch->client->multi, fetch->easy);
}

/* "host:port:address,address" makes libcurl take these addresses for the name. */
static void pin(struct http_fetch *fetch, const struct net_addr *addrs, size_t count)
{
    AUTO_BUF text = BUF_INIT(URL_HOST_SIZE + 16 + RESOLVER_MAX_ADDRESSES * NET_IP_SIZE);
    buf_printf(&text, "%s:%u:", fetch->url.host, (unsigned)fetch->url.port);
    for (size_t i = 0; i < count; i++) {
        char ip[NET_IP_SIZE];
        net_ip_print(&addrs[i], ip);
        bool is_ipv4 = net_addr_is_ipv4(&addrs[i]);
        buf_printf(&text, "%s%s%s%s", i ? "," : "", is_ipv4 ? "" : "[", ip, is_ipv4 ? "" : "]");
    }
    fetch->pinned = curl_slist_append(NULL, text.data);
}

static void on_resolved(void *arg, const struct net_addr *addrs, size_t count,
                        const struct fault *fault)
{
    struct http_fetch *fetch = arg;
    fetch->name = NULL;
    if (fault->err) {
        fetch->fault = *fault;
        finish(fetch);
        return;
    }
    struct net_addr literal;
    if (net_ip_parse(fetch->url.host, &literal) != OK)
        pin(fetch, addrs, count);
    begin_transfer(fetch);
}

/* What is sent is made anew from what the guard has understood, so that both mean the same host. */
static enum err write_url(struct http_fetch *fetch)
{
    AUTO_BUF text = BUF_INIT(URL_MAX_BYTES);
    buf_append_str(&text, url_is_tls(&fetch->url) ? "https://" : "http://");
    url_write_host(&fetch->url, &text);
    url_write_target(&fetch->url, &text);
    if (text.is_full)
        return fault_set(&fetch->fault, ERR_LIMIT, "the URL is too long");
    fetch->url_text = arena_strdup(fetch->arena, text.data);
    return OK;
}

static enum err add_headers(struct http_fetch *fetch, const struct http_fetch_request *request)
{
    bool has_type = false;
    for (size_t i = 0; i < request->header_count; i++) {
        const struct http_header *header = &request->headers[i];
        if (strpbrk(header->name, "\r\n: \t") || !header->name[0] || strpbrk(header->value, "\r\n"))
            return fault_set(&fetch->fault, ERR_INVALID, "a header is malformed");
        /* "Name;" is how libcurl sends an empty one. */
        char *line = header->value[0]
                         ? arena_printf(fetch->arena, "%s: %s", header->name, header->value)
                         : arena_printf(fetch->arena, "%s;", header->name);
        fetch->headers = curl_slist_append(fetch->headers, line);
        has_type = has_type || strcasecmp(header->name, "Content-Type") == 0;
    }
    if (!has_type)
        fetch->headers = curl_slist_append(fetch->headers, "Content-Type:"); /* none */
    fetch->headers = curl_slist_append(fetch->headers, "Expect:");
    return OK;
}

static enum err prepare(struct http_fetch *fetch, const struct http_fetch_request *request)
{
    const struct guard *guard = resolver_guard(fetch->client->config.resolver);
    fetch->fault = request->refused;
    if (fetch->fault.err)
        return fetch->fault.err;
    const char *url = arena_strdup(fetch->arena, request->url);
    enum err err = guard_check_url(guard, request->scope, url, &fetch->url, &fetch->fault);
    if (!err)
        err = write_url(fetch);
    if (!err)
        err = add_headers(fetch, request);
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
    fetch->arena = arena_new(0);
    fetch->limits = with_standards(request);
    fetch->fns = *fns;
    fetch->arg = arg;
    fetch->method = arena_strdup(fetch->arena, request->method);
    fetch->body_len = request->body ? request->body_len : 0;
    if (request->body) {
        fetch->body = arena_alloc(fetch->arena, fetch->body_len + 1);
        memcpy(fetch->body, request->body, fetch->body_len);
    }
    if (request->wants_headers)
        fetch->got_headers = arena_new_n(fetch->arena, struct http_header, HEADERS_MAX);
    buf_init(&fetch->got, fetch->limits.max_body_bytes);
    fetch->began_us = clock_now_us();
    timer_init(&fetch->limit, client->loop, on_limit, fetch);
    timer_init(&fetch->stall, client->loop, on_stall, fetch);
    list_push_back(&client->fetches, &fetch->node);
    bool is_known = prepare(fetch, request) != OK;
    timer_set_after(&fetch->limit, is_known ? 0 : fetch->limits.timeout_ms * 1000);
    if (client->is_stopped)
        stop_fetch(fetch);
    if (is_known || client->is_stopped)
        return fetch;
    const struct resolve_target target = {fetch->url.host, fetch->url.port, request->scope,
                                          request->tenant};
    fetch->name = resolve_start(client->config.resolver, &target, on_resolved, fetch);
    return fetch;
}
