/* A UDP socket on a loop. It reads in batches (recvmmsg) and writes in batches (sendmmsg), and
 * knows by IP_PKTINFO to which of our addresses a packet came, so that an answer leaves from the
 * same one (a browser drops an answer from another address). Thread: its loop. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "net/addr.h"

struct loop;
struct udp;

enum {
    UDP_PACKET_MAX = 1500, /* longer ones are dropped: nothing of ours is sent so long */
    UDP_BATCH = 64,
};

struct udp_packet {
    struct net_addr peer;
    struct net_addr local; /* the address it came to, and our port */
    uint8_t *data;         /* valid during the callback, which may open it in place */
    size_t len;
};

/* now_us: taken once for the batch, right after the read. */
typedef void udp_read_fn(void *arg, const struct udp_packet *packets, size_t count, int64_t now_us);

/* bind: port 0 takes any; :: serves both families. ERR_IO, the fault says why. */
enum err udp_open(struct loop *loop, const struct net_addr *bind, udp_read_fn *fn, void *arg,
                  struct udp **out, struct fault *fault) MUST_USE;
void udp_close(struct udp *udp);                    /* what is queued is sent first; NULL is fine */
struct net_addr udp_address(const struct udp *udp); /* as bound, with the real port */

/* Queues a copy; a full queue is flushed at once. local: its address is the source (NULL or any:
 * the kernel chooses). UDP may lose it: a full socket buffer drops, and counts. ERR_LIMIT: too
 * long. */
enum err udp_send(struct udp *udp, const struct net_addr *local, const struct net_addr *peer,
                  const void *data, size_t len);
void udp_flush(struct udp *udp);

struct udp_stats {
    uint64_t received, sent, dropped;
};
void udp_stats(const struct udp *udp, struct udp_stats *out);
