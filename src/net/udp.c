#include "net/udp.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/loop.h"
#include "base/mem.h"
#include "net/internal.h"

enum {
    RECEIVE_BUFFER_BYTES =
        4 * 1024 * 1024, /* a burst of 150 calls while the loop is held for 200 ms */
    CONTROL_BYTES = 64,  /* one in_pktinfo or in6_pktinfo */
    READS_PER_TURN = 8,  /* batches, so that timers get their turn in a flood */
};

/* One packet of a batch with the kernel's view of it. */
struct slot {
    uint8_t data[UDP_PACKET_MAX];
    struct sockaddr_storage peer;
    _Alignas(struct cmsghdr) char control[CONTROL_BYTES];
    struct iovec iov;
};

struct udp {
    struct loop *loop;
    struct io *io;
    int fd;
    bool is_ipv6;
    bool is_closed;
    struct net_addr address;
    udp_read_fn *fn;
    void *arg;
    struct udp_stats stats;
    size_t queued;
    struct mmsghdr out[UDP_BATCH], in[UDP_BATCH];
    struct slot out_slots[UDP_BATCH], in_slots[UDP_BATCH];
    struct udp_packet packets[UDP_BATCH];
};

static void prepare_batch(struct mmsghdr *headers, struct slot *slots)
{
    for (size_t i = 0; i < UDP_BATCH; i++) {
        slots[i].iov = (struct iovec){slots[i].data, sizeof(slots[i].data)};
        headers[i].msg_hdr = (struct msghdr){
            .msg_name = &slots[i].peer,
            .msg_namelen = sizeof(slots[i].peer),
            .msg_iov = &slots[i].iov,
            .msg_iovlen = 1,
            .msg_control = slots[i].control,
            .msg_controllen = sizeof(slots[i].control),
        };
    }
}

/* The address that the packet came to, out of the control message. */
static void read_local(const struct udp *udp, struct msghdr *header, struct net_addr *out)
{
    *out = udp->address;
    for (struct cmsghdr *it = CMSG_FIRSTHDR(header); it; it = CMSG_NXTHDR(header, it)) {
        if (it->cmsg_level == IPPROTO_IP && it->cmsg_type == IP_PKTINFO) {
            const struct in_pktinfo *info = (const struct in_pktinfo *)CMSG_DATA(it);
            const uint8_t *ip = (const uint8_t *)&info->ipi_addr;
            *out = net_addr_ipv4(ip[0], ip[1], ip[2], ip[3], udp->address.port);
        } else if (it->cmsg_level == IPPROTO_IPV6 && it->cmsg_type == IPV6_PKTINFO) {
            const struct in6_pktinfo *info = (const struct in6_pktinfo *)CMSG_DATA(it);
            memcpy(out->ip, &info->ipi6_addr, sizeof(out->ip));
        }
    }
}

static size_t collect_packets(struct udp *udp, size_t received)
{
    size_t count = 0;
    for (size_t i = 0; i < received; i++) {
        struct msghdr *header = &udp->in[i].msg_hdr;
        if (header->msg_flags & MSG_TRUNC) {
            udp->stats.dropped++;
            continue;
        }
        struct udp_packet *packet = &udp->packets[count++];
        packet->data = udp->in_slots[i].data;
        packet->len = udp->in[i].msg_len;
        net_addr_from_sockaddr(&udp->in_slots[i].peer, &packet->peer);
        read_local(udp, header, &packet->local);
    }
    return count;
}

/* The kernel overwrites these lengths with every read. */
static void rearm_batch(struct udp *udp, size_t used)
{
    for (size_t i = 0; i < used; i++) {
        udp->in[i].msg_hdr.msg_namelen = sizeof(udp->in_slots[i].peer);
        udp->in[i].msg_hdr.msg_controllen = sizeof(udp->in_slots[i].control);
    }
}

static void on_readable(void *arg, unsigned events)
{
    struct udp *udp = arg;
    (void)events;
    for (int reads = 0; reads < READS_PER_TURN && !udp->is_closed; reads++) {
        int received = recvmmsg(udp->fd, udp->in, UDP_BATCH, MSG_DONTWAIT, NULL);
        if (received < 0 && errno == ECONNREFUSED)
            continue; /* an ICMP error of an earlier packet */
        if (received <= 0)
            return;
        int64_t now_us = clock_now_us();
        size_t count = collect_packets(udp, (size_t)received);
        rearm_batch(udp, (size_t)received);
        udp->stats.received += count;
        if (count > 0)
            udp->fn(udp->arg, udp->packets, count, now_us);
        if (received < UDP_BATCH)
            return;
    }
}

static void set_options(int fd, bool is_ipv6)
{
    int on = 1, bytes = RECEIVE_BUFFER_BYTES;
    if (is_ipv6) /* tells of IPv4 as well, in mapped form */
        setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof(on));
    else
        setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof(on));
    /* FORCE passes net.core.rmem_max where we may. */
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) != 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)) != 0)
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

enum err udp_open(struct loop *loop, const struct net_addr *bind, udp_read_fn *fn, void *arg,
                  struct udp **out, struct fault *fault)
{
    int fd;
    enum err err = net_bind_socket(SOCK_DGRAM, bind, &fd, fault);
    if (err)
        return err;
    struct udp *udp = mem_new(struct udp);
    udp->loop = loop;
    udp->fd = fd;
    udp->is_ipv6 = !net_addr_is_ipv4(bind);
    udp->address = net_socket_address(fd);
    udp->fn = fn;
    udp->arg = arg;
    set_options(fd, udp->is_ipv6);
    prepare_batch(udp->in, udp->in_slots);
    prepare_batch(udp->out, udp->out_slots);
    udp->io = io_open(loop, fd, IO_READ, on_readable, udp);
    *out = udp;
    return OK;
}

static void free_udp(void *arg)
{
    mem_free(arg);
}

void udp_close(struct udp *udp)
{
    if (!udp)
        return;
    udp_flush(udp);
    udp->is_closed = true;
    io_close(udp->io);
    close(udp->fd);
    loop_defer(udp->loop, free_udp, udp);
}

struct net_addr udp_address(const struct udp *udp)
{
    return udp->address;
}

static void write_source(const struct udp *udp, const struct net_addr *local, struct slot *slot,
                         struct msghdr *header)
{
    header->msg_controllen = 0;
    if (!local || net_addr_is_any(local))
        return;
    struct cmsghdr *cmsg = (struct cmsghdr *)slot->control;
    memset(slot->control, 0, sizeof(slot->control));
    if (udp->is_ipv6 && !net_addr_is_ipv4(local)) {
        struct in6_pktinfo info = {0};
        memcpy(&info.ipi6_addr, local->ip, sizeof(info.ipi6_addr));
        cmsg->cmsg_level = IPPROTO_IPV6;
        cmsg->cmsg_type = IPV6_PKTINFO;
        cmsg->cmsg_len = CMSG_LEN(sizeof(info));
        memcpy(CMSG_DATA(cmsg), &info, sizeof(info));
        header->msg_controllen = CMSG_SPACE(sizeof(info));
    } else if (net_addr_is_ipv4(local)) {
        struct in_pktinfo info = {0};
        memcpy(&info.ipi_spec_dst, local->ip + 12, sizeof(info.ipi_spec_dst));
        cmsg->cmsg_level = IPPROTO_IP;
        cmsg->cmsg_type = IP_PKTINFO;
        cmsg->cmsg_len = CMSG_LEN(sizeof(info));
        memcpy(CMSG_DATA(cmsg), &info, sizeof(info));
        header->msg_controllen = CMSG_SPACE(sizeof(info));
    }
    header->msg_control = slot->control;
}

enum err udp_send(struct udp *udp, const struct net_addr *local, const struct net_addr *peer,
                  const void *data, size_t len)
{
    if (len > UDP_PACKET_MAX)
        return ERR_LIMIT;
    if (udp->queued == UDP_BATCH)
        udp_flush(udp);
    struct slot *slot = &udp->out_slots[udp->queued];
    struct msghdr *header = &udp->out[udp->queued].msg_hdr;
    memcpy(slot->data, data, len);
    slot->iov.iov_len = len;
    header->msg_namelen = net_addr_to_sockaddr(peer, udp->is_ipv6, &slot->peer);
    write_source(udp, local, slot, header);
    udp->queued++;
    return OK;
}

void udp_flush(struct udp *udp)
{
    size_t done = 0;
    while (done < udp->queued) {
        int sent = sendmmsg(udp->fd, udp->out + done, (unsigned)(udp->queued - done), MSG_DONTWAIT);
        if (sent > 0) {
            done += (size_t)sent;
            udp->stats.sent += (uint64_t)sent;
            continue;
        }
        if (errno == EINTR)
            continue;
        if (errno == EAGAIN || errno == ENOBUFS)
            break; /* the socket buffer is full: what is late is of no use, so it is dropped */
        done++;    /* this one cannot be sent (no route, a pending ICMP error): go on after it */
        udp->stats.dropped++;
    }
    udp->stats.dropped += udp->queued - done;
    udp->queued = 0;
}

void udp_stats(const struct udp *udp, struct udp_stats *out)
{
    *out = udp->stats;
}
