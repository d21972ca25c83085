/* Peers stand in lists by the number of their idle connections, so that the one with most is found
 * at once, however many there are. */
#include "net/http_peers.h"

#include <stdio.h>

#include "base/map.h"
#include "base/mem.h"

struct http_peer {
    char name[NET_ADDR_SIZE];
    size_t count, idle_count;
    bool is_exempt;
    struct list_node idle;      /* places, the longest idle first */
    struct list_node same_idle; /* in by_idle[idle_count]; unlinked at 0 */
};

struct http_peers {
    struct map *by_name;
    struct list_node *by_idle; /* [0..max] */
    size_t most_idle;          /* no list above it has an entry */
    size_t max, max_per_peer, count;
};

struct http_peers *http_peers_new(size_t max, size_t max_per_peer)
{
    struct http_peers *peers = mem_new(struct http_peers);
    peers->by_name = map_new();
    peers->by_idle = mem_new_n(struct list_node, max + 1);
    for (size_t i = 0; i <= max; i++)
        list_init(&peers->by_idle[i]);
    peers->max = max;
    peers->max_per_peer = max_per_peer;
    return peers;
}

static int free_peer(void *arg, const void *key, size_t key_len, void *value)
{
    (void)arg, (void)key, (void)key_len;
    struct http_peer *peer = value;
    list_remove(&peer->same_idle);
    mem_free(peer);
    return 0;
}

void http_peers_free(struct http_peers *peers)
{
    if (!peers)
        return;
    map_each(peers->by_name, free_peer, NULL);
    map_free(peers->by_name);
    mem_free(peers->by_idle);
    mem_free(peers);
}

static struct http_place *oldest_idle(struct http_peer *peer)
{
    return peer ? LIST_FIRST(&peer->idle, struct http_place, idle) : NULL;
}

static struct http_place *idle_of_biggest(struct http_peers *peers)
{
    while (peers->most_idle > 0 && list_is_empty(&peers->by_idle[peers->most_idle]))
        peers->most_idle--;
    return oldest_idle(peers->most_idle ? LIST_FIRST(&peers->by_idle[peers->most_idle],
                                                     struct http_peer, same_idle)
                                        : NULL);
}

/* Never more than what is left for the others: the last places are for who has none. */
static bool may_hold_one_more(const struct http_peers *peers, const struct http_peer *peer)
{
    return peer->is_exempt ||
           (peer->count < peers->max_per_peer && peer->count < peers->max - peers->count);
}

bool http_peers_join(struct http_peers *peers, const struct net_addr *addr, bool is_exempt,
                     struct http_place *place, struct http_place **out_victim)
{
    char name[NET_ADDR_SIZE];
    net_ip_print_site(addr, NET_SITE_BITS, name);
    struct http_peer *peer = map_get_str(peers->by_name, name);
    *out_victim = NULL;
    if (peers->count >= peers->max) {
        *out_victim = idle_of_biggest(peers);
        return false;
    }
    if (peer && !may_hold_one_more(peers, peer)) {
        *out_victim = oldest_idle(peer);
        return false;
    }
    if (!peer) {
        peer = mem_new(struct http_peer);
        snprintf(peer->name, sizeof(peer->name), "%s", name);
        peer->is_exempt = is_exempt;
        list_init(&peer->idle);
        map_set_str(peers->by_name, name, peer);
    }
    peer->count++;
    peers->count++;
    *place = (struct http_place){.peer = peer};
    return true;
}

static void move(struct http_peers *peers, struct http_peer *peer, size_t idle_count)
{
    list_remove(&peer->same_idle);
    peer->idle_count = idle_count;
    if (idle_count > 0)
        list_push_back(&peers->by_idle[idle_count], &peer->same_idle);
    peers->most_idle = MAX(peers->most_idle, idle_count);
}

void http_peers_set_idle(struct http_peers *peers, struct http_place *place, bool is_idle)
{
    struct http_peer *peer = place->peer;
    if (is_idle == list_is_linked(&place->idle))
        return;
    if (is_idle)
        list_push_back(&peer->idle, &place->idle);
    else
        list_remove(&place->idle);
    move(peers, peer, is_idle ? peer->idle_count + 1 : peer->idle_count - 1);
}

void http_peers_leave(struct http_peers *peers, struct http_place *place)
{
    struct http_peer *peer = place->peer;
    http_peers_set_idle(peers, place, false);
    place->peer = NULL;
    peers->count--;
    if (--peer->count > 0)
        return;
    map_remove_str(peers->by_name, peer->name);
    mem_free(peer);
}

const char *http_place_name(const struct http_place *place)
{
    return place->peer->name;
}
