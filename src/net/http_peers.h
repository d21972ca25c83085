/* Who holds how many of a server's connections. A place is counted for the peer's address (of IPv6:
 * its /64) until its socket is really closed. When there is none left, an idle connection of
 * whoever has most idle ones gives way; so a hoard of connections refuses nobody.
 *
 * Thread: the server's loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/list.h"
#include "net/addr.h"

struct http_peers;
struct http_peer;

/* A member of what holds a place. */
struct http_place {
    struct http_peer *peer;
    struct list_node idle; /* linked while it is idle */
};

struct http_peers *http_peers_new(size_t max, size_t max_per_peer);
void http_peers_free(struct http_peers *peers); /* places that are held are forgotten */
DEFINE_AUTO(http_peers)

/* is_exempt: a proxy, which stands for many; only the ceiling for all counts. false: there is no
 * place for this peer; *out_victim is an idle one whose end would make room, or NULL. */
bool http_peers_join(struct http_peers *peers, const struct net_addr *addr, bool is_exempt,
                     struct http_place *place, struct http_place **out_victim) MUST_USE;
void http_peers_leave(struct http_peers *peers, struct http_place *place);
/* Idle: nobody would miss it. The one that became so first goes first. */
void http_peers_set_idle(struct http_peers *peers, struct http_place *place, bool is_idle);
/* What the place's address is called in other counts. */
const char *http_place_name(const struct http_place *place);
