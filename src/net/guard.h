/* The address guard: what a connection of ours may go to, so that nobody can use this service to
 * reach what only it can see (server-side request forgery). Public means: http or https, no
 * credentials, no odd spelling of an address, and every address of the name global unicast.
 * The operator's allow-list opens further networks, each with or without ports. The check is made
 * when a URL is saved and again on the address that is connected to. Thread: any. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "net/addr.h"

struct guard;
struct url;

/* Whose URL it is: a client's may only be public; the operator's (engines, LiveKit) may lie in
 * private networks and on this machine, but not on link-local (metadata), multicast or reserved
 * addresses. */
enum guard_scope { GUARD_PUBLIC, GUARD_OPERATOR };

/* allow: "127.0.0.1:9000-9100, 10.1.0.0/16:443, fd00::/8, [::1]:8080", or "" or NULL. ERR_INVALID:
 * the fault names the entry. */
enum err guard_new(const char *allow, struct guard **out, struct fault *fault) MUST_USE;
void guard_free(struct guard *guard);
DEFINE_AUTO(guard)

/* Is this address with this port fit to connect to? ERR_DENIED: the fault says why. guard may be
 * NULL: nothing is allowed beside public addresses. */
enum err guard_check_address(const struct guard *guard, enum guard_scope scope,
                             const struct net_addr *addr, struct fault *fault) MUST_USE;

/* Is the URL well formed, http or https (ws or wss), without credentials, and its host no address
 * that is denied, in whatever spelling (decimal, octal, hexadecimal, short)? Names are not resolved
 * here: resolver.h. ERR_INVALID: no URL at all. ERR_DENIED: not a public address. out may be NULL.
 */
enum err guard_check_url(const struct guard *guard, enum guard_scope scope, const char *text,
                         struct url *out, struct fault *fault) MUST_USE;
