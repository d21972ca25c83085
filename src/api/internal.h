/* The API itself, as its own files see it. */
#pragma once

#include "api/api.h"
#include "api/keys.h"
#include "api/rates.h"
#include "net/addr.h"

struct admission;
struct proxies;
struct request;
struct sweeper;

struct api {
    struct api_deps deps;
    struct keys *keys;
    struct rates *rates;
    struct sweeper *sweeper;
    struct proxies *proxies;
    struct admission *admission;
    struct buf openapi; /* made at the first use */
    unsigned under_way;
};

/* api/proxy.c: whose X-Forwarded-For counts. */
enum err proxies_new(const char *list, struct proxies **out, struct fault *fault) MUST_USE;
void proxies_free(struct proxies *proxies);
bool proxies_have(const struct proxies *proxies, const struct net_addr *addr);
/* The client's address: the peer, or the last entry of all lines of X-Forwarded-For that is no
 * proxy of ours; :: when a proxy of ours vouches for what is no address. */
void proxies_client(const struct proxies *proxies, const struct http_request *http,
                    struct net_addr *out);

/* api/sweeper.c: removes what is kept for a time and is over it, every few minutes. */
struct sweeper *sweeper_new(struct loop *loop, struct store *store);
void sweeper_free(struct sweeper *sweeper); /* sweeper_is_idle() */
bool sweeper_is_idle(const struct sweeper *sweeper);

/* api/embed.c: adds CORS headers to the answer for a publishable key. */
void embed_preflight(struct request *request);
void embed_any_origin(struct request *request);
/* The origin is not known to be allowed yet: looks the agent up, then sends. */
void embed_send(struct request *request);
bool embed_is_path(const char *path);
