#include "net/addr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "net/internal.h"

static const uint8_t mapped_prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

enum err net_ip_parse(const char *text, struct net_addr *out)
{
    struct net_addr addr = {0};
    if (inet_pton(AF_INET, text, addr.ip + 12) == 1)
        memcpy(addr.ip, mapped_prefix, sizeof(mapped_prefix));
    else if (inet_pton(AF_INET6, text, addr.ip) != 1)
        return ERR_INVALID;
    *out = addr;
    return OK;
}

static enum err parse_port(const char *text, uint16_t *out)
{
    unsigned value = 0;
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 5 || text[digits])
        return ERR_INVALID;
    for (size_t i = 0; i < digits; i++)
        value = value * 10 + (unsigned)(text[i] - '0');
    if (value > UINT16_MAX)
        return ERR_INVALID;
    *out = (uint16_t)value;
    return OK;
}

/* Splits "[host]:port", "host:port", "host" or "::1" into host text and the port's text (NULL). */
static enum err split_host(const char *text, char host[NET_IP_SIZE], const char **out_port)
{
    const char *start = text, *end = NULL;
    *out_port = NULL;
    if (text[0] == '[') {
        start = text + 1;
        end = strchr(start, ']');
        if (!end || (end[1] != ':' && end[1] != '\0'))
            return ERR_INVALID;
        *out_port = end[1] == ':' ? end + 2 : NULL;
    } else {
        const char *colon = strchr(text, ':');
        bool is_bare_ipv6 = colon && strchr(colon + 1, ':');
        end = colon && !is_bare_ipv6 ? colon : text + strlen(text);
        *out_port = *end ? end + 1 : NULL;
    }
    if ((size_t)(end - start) >= NET_IP_SIZE)
        return ERR_INVALID;
    memcpy(host, start, (size_t)(end - start));
    host[end - start] = '\0';
    return OK;
}

enum err net_addr_parse(const char *text, struct net_addr *out)
{
    char host[NET_IP_SIZE];
    const char *port_text;
    struct net_addr addr = {0};
    enum err err = split_host(text, host, &port_text);
    if (err)
        return err;
    uint16_t port = 0;
    if (port_text && (err = parse_port(port_text, &port)))
        return err;
    if (host[0] == '\0' && (text[0] == '[' || !port_text))
        return ERR_INVALID;
    if (host[0] && (err = net_ip_parse(host, &addr)))
        return err;
    addr.port = port;
    *out = addr;
    return OK;
}

struct net_addr net_addr_ipv4(uint8_t a, uint8_t b, uint8_t c, uint8_t d, uint16_t port)
{
    struct net_addr addr = {.port = port};
    memcpy(addr.ip, mapped_prefix, sizeof(mapped_prefix));
    addr.ip[12] = a;
    addr.ip[13] = b;
    addr.ip[14] = c;
    addr.ip[15] = d;
    return addr;
}

void net_ip_print(const struct net_addr *addr, char out[NET_IP_SIZE])
{
    bool is_ipv4 = net_addr_is_ipv4(addr);
    inet_ntop(is_ipv4 ? AF_INET : AF_INET6, is_ipv4 ? addr->ip + 12 : addr->ip, out, NET_IP_SIZE);
}

void net_addr_print(const struct net_addr *addr, char out[NET_ADDR_SIZE])
{
    char ip[NET_IP_SIZE];
    net_ip_print(addr, ip);
    bool is_ipv4 = net_addr_is_ipv4(addr);
    snprintf(out, NET_ADDR_SIZE, "%s%s%s:%u", is_ipv4 ? "" : "[", ip, is_ipv4 ? "" : "]",
             (unsigned)addr->port);
}

void net_ip_print_site(const struct net_addr *addr, unsigned ipv6_bits, char out[NET_ADDR_SIZE])
{
    struct net_addr site = *addr;
    char ip[NET_IP_SIZE];
    if (!net_addr_is_ipv4(addr))
        memset(site.ip + ipv6_bits / 8, 0, sizeof(site.ip) - ipv6_bits / 8);
    net_ip_print(&site, ip);
    if (net_addr_is_ipv4(addr))
        snprintf(out, NET_ADDR_SIZE, "%s", ip);
    else
        snprintf(out, NET_ADDR_SIZE, "%s/%u", ip, ipv6_bits);
}

bool net_ip_equal(const struct net_addr *a, const struct net_addr *b)
{
    return memcmp(a->ip, b->ip, sizeof(a->ip)) == 0;
}

bool net_addr_equal(const struct net_addr *a, const struct net_addr *b)
{
    return a->port == b->port && net_ip_equal(a, b);
}

bool net_addr_is_ipv4(const struct net_addr *addr)
{
    return memcmp(addr->ip, mapped_prefix, sizeof(mapped_prefix)) == 0;
}

bool net_addr_is_any(const struct net_addr *addr)
{
    static const uint8_t zeros[16];
    return memcmp(addr->ip + (net_addr_is_ipv4(addr) ? 12 : 0), zeros,
                  net_addr_is_ipv4(addr) ? 4 : 16) == 0;
}

bool net_addr_is_loopback(const struct net_addr *addr)
{
    static const uint8_t ipv6_loopback[16] = {[15] = 1};
    if (net_addr_is_ipv4(addr))
        return addr->ip[12] == 127;
    return memcmp(addr->ip, ipv6_loopback, sizeof(ipv6_loopback)) == 0;
}

bool net_addr_is_link_local(const struct net_addr *addr)
{
    if (net_addr_is_ipv4(addr))
        return addr->ip[12] == 169 && addr->ip[13] == 254;
    return addr->ip[0] == 0xfe && (addr->ip[1] & 0xc0) == 0x80;
}

socklen_t net_addr_to_sockaddr(const struct net_addr *addr, bool as_ipv6,
                               struct sockaddr_storage *out)
{
    memset(out, 0, sizeof(*out));
    if (net_addr_is_ipv4(addr) && !as_ipv6) {
        struct sockaddr_in *in = (struct sockaddr_in *)out;
        in->sin_family = AF_INET;
        in->sin_port = htons(addr->port);
        memcpy(&in->sin_addr, addr->ip + 12, 4);
        return sizeof(*in);
    }
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)out;
    in6->sin6_family = AF_INET6;
    in6->sin6_port = htons(addr->port);
    memcpy(&in6->sin6_addr, addr->ip, 16);
    return sizeof(*in6);
}

void net_addr_from_sockaddr(const struct sockaddr_storage *from, struct net_addr *out)
{
    memset(out, 0, sizeof(*out));
    if (from->ss_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)from;
        memcpy(out->ip, mapped_prefix, sizeof(mapped_prefix));
        memcpy(out->ip + 12, &in->sin_addr, 4);
        out->port = ntohs(in->sin_port);
    } else if (from->ss_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)from;
        memcpy(out->ip, &in6->sin6_addr, 16);
        out->port = ntohs(in6->sin6_port);
    }
}

struct net_addr net_socket_address(int fd)
{
    struct sockaddr_storage storage = {0};
    socklen_t len = sizeof(storage);
    struct net_addr addr = {0};
    if (getsockname(fd, (struct sockaddr *)&storage, &len) == 0)
        net_addr_from_sockaddr(&storage, &addr);
    return addr;
}

enum err net_bind_socket(int type, const struct net_addr *addr, int *out_fd, struct fault *fault)
{
    char text[NET_ADDR_SIZE];
    net_addr_print(addr, text);
    int family = net_addr_is_ipv4(addr) ? AF_INET : AF_INET6;
    int fd = socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return fault_set(fault, ERR_IO, "no socket for %s: %s", text, strerror(errno));
    int on = 1, off = 0;
    if (type == SOCK_STREAM)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, net_addr_is_any(addr) ? &off : &on, sizeof(on));
    struct sockaddr_storage storage;
    socklen_t len = net_addr_to_sockaddr(addr, false, &storage);
    if (bind(fd, (struct sockaddr *)&storage, len) != 0) {
        enum err err = fault_set(fault, ERR_IO, "cannot bind %s: %s", text, strerror(errno));
        close(fd);
        return err;
    }
    *out_fd = fd;
    return OK;
}

static size_t add_address(struct net_addr *out, size_t count, size_t max,
                          const struct net_addr *addr)
{
    for (size_t i = 0; i < count; i++)
        if (net_ip_equal(&out[i], addr))
            return count;
    if (count < max)
        out[count++] = *addr;
    return count;
}

size_t net_local_addresses(struct net_addr *out, size_t max)
{
    struct ifaddrs *list = NULL;
    if (getifaddrs(&list) != 0)
        return 0;
    size_t count = 0;
    for (int pass = 0; pass < 4; pass++) { /* IPv4, IPv6, then the loopback ones of both */
        for (struct ifaddrs *it = list; it; it = it->ifa_next) {
            if (!it->ifa_addr || !(it->ifa_flags & IFF_UP))
                continue;
            if (it->ifa_addr->sa_family != (pass % 2 == 0 ? AF_INET : AF_INET6))
                continue;
            struct net_addr addr;
            net_addr_from_sockaddr((struct sockaddr_storage *)it->ifa_addr, &addr);
            addr.port = 0;
            if (net_addr_is_link_local(&addr) || net_addr_is_loopback(&addr) != (pass >= 2))
                continue;
            count = add_address(out, count, max, &addr);
        }
    }
    freeifaddrs(list);
    return count;
}
