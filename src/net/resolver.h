/* Names to addresses for one loop, each address checked by the guard: one that is denied denies the
 * name, and a failed look-up is a failure, never a pass. No thread waits (resolver_lookup.h);
 * answers are remembered (resolver_cache.h), the guard's verdicts never.
 *
 * Tenants share it fairly: a workspace has few look-ups under way, further ones wait in its own
 * line, and names that never answer delay nobody else's. The operator's (tenant NULL: engines)
 * begin at once, with a cache of their own.
 *
 *   resolve_start --known--> told in the next turn
 *        '--asked already by this tenant--> waits with it
 *        '--> in the tenant's line --> lookup --> remembered, all that wait are told
 *
 * Thread: its loop. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "net/addr.h"
#include "net/guard.h"

struct loop;
struct resolve;
struct resolver;

enum { RESOLVER_MAX_ADDRESSES = 8 };

/* nameserver: "127.0.0.1:5353" asks that one instead of the machine's files and servers (tests, and
 * machines with a resolver of their own); NULL or "": those. guard: borrowed. */
enum err resolver_new(struct loop *loop, const struct guard *guard, const char *nameserver,
                      struct resolver **out, struct fault *fault) MUST_USE;
/* No callback comes any more. Before its loop is freed; not inside a callback. */
void resolver_free(struct resolver *resolver);
DEFINE_AUTO(resolver)
/* The service ends: who waits, and who asks from now on, is told ERR_CLOSED in the next turn. */
void resolver_stop(struct resolver *resolver);
const struct guard *resolver_guard(const struct resolver *resolver);
struct loop *resolver_loop(const struct resolver *resolver);

/* count >= 1 when fault->err is OK; IPv4 and IPv6 alternate. ERR_NOT_FOUND: no such name;
 * ERR_DENIED; ERR_IO: the look-up failed; ERR_BUSY: too many of the tenant's wait. */
typedef void resolve_fn(void *arg, const struct net_addr *addrs, size_t count,
                        const struct fault *fault);

struct resolve_target {
    const char *host; /* as url_parse() gives it; copied */
    uint16_t port;
    enum guard_scope scope;
    const char *tenant; /* a workspace's id; NULL: the operator */
};
/* Literal addresses are answered as well, never inside the call. The handle is gone after the
 * callback. */
struct resolve *resolve_start(struct resolver *resolver, const struct resolve_target *target,
                              resolve_fn *fn, void *arg);
void resolve_cancel(struct resolve *resolve); /* no callback comes any more; NULL is fine */

/* The whole check of a URL that is about to be saved: guard_check_url(), then every address of its
 * name. ERR_NOT_FOUND, ERR_IO, ERR_BUSY: it is well formed, but the name cannot be resolved within
 * 8 s, so nothing can be said; the connection itself fails closed. tenant: not NULL. */
typedef void url_check_fn(void *arg, const struct fault *fault);
void resolver_check_url(struct resolver *resolver, const char *tenant, const char *url,
                        url_check_fn *fn, void *arg);
