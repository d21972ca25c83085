/* The connections of the HTTP client by owner, a workspace or the operator: each owner has a multi
 * handle of libcurl's of its own, so that no connection, TLS session or pinned name is ever another
 * owner's. An owner's pool goes a minute after its last request, and is replaced when it has met
 * many hosts, since libcurl never forgets one. Internal to the client; libcurl's handles pass as
 * void. Thread: the client's loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"

struct http_pool;
struct http_pools;
struct loop;

/* A member of a request; CURLOPT_PRIVATE of its handle. */
struct http_transfer {
    void *easy;               /* NULL: not with libcurl */
    struct list_node watches; /* its sockets */
};

struct http_pool_fns {
    /* It has ended, with libcurl's code. */
    void (*on_done)(struct http_transfer *transfer, int code);
    /* So many bytes have come on its connection since it began; false: it was ended for that. */
    bool (*on_bytes)(struct http_transfer *transfer, uint64_t received);
};

struct http_pools_config {
    struct loop *loop;
    struct http_pool_fns fns;
    long max_connections;        /* kept by the operator's pool */
    long max_tenant_connections; /* kept by a workspace's */
    bool bounds_bytes;           /* http_pool_hold() may refuse */
    long max_per_host;           /* of each pool; 0: no ceiling */
};
struct http_pools *http_pools_new(const struct http_pools_config *config);
/* No callback comes any more; frees itself at the end of the turn, after what was deferred. */
void http_pools_free(struct http_pools *pools);

/* The owner's pool for one more request, which gives it back. tenant: NULL for the operator. */
struct http_pool *http_pool_take(struct http_pools *pools, const char *tenant);
void http_pool_give(struct http_pool *pool);

/* Bytes that the owner's requests hold in memory: one that had some wants more. false: it may not;
 * up to 64 KiB a request always may. */
bool http_pool_hold(struct http_pool *pool, size_t had, size_t more);
void http_pool_release(struct http_pool *pool, size_t bytes);

/* A transfer to "host:port" begins. */
void http_pool_meet(struct http_pool *pool, const char *host_and_port);
/* Removing frees the handle; not inside libcurl's calls. */
void http_pool_add(struct http_pool *pool, struct http_transfer *transfer);
void http_pool_remove(struct http_pool *pool, struct http_transfer *transfer);
