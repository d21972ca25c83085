/* The UDP side of one media loop: one socket for each bind address, which all hosted peers share.
 * Checks find their peer by the local ufrag (it carries loop and slot), everything else by the path
 * that ICE has validated. Peers of the controlling role get a socket of their own: two peers
 * that face the same server must not share a path. Sends in batches, runs the peers' timers.
 * Thread: its loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "net/addr.h"
#include "rtc/peer.h"

struct dtls_identity;
struct loop;
struct port;

enum { PORT_ADDRESSES = 16, PORT_PEERS = 4096 /* slots of a loop */ };

struct port_config {
    struct loop *loop;
    unsigned loop_number;           /* 0 to 255; into the ufrag */
    struct dtls_identity *identity; /* borrowed, outlives the port */
    const struct net_addr *binds;   /* addresses; the ports in them are ignored */
    size_t bind_count;              /* 0: every non-loopback address, loopback if there is none */
    uint16_t udp_port;              /* 0: any */
    struct net_addr public_address; /* advertised in place of IPv4 addresses; all zero: none */
};

/* ERR_IO: the fault says which address could not be bound. */
enum err port_open(const struct port_config *config, struct port **out,
                   struct fault *fault) MUST_USE;
void port_close(struct port *port); /* all peers are gone already; frees at the end of the turn */

/* For a=candidate lines: host candidates of component 1, best first. */
struct port_candidate {
    struct net_addr addr;
    uint32_t priority;
    unsigned foundation;
};
size_t port_candidates(const struct port *port, struct port_candidate *out, size_t cap);

/* Events come from the loop, never from inside a function below. What they borrow is valid until
 * fn returns. fn may call any peer_ function and port_peer_free(). */
typedef void port_event_fn(void *arg, struct peer *peer, const struct peer_event *event,
                           int64_t now_us);

struct port_peer_config {
    enum peer_role role;
    int64_t silence_limit_us; /* 0: 10 s */
    port_event_fn *fn;
    void *arg;
};

/* The port owns the peer until port_peer_free(). ERR_LIMIT: no slot is free. ERR_IO: no socket
 * (controlling role). */
enum err port_peer_new(struct port *port, const struct port_peer_config *config,
                       struct peer **out) MUST_USE;
/* Says goodbye on the wire; no event comes after it; freed at the end of the turn. */
void port_peer_free(struct port *port, struct peer *peer);

/* After peer_ or data_ functions that made something to send: it leaves at the end of the loop's
 * turn, all peers' in one batch; the timers follow. */
void port_pump(struct port *port, struct peer *peer);

struct port_stats {
    size_t peers;
    uint64_t datagrams_in, datagrams_out;
    uint64_t datagrams_unknown; /* no peer for them */
};
void port_stats(const struct port *port, struct port_stats *out);
