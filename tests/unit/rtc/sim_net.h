/* A simulated datagram network between two ends, with delay, loss and reordering from a seeded
 * generator, on a clock that the test moves. OpenSSL reads gettimeofday() for its handshake timer:
 * sim_net.c answers with the simulated time, so that handshakes over a bad network take no real
 * time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/addr.h"

enum { SIM_NET_DATAGRAMS = 512, SIM_NET_BYTES = 1500, SIM_START_US = 1000000 };

struct sim_datagram {
    int64_t due_us;
    unsigned to; /* end 0 or 1 */
    struct net_addr from, local;
    size_t len;
    uint8_t data[SIM_NET_BYTES];
};

struct sim_net {
    int64_t now_us;
    uint64_t seed;
    int64_t delay_us, jitter_us; /* one way; jitter reorders */
    unsigned loss_percent;
    bool is_cut;
    unsigned count, sent, lost;
    struct sim_datagram flying[SIM_NET_DATAGRAMS];
};

struct sim_net *sim_net_new(uint64_t seed, int64_t delay_us, unsigned loss_percent);
void sim_net_free(struct sim_net *net);
uint32_t sim_net_random(struct sim_net *net);
struct net_addr sim_net_addr(unsigned end); /* 10.0.0.1:1000, 10.0.0.2:2000 */

void sim_net_send(struct sim_net *net, unsigned to, const void *data, size_t len);
/* Takes the next datagram that has arrived by now; false: none. */
bool sim_net_receive(struct sim_net *net, struct sim_datagram *out);
/* Moves the clock to the next arrival or to due_us, whichever is first. */
void sim_net_advance(struct sim_net *net, int64_t due_us);
