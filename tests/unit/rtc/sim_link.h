/* A simulated datagram path between two sans-I/O machines: delay, loss, reordering and duplication
 * from a seeded generator, so that every run is the same. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LINK_PACKETS = 4096, LINK_PACKET_BYTES = 1500 };

struct link_packet {
    int64_t due_us;
    size_t len;
    bool to_b;
    uint8_t *data;
};

struct link {
    uint64_t seed;
    unsigned loss_percent, duplicate_percent;
    int64_t delay_us, jitter_us; /* jitter reorders */
    unsigned count;
    struct link_packet packets[LINK_PACKETS];
};

static inline unsigned link_random(struct link *link)
{
    link->seed = link->seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(link->seed >> 33);
}

static inline void link_put(struct link *link, bool to_b, const uint8_t *data, size_t len,
                            int64_t now_us)
{
    unsigned copies = link_random(link) % 100 < link->duplicate_percent ? 2 : 1;
    if (link_random(link) % 100 < link->loss_percent)
        copies = 0;
    for (; copies > 0 && link->count < LINK_PACKETS; copies--) {
        int64_t jitter_us = link->jitter_us ? link_random(link) % link->jitter_us : 0;
        struct link_packet *packet = &link->packets[link->count++];
        packet->due_us = now_us + link->delay_us + jitter_us;
        packet->to_b = to_b;
        packet->len = len;
        packet->data = malloc(len);
        memcpy(packet->data, data, len);
    }
}

/* The next packet that is due; the caller frees its data. */
static inline bool link_take(struct link *link, int64_t now_us, struct link_packet *out)
{
    unsigned best = link->count;
    for (unsigned i = 0; i < link->count; i++) {
        if (link->packets[i].due_us <= now_us &&
            (best == link->count || link->packets[i].due_us < link->packets[best].due_us))
            best = i;
    }
    if (best == link->count)
        return false;
    *out = link->packets[best];
    link->packets[best] = link->packets[--link->count];
    return true;
}

static inline int64_t link_due_us(const struct link *link)
{
    int64_t due_us = INT64_MAX;
    for (unsigned i = 0; i < link->count; i++) {
        if (link->packets[i].due_us < due_us)
            due_us = link->packets[i].due_us;
    }
    return due_us;
}

static inline void link_clear(struct link *link)
{
    while (link->count > 0)
        free(link->packets[--link->count].data);
}
