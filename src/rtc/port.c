/* The UDP side of a media loop, see port.h.
 *
 * A local ufrag is two hex digits of the loop, three of the slot, and eight random characters; a
 * check is only given to a peer whose whole ufrag it names. */
#include "rtc/port.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/ids.h"
#include "base/loop.h"
#include "base/map.h"
#include "base/mem.h"
#include "net/udp.h"
#include "rtc/demux.h"
#include "rtc/ice.h"
#include "rtc/stun.h"

enum { UFRAG_RANDOM_CHARS = 8, UFRAG_PREFIX_CHARS = 5 };

struct slot {
    struct port *port;
    unsigned index;
    struct peer *peer;
    struct udp *own; /* controlling role: its socket; else NULL */
    port_event_fn *fn;
    void *arg;
    struct timer timer;
    bool is_dirty, is_closed;
    struct slot *next_dirty;
    struct ice_path paths[ICE_PATHS]; /* that route to it; a ring */
    unsigned path_count;
};

struct port {
    struct loop *loop;
    unsigned loop_number;
    struct dtls_identity *identity;
    struct net_addr public_address;
    struct udp *sockets[PORT_ADDRESSES];
    size_t socket_count;
    struct map *routes; /* struct ice_path to struct slot */
    struct slot *slots[PORT_PEERS];
    unsigned next_slot;
    struct slot *dirty;
    bool is_flush_deferred, is_closed;
    struct port_stats stats;
};

/* Sending. */

static struct udp *socket_for(const struct port *port, const struct net_addr *local)
{
    struct udp *fallback = NULL;
    for (size_t i = 0; i < port->socket_count; i++) {
        struct net_addr bound = udp_address(port->sockets[i]);
        if (net_ip_equal(&bound, local))
            return port->sockets[i];
        if (!fallback && (net_addr_is_any(&bound) || port->socket_count == 1))
            fallback = port->sockets[i];
    }
    return fallback ? fallback : port->sockets[0];
}

static void take_output(struct slot *slot, int64_t now_us)
{
    struct peer_datagram out;
    while (peer_output(slot->peer, &out, now_us)) {
        struct udp *udp = slot->own ? slot->own : socket_for(slot->port, &out.local);
        if (udp_send(udp, &out.local, &out.to, out.data, out.len) == OK)
            slot->port->stats.datagrams_out++;
    }
}

/* Only ever earlier: a timer that fires too soon finds nothing due and sets itself again. */
static void set_timer(struct slot *slot)
{
    int64_t due_us = peer_deadline_us(slot->peer);
    if (due_us != INT64_MAX && (!timer_is_set(&slot->timer) || due_us < slot->timer.due_us))
        timer_set(&slot->timer, due_us);
}

static void take_events(struct slot *slot, int64_t now_us)
{
    struct peer_event event;
    while (!slot->is_closed && peer_event(slot->peer, &event))
        slot->fn(slot->arg, slot->peer, &event, now_us);
}

static void flush_sockets(struct port *port)
{
    for (size_t i = 0; i < port->socket_count; i++)
        udp_flush(port->sockets[i]);
}

/* End of the turn: whatever the dirty ones have to tell and to send. What their events make dirty
 * again is served in the same round. */
static void settle(void *arg)
{
    struct port *port = arg;
    int64_t now_us = clock_now_us();
    while (port->dirty) {
        struct slot *slot = port->dirty;
        port->dirty = slot->next_dirty;
        slot->is_dirty = false;
        if (slot->is_closed)
            continue;
        take_output(slot, now_us);
        take_events(slot, now_us);
        if (slot->is_closed)
            continue;
        set_timer(slot);
        if (slot->own)
            udp_flush(slot->own);
    }
    port->is_flush_deferred = false;
    if (!port->is_closed)
        flush_sockets(port);
}

static void mark_dirty(struct slot *slot)
{
    struct port *port = slot->port;
    if (!slot->is_dirty && !slot->is_closed) {
        slot->is_dirty = true;
        slot->next_dirty = port->dirty;
        port->dirty = slot;
    }
    if (!port->is_flush_deferred) {
        port->is_flush_deferred = true;
        loop_defer(port->loop, settle, port);
    }
}

static void on_timer(void *arg)
{
    mark_dirty(arg);
}

/* Receiving. */

static struct slot *slot_by_ufrag(const struct port *port, const char *text, size_t len)
{
    unsigned loop_number, index;
    char prefix[UFRAG_PREFIX_CHARS + 1] = {0};
    if (len < UFRAG_PREFIX_CHARS)
        return NULL;
    memcpy(prefix, text, UFRAG_PREFIX_CHARS);
    if (sscanf(prefix, "%2x%3x", &loop_number, &index) != 2 || index >= PORT_PEERS)
        return NULL;
    struct slot *slot = port->slots[index];
    if (!slot || slot->own)
        return NULL;
    const char *ufrag = peer_ufrag(slot->peer);
    size_t ufrag_len = strlen(ufrag);
    bool is_named = len > ufrag_len && text[ufrag_len] == ':' && !memcmp(text, ufrag, ufrag_len);
    return is_named ? slot : NULL;
}

static struct slot *find_slot(const struct port *port, const struct demux_packet *packet,
                              const struct ice_path *path)
{
    if (packet->kind != DEMUX_STUN)
        return map_get(port->routes, path, sizeof(*path));
    if (!packet->stun.username)
        return NULL;
    return slot_by_ufrag(port, packet->stun.username, packet->stun.username_len);
}

static void forget_route(struct slot *slot, const struct ice_path *path)
{
    struct map *routes = slot->port->routes;
    if (map_get(routes, path, sizeof(*path)) == slot)
        map_remove(routes, path, sizeof(*path));
}

static void learn_route(struct slot *slot, const struct ice_path *path)
{
    struct map *routes = slot->port->routes;
    if (map_get(routes, path, sizeof(*path)) == slot ||
        !peer_has_path(slot->peer, &path->local, &path->remote))
        return;
    struct ice_path *place = &slot->paths[slot->path_count % ICE_PATHS];
    if (slot->path_count >= ICE_PATHS)
        forget_route(slot, place);
    *place = *path;
    slot->path_count++;
    map_set(routes, path, sizeof(*path), slot);
}

static void give_packet(struct slot *slot, const struct ice_path *path,
                        const struct demux_packet *packet, int64_t now_us)
{
    if (!peer_input(slot->peer, path, packet, now_us)) {
        mark_dirty(slot); /* it may have something to tell of that, once a turn */
        return;
    }
    if (packet->kind == DEMUX_STUN && !slot->own)
        learn_route(slot, path);
    if (packet->kind != DEMUX_RTP)
        take_output(slot, now_us);
    take_events(slot, now_us);
    if (packet->kind != DEMUX_RTP)
        mark_dirty(slot);
}

static void on_shared_packets(void *arg, const struct udp_packet *packets, size_t count,
                              int64_t now_us)
{
    struct port *port = arg;
    port->stats.datagrams_in += count;
    for (size_t i = 0; i < count && !port->is_closed; i++) {
        struct ice_path path = {.local = packets[i].local, .remote = packets[i].peer};
        struct demux_packet packet;
        demux_read(packets[i].data, packets[i].len, &packet);
        struct slot *slot = find_slot(port, &packet, &path);
        if (slot)
            give_packet(slot, &path, &packet, now_us);
        else
            port->stats.datagrams_unknown++;
    }
}

static void on_own_packets(void *arg, const struct udp_packet *packets, size_t count,
                           int64_t now_us)
{
    struct slot *slot = arg;
    slot->port->stats.datagrams_in += count;
    for (size_t i = 0; i < count && !slot->is_closed; i++) {
        struct ice_path path = {.remote = packets[i].peer};
        struct demux_packet packet;
        demux_read(packets[i].data, packets[i].len, &packet);
        give_packet(slot, &path, &packet, now_us);
    }
}

/* Opening. */

static size_t choose_addresses(const struct port_config *config, struct net_addr *out)
{
    if (config->bind_count) {
        size_t count = MIN(config->bind_count, (size_t)PORT_ADDRESSES);
        memcpy(out, config->binds, count * sizeof(*out));
        return count;
    }
    size_t count = net_local_addresses(out, PORT_ADDRESSES); /* loopback ones come last */
    size_t outward = 0;
    while (outward < count && !net_addr_is_loopback(&out[outward]))
        outward++;
    return outward ? outward : count;
}

enum err port_open(const struct port_config *config, struct port **out, struct fault *fault)
{
    struct net_addr addresses[PORT_ADDRESSES];
    size_t count = choose_addresses(config, addresses);
    if (!count)
        return fault_set(fault, ERR_IO, "this machine has no address to bind for audio");
    struct port *port = mem_new(struct port);
    port->loop = config->loop;
    port->loop_number = config->loop_number & 0xFF;
    port->identity = config->identity;
    port->public_address = config->public_address;
    port->routes = map_new();
    for (size_t i = 0; i < count; i++) {
        addresses[i].port = config->udp_port;
        enum err err = udp_open(port->loop, &addresses[i], on_shared_packets, port,
                                &port->sockets[port->socket_count], fault);
        if (err) {
            port_close(port);
            return err;
        }
        port->socket_count++;
    }
    *out = port;
    return OK;
}

static void free_port(void *arg)
{
    struct port *port = arg;
    map_free(port->routes);
    mem_free(port);
}

void port_close(struct port *port)
{
    if (!port)
        return;
    port->is_closed = true;
    for (size_t i = 0; i < port->socket_count; i++)
        udp_close(port->sockets[i]);
    port->socket_count = 0;
    loop_defer(port->loop, free_port, port);
}

static size_t add_candidate(struct port_candidate *out, size_t cap, size_t count,
                            const struct net_addr *addr)
{
    for (size_t i = 0; i < count; i++)
        if (net_addr_equal(&out[i].addr, addr))
            return count;
    if (count == cap)
        return count;
    out[count] =
        (struct port_candidate){.addr = *addr,
                                .priority = ice_host_priority((uint16_t)(UINT16_MAX - count)),
                                .foundation = (unsigned)count + 1};
    return count + 1;
}

size_t port_candidates(const struct port *port, struct port_candidate *out, size_t cap)
{
    size_t count = 0;
    bool is_public = !net_addr_is_any(&port->public_address);
    for (size_t i = 0; i < port->socket_count; i++) {
        struct net_addr bound = udp_address(port->sockets[i]);
        struct net_addr addresses[PORT_ADDRESSES] = {bound};
        size_t found = 1;
        if (net_addr_is_any(&bound))
            found = net_local_addresses(addresses, PORT_ADDRESSES);
        for (size_t a = 0; a < found; a++) {
            struct net_addr addr = addresses[a];
            if (is_public && net_addr_is_ipv4(&addr))
                addr = port->public_address;
            addr.port = bound.port;
            count = add_candidate(out, cap, count, &addr);
        }
    }
    return count;
}

/* Peers. */

static struct slot *take_slot(struct port *port)
{
    for (unsigned i = 0; i < PORT_PEERS; i++) {
        unsigned index = (port->next_slot + i) % PORT_PEERS;
        if (port->slots[index])
            continue;
        port->next_slot = index + 1; /* a slot rests as long as possible */
        struct slot *slot = port->slots[index] = mem_new(struct slot);
        slot->port = port;
        slot->index = index;
        return slot;
    }
    return NULL;
}

static enum err open_own_socket(struct slot *slot)
{
    struct net_addr any = {0};
    if (udp_open(slot->port->loop, &any, on_own_packets, slot, &slot->own, NULL) == OK)
        return OK;
    any = net_addr_ipv4(0, 0, 0, 0, 0); /* a machine without IPv6 */
    return udp_open(slot->port->loop, &any, on_own_packets, slot, &slot->own, NULL);
}

enum err port_peer_new(struct port *port, const struct port_peer_config *config, struct peer **out)
{
    struct slot *slot = take_slot(port);
    if (!slot)
        return ERR_LIMIT;
    if (config->role == PEER_CONTROLLING && open_own_socket(slot) != OK) {
        port->slots[slot->index] = NULL;
        mem_free(slot);
        return ERR_IO;
    }
    char ufrag[UFRAG_PREFIX_CHARS + UFRAG_RANDOM_CHARS + 1];
    snprintf(ufrag, sizeof(ufrag), "%02x%03x", port->loop_number & 0xFF, slot->index & 0xFFF);
    random_base62(ufrag + UFRAG_PREFIX_CHARS, UFRAG_RANDOM_CHARS);
    struct peer_config peer_config = {.role = config->role,
                                      .identity = port->identity,
                                      .ufrag = ufrag,
                                      .silence_limit_us = config->silence_limit_us};
    slot->peer = peer_new(&peer_config, clock_now_us());
    slot->fn = config->fn;
    slot->arg = config->arg;
    timer_init(&slot->timer, port->loop, on_timer, slot);
    port->stats.peers++;
    *out = slot->peer;
    return OK;
}

/* The ufrag names the slot. */
static struct slot *slot_of(struct port *port, const struct peer *peer)
{
    unsigned loop_number = 0, index = PORT_PEERS;
    sscanf(peer_ufrag(peer), "%2x%3x", &loop_number, &index);
    struct slot *slot = index < PORT_PEERS ? port->slots[index] : NULL;
    return slot && slot->peer == peer ? slot : NULL;
}

static void free_slot(void *arg)
{
    struct slot *slot = arg;
    peer_free(slot->peer);
    mem_free(slot);
}

void port_peer_free(struct port *port, struct peer *peer)
{
    struct slot *slot = peer ? slot_of(port, peer) : NULL;
    if (!slot || slot->is_closed)
        return;
    int64_t now_us = clock_now_us();
    take_output(slot, now_us);
    peer_close(peer, now_us);
    take_output(slot, now_us);
    mark_dirty(slot); /* so that the goodbye is flushed; the closed slot itself is passed over */
    slot->is_closed = true;
    timer_stop(&slot->timer);
    for (unsigned i = 0; i < MIN(slot->path_count, (unsigned)ICE_PATHS); i++)
        forget_route(slot, &slot->paths[i]);
    udp_close(slot->own);
    port->slots[slot->index] = NULL;
    port->stats.peers--;
    loop_defer(port->loop, free_slot, slot);
}

void port_pump(struct port *port, struct peer *peer)
{
    struct slot *slot = slot_of(port, peer);
    if (slot)
        mark_dirty(slot);
}

void port_stats(const struct port *port, struct port_stats *out)
{
    *out = port->stats;
}
