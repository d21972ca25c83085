/* Names to addresses, on the pool, each address checked by the guard: one that is denied denies the
 * name, and a failed look-up is a failure, never a pass. Thread: its functions any; callbacks come
 * on the loop that was named. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "net/addr.h"
#include "net/guard.h"

struct loop;
struct pool;
struct resolve;
struct resolver;

enum { RESOLVER_MAX_ADDRESSES = 8 };

/* nameserver: "127.0.0.1:5353" asks that one instead of the system's resolver (tests, and machines
 * with a resolver of their own); NULL or "": the system's. guard and pool are borrowed. */
enum err resolver_new(struct pool *pool, const struct guard *guard, const char *nameserver,
                      struct resolver **out, struct fault *fault) MUST_USE;
void resolver_free(struct resolver *resolver); /* nothing is under way any more */
DEFINE_AUTO(resolver)
const struct guard *resolver_guard(const struct resolver *resolver);

/* count >= 1 when fault->err is OK; IPv4 and IPv6 alternate. ERR_NOT_FOUND: no such name;
 * ERR_DENIED; ERR_IO: the look-up failed; ERR_BUSY. */
typedef void resolve_fn(void *arg, const struct net_addr *addrs, size_t count,
                        const struct fault *fault);

struct resolve_target {
    const char *host; /* as url_parse() gives it; copied */
    uint16_t port;
    enum guard_scope scope;
};
/* Literal addresses are answered as well, never inside the call. The handle is gone after the
 * callback. */
struct resolve *resolve_start(struct resolver *resolver, const struct resolve_target *target,
                              struct loop *loop, resolve_fn *fn, void *arg);
void resolve_cancel(struct resolve *resolve); /* no callback comes any more; loop's thread */

/* The whole check of a URL that is about to be saved: guard_check_url(), then every address of its
 * name. ERR_NOT_FOUND, ERR_IO: it is well formed, but the name cannot be resolved now, so nothing
 * can be said; the connection itself fails closed. */
typedef void url_check_fn(void *arg, const struct fault *fault);
void resolver_check_url(struct resolver *resolver, const char *url, struct loop *loop,
                        url_check_fn *fn, void *arg);
/* The same for a thread that may wait. */
enum err resolver_check_url_now(struct resolver *resolver, const char *url,
                                struct fault *fault) MUST_USE;
