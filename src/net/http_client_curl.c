/* One transfer of the HTTP client: what libcurl is told and what it calls. It lets go of a request
 * that is over at the end of the turn only, so each callback looks whether it is before it touches
 * anything. What a peer can make grow is bounded: the body, all headers together (interim answers
 * and trailers too), and all that comes on the connection, whatever it is framed in. */
#include <string.h>
#include <sys/socket.h>

#include <curl/curl.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/mem.h"
#include "net/http_client_internal.h"
#include "net/internal.h"
#include "net/resolver.h"
#include "net/tls.h"

enum { HEADER_MAX_BYTES = 128 * 1024 /* four times what servers send at most */ };

_Static_assert((int)HTTP_FETCH_ERROR_SIZE == (int)CURL_ERROR_SIZE, "libcurl writes so much");

/* What libcurl calls. */

static bool may_hold(struct http_fetch *fetch, size_t len)
{
    if (!http_pool_hold(fetch->pool, fetch->held_bytes, len)) {
        fault_set(&fetch->fault, ERR_BUSY, "too many long answers at once");
        return false;
    }
    fetch->held_bytes += len;
    return true;
}

static size_t keep_body(struct http_fetch *fetch, const char *data, size_t len)
{
    size_t room = fetch->asked.limits.max_body_bytes - fetch->got.body.len;
    size_t kept = MIN(len, room);
    if (len > room && !fetch->asked.limits.cut_body) {
        fault_set(&fetch->fault, ERR_LIMIT, "the answer is longer than %zu bytes",
                  fetch->asked.limits.max_body_bytes);
        return 0;
    }
    if (!may_hold(fetch, kept) || buf_append(&fetch->got.body, data, kept) != OK)
        return 0;
    fetch->got.is_cut = len > room;
    return kept;
}

static size_t on_body(char *data, size_t size, size_t count, void *arg)
{
    struct http_fetch *fetch = arg;
    size_t len = size * count;
    if (fetch->is_over)
        return 0;
    http_fetch_touch(fetch);
    int status = http_fetch_status(fetch);
    if (!fetch->fns.on_data || status < 200 || status > 299)
        return keep_body(fetch, data, len);
    int stops = fetch->fns.on_data(fetch->arg, status, data, len);
    if (stops && !fetch->is_over)
        fault_set(&fetch->fault, ERR_CLOSED, "the reader has stopped");
    return stops || fetch->is_over ? 0 : len;
}

static void keep_header(struct http_fetch *fetch, const char *line, size_t len)
{
    const char *colon = memchr(line, ':', len);
    if (!colon || fetch->got.header_count == HTTP_FETCH_HEADERS_MAX)
        return;
    const char *value = colon + 1, *end = line + len;
    while (value < end && (*value == ' ' || *value == '\t'))
        value++;
    while (end > value && (end[-1] == '\r' || end[-1] == '\n' || end[-1] == ' '))
        end--;
    struct http_header *header = &fetch->got.headers[fetch->got.header_count++];
    header->name = arena_strndup(fetch->arena, line, (size_t)(colon - line));
    header->value = arena_strndup(fetch->arena, value, (size_t)(end - value));
}

static size_t on_header(char *data, size_t size, size_t count, void *arg)
{
    struct http_fetch *fetch = arg;
    size_t len = size * count;
    if (fetch->is_over)
        return 0;
    fetch->got.header_bytes += len;
    if (fetch->got.header_bytes > HEADER_MAX_BYTES) {
        fault_set(&fetch->fault, ERR_LIMIT, "the answer's headers are longer than %d bytes",
                  HEADER_MAX_BYTES);
        return 0;
    }
    http_fetch_touch(fetch);
    if (!fetch->got.first_byte_us)
        fetch->got.first_byte_us = clock_now_us();
    if (len > 5 && memcmp(data, "HTTP/", 5) == 0)
        fetch->got.header_count = 0; /* the one before was interim */
    else if (fetch->asked.limits.wants_headers)
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
    const struct guard *guard = resolver_guard(http_fetch_config(fetch)->resolver);
    if (guard_check_address(guard, fetch->asked.limits.scope, &addr, &fetch->fault) != OK)
        return CURL_SOCKET_BAD;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* libcurl makes a context for each connection, and would read all authorities into it. */
static CURLcode use_context(CURL *easy, void *context, void *arg)
{
    const struct http_fetch *fetch = arg;
    (void)easy;
    const struct tls_context *tls = fetch->is_over ? NULL : http_fetch_tls(fetch);
    if (!tls)
        return CURLE_ABORTED_BY_CALLBACK;
    tls_client_share(tls, context);
    return CURLE_OK;
}

/* What libcurl is told. */

static void set_method(struct http_fetch *fetch)
{
    CURL *easy = fetch->curl.transfer.easy;
    if (fetch->asked.body || strcmp(fetch->asked.method, "POST") == 0) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, fetch->asked.body ? fetch->asked.body : "");
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)fetch->asked.body_len);
    } else {
        bool is_head = strcmp(fetch->asked.method, "HEAD") == 0; /* has no body to wait for */
        curl_easy_setopt(easy, is_head ? CURLOPT_NOBODY : CURLOPT_HTTPGET, 1L);
    }
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, fetch->asked.method);
}

static void set_callbacks(struct http_fetch *fetch)
{
    CURL *easy = fetch->curl.transfer.easy;
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, fetch->curl.error_text);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, fetch);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, fetch);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, fetch);
}

static void set_tls(struct http_fetch *fetch)
{
    CURL *easy = fetch->curl.transfer.easy;
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(easy, CURLOPT_SSL_CIPHER_LIST, TLS_CIPHERS);
    curl_easy_setopt(easy, CURLOPT_CAINFO, NULL);
    curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, use_context);
    curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, fetch);
}

static void set_rules(struct http_fetch *fetch)
{
    CURL *easy = fetch->curl.transfer.easy;
    curl_easy_setopt(easy, CURLOPT_URL, fetch->asked.url_text);
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "Earshot/" EARSHOT_VERSION);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, fetch->curl.headers);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)fetch->asked.limits.connect_ms);
    curl_easy_setopt(easy, CURLOPT_DNS_CACHE_TIMEOUT, 0L); /* pins stay, nothing else does */
    if (fetch->curl.pinned)
        curl_easy_setopt(easy, CURLOPT_RESOLVE, fetch->curl.pinned);
}

/* "host:port:1.2.3.4,[::1]" makes libcurl take these addresses for the name. */
static void pin(struct http_fetch *fetch, const struct net_addr *addrs, size_t count)
{
    AUTO_BUF text = BUF_INIT(URL_HOST_SIZE + 16 + RESOLVER_MAX_ADDRESSES * (NET_IP_SIZE + 3));
    buf_printf(&text, "%s:%u", fetch->asked.url.host, (unsigned)fetch->asked.url.port);
    http_pool_meet(fetch->pool, text.data);
    for (size_t i = 0; i < count; i++) {
        char ip[NET_IP_SIZE];
        net_ip_print(&addrs[i], ip);
        bool is_ipv4 = net_addr_is_ipv4(&addrs[i]);
        buf_printf(&text, "%s%s%s%s", i ? "," : ":", is_ipv4 ? "" : "[", ip, is_ipv4 ? "" : "]");
    }
    fetch->curl.pinned = curl_slist_append(NULL, text.data);
}

void http_fetch_begin(struct http_fetch *fetch, const struct net_addr *addrs, size_t count,
                      bool is_literal)
{
    fetch->curl.transfer.easy = curl_easy_init();
    if (is_literal)
        http_pool_meet(fetch->pool, fetch->asked.url.host);
    else
        pin(fetch, addrs, count);
    set_callbacks(fetch);
    set_tls(fetch);
    set_rules(fetch);
    set_method(fetch);
    http_pool_add(fetch->pool, &fetch->curl.transfer);
}

void http_fetch_release(struct http_fetch *fetch)
{
    if (fetch->curl.transfer.easy)
        http_pool_remove(fetch->pool, &fetch->curl.transfer);
    curl_slist_free_all(fetch->curl.headers);
    curl_slist_free_all(fetch->curl.pinned);
}

int http_fetch_status(const struct http_fetch *fetch)
{
    long status = 0;
    if (fetch->curl.transfer.easy)
        curl_easy_getinfo(fetch->curl.transfer.easy, CURLINFO_RESPONSE_CODE, &status);
    return (int)status;
}

const char *http_fetch_content_type(const struct http_fetch *fetch)
{
    char *type = NULL;
    if (fetch->curl.transfer.easy)
        curl_easy_getinfo(fetch->curl.transfer.easy, CURLINFO_CONTENT_TYPE, &type);
    return type;
}

enum err http_fetch_set_headers(struct http_fetch *fetch, const struct http_fetch_request *request)
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
        fetch->curl.headers = curl_slist_append(fetch->curl.headers, line);
        has_type = has_type || strcasecmp(header->name, "Content-Type") == 0;
    }
    if (!has_type)
        fetch->curl.headers = curl_slist_append(fetch->curl.headers, "Content-Type:"); /* none */
    fetch->curl.headers = curl_slist_append(fetch->curl.headers, "Expect:");
    return OK;
}

static enum err error_of(int code)
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

void http_fetch_conclude(struct http_fetch *fetch, int code)
{
    if (!fetch->fault.err && !fetch->got.is_cut && code != CURLE_OK)
        fault_set(&fetch->fault, error_of(code), "%s",
                  fetch->curl.error_text[0] ? fetch->curl.error_text
                                            : curl_easy_strerror((CURLcode)code));
}
