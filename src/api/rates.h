/* Every rate limit of the API, and how the nodes of one database keep them together: once a second
 * each tells the others what it has let pass, as far as there is something to tell. So a key that
 * goes to several nodes may pass them at once for a second, and pays it back after.
 *
 * Failed authentications count for the address, and of IPv6 for the networks around it too, at
 * four and sixteen times the rate: who owns a /32 has four thousand million /64.
 *
 * Thread: the control loop. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "api/limit.h"
#include "base/attr.h"
#include "net/addr.h"

struct config;
struct loop;
struct rates;
struct store;

struct rates *rates_new(const struct config *config, struct loop *loop, struct store *store);
void rates_free(struct rates *rates); /* rates_is_idle() */
DEFINE_AUTO(rates)
bool rates_is_idle(const struct rates *rates); /* no exchange is under way */

/* A request of a key; false: over its rate. */
bool rates_request(struct rates *rates, const char *key, struct limit_state *out);
/* A failed authentication; false: over the rate of its address. */
bool rates_failure(struct rates *rates, const struct net_addr *client, struct limit_state *out);
