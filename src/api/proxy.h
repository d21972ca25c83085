/* Trusted proxies: networks whose X-Forwarded-For counts (service.trusted_proxies). Thread: the
 * control loop. */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "base/err.h"

struct http_request;
struct net_addr;
struct proxies;

/* list: networks, separated by commas or spaces. ERR_INVALID: one is none. */
enum err proxies_new(const char *list, struct proxies **out, struct fault *fault) MUST_USE;
void proxies_free(struct proxies *proxies);
bool proxies_have(const struct proxies *proxies, const struct net_addr *addr);
/* The client's address: the peer, or the last entry of all lines of X-Forwarded-For that is no
 * proxy of ours; :: when a proxy of ours vouches for what is no address. */
void proxies_client(const struct proxies *proxies, const struct http_request *http,
                    struct net_addr *out);
