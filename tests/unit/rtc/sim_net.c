/* See sim_net.h. */
#include "sim_net.h"

#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "base/attr.h"
#include "base/mem.h"

static int64_t time_of_day_us = SIM_START_US;

/* Takes the place of libc's for the libraries as well. */
int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
    (void)zone;
    tv->tv_sec = time_of_day_us / 1000000;
    tv->tv_usec = time_of_day_us % 1000000;
    return 0;
}

struct sim_net *sim_net_new(uint64_t seed, int64_t delay_us, unsigned loss_percent)
{
    struct sim_net *net = mem_new(struct sim_net);
    net->now_us = time_of_day_us = SIM_START_US;
    net->seed = seed * 2654435761u + 1;
    net->delay_us = delay_us;
    net->loss_percent = loss_percent;
    return net;
}

void sim_net_free(struct sim_net *net)
{
    mem_free(net);
}

uint32_t sim_net_random(struct sim_net *net)
{
    net->seed = net->seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(net->seed >> 33);
}

struct net_addr sim_net_addr(unsigned end)
{
    return net_addr_ipv4(10, 0, 0, (uint8_t)(end + 1), (uint16_t)(1000 * (end + 1)));
}

void sim_net_send(struct sim_net *net, unsigned to, const void *data, size_t len)
{
    net->sent++;
    bool is_lost = net->is_cut || sim_net_random(net) % 100 < net->loss_percent;
    if (is_lost || net->count == SIM_NET_DATAGRAMS || len > SIM_NET_BYTES) {
        net->lost++;
        return;
    }
    struct sim_datagram *datagram = &net->flying[net->count++];
    datagram->to = to;
    datagram->from = sim_net_addr(1 - to);
    datagram->local = sim_net_addr(to);
    datagram->len = len;
    memcpy(datagram->data, data, len);
    int64_t jitter = net->jitter_us ? (int64_t)sim_net_random(net) % net->jitter_us : 0;
    datagram->due_us = net->now_us + net->delay_us + jitter;
}

static struct sim_datagram *earliest(struct sim_net *net)
{
    struct sim_datagram *found = NULL;
    for (unsigned i = 0; i < net->count; i++)
        if (!found || net->flying[i].due_us < found->due_us)
            found = &net->flying[i];
    return found;
}

bool sim_net_receive(struct sim_net *net, struct sim_datagram *out)
{
    struct sim_datagram *next = earliest(net);
    if (!next || next->due_us > net->now_us)
        return false;
    *out = *next;
    memmove(next, next + 1, (size_t)(&net->flying[net->count] - (next + 1)) * sizeof(*next));
    net->count--;
    return true;
}

void sim_net_advance(struct sim_net *net, int64_t due_us)
{
    struct sim_datagram *next = earliest(net);
    if (next)
        due_us = MIN(due_us, next->due_us);
    net->now_us = MAX(net->now_us, due_us);
    time_of_day_us = net->now_us;
}
