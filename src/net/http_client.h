/* The HTTP client: libcurl's multi interface on a loop. Every host is resolved by us and guarded
 * before, and the guard stands again in the hook that opens the socket. No proxies, no
 * redirects, no cookies, only http and https; connections are kept and used again.
 *
 * Whose request it is (tenant) decides what it shares: connections, TLS sessions and pinned names
 * are one owner's alone; tenants wait in fair lines for their turn, the operator's begin at once.
 * Thread: its loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/fair.h"
#include "net/guard.h"
#include "net/http_header.h"

struct http_client;
struct http_fetch;
struct loop;
struct resolver;
struct tls_context;

/* Zeros mean the standard value. */
struct http_client_config {
    struct resolver *resolver;     /* of the loop; borrowed, required */
    const struct tls_context *tls; /* a client context, borrowed; NULL: the system's authorities */
    unsigned max_connections;      /* kept for each owner: operator 256, tenant 16 */
    unsigned max_per_host;         /* of each owner; 0: no ceiling; further ones wait their turn */
    struct fair_limits tenants;    /* requests under way and waiting; zeros: no ceilings. The time
                                      in the line counts to a request's timeout_ms */
};
struct http_client *http_client_new(struct loop *loop, const struct http_client_config *config);
void http_client_free(struct http_client *client); /* cancels what is under way */
DEFINE_AUTO(http_client)
/* The service ends: what is under way, and what is asked from now on, ends with ERR_CLOSED. */
void http_client_stop(struct http_client *client);

struct http_fetch_request {
    const char *method; /* "GET", "POST", "HEAD" */
    const char *url;
    const struct http_header *headers;
    size_t header_count;
    const char *body; /* copied; NULL: none */
    size_t body_len;
    int64_t connect_ms;    /* 0: 5,000 */
    int64_t timeout_ms;    /* for all of it; 0: 30,000 */
    int64_t stall_ms;      /* 0: none; else no byte for so long ends it (streams) */
    size_t max_body_bytes; /* 0: 1 MiB */
    bool cut_body; /* true: read no further than max_body_bytes and count it as success; false:
                      a longer answer is ERR_LIMIT */
    enum guard_scope scope;
    const char *tenant;   /* whose request it is: a workspace's id; NULL: the operator's */
    bool wants_headers;   /* keep the answer's headers */
    struct fault refused; /* not OK: nothing is sent and on_done tells this, so that a caller whose
                             own preparation failed has one way out */
};

struct http_fetch_result {
    struct fault fault; /* OK: an answer came, whatever its status. ERR_DENIED: the guard;
                           ERR_TIMEOUT; ERR_LIMIT; ERR_BUSY: too many of the tenant's; ERR_IO,
                           ERR_NOT_FOUND: could not be reached */
    int status;         /* 0: none came */
    const char *body;   /* NUL-terminated; what on_data has taken is not in it */
    size_t body_len;
    bool is_cut;
    const struct http_header *headers; /* in order, names as sent; wants_headers only */
    size_t header_count;
    const char *content_type; /* NULL: none */
    int64_t latency_us;       /* start to end */
    int64_t first_byte_us;    /* start to the status line; -1: none */
};

struct http_fetch_fns {
    /* Streaming: comes for each piece as it arrives, once the status is known (2xx only; the body
     * of any other answer is collected). NULL: the body is collected. Non-zero ends the fetch. */
    int (*on_data)(void *arg, int status, const char *data, size_t len);
    void (*on_done)(void *arg, const struct http_fetch_result *result); /* borrowed */
};

/* on_done comes exactly once, never inside the call; the handle is gone after it. */
struct http_fetch *http_fetch_start(struct http_client *client,
                                    const struct http_fetch_request *request,
                                    const struct http_fetch_fns *fns, void *arg);
void http_fetch_cancel(struct http_fetch *fetch); /* no callback comes any more */
