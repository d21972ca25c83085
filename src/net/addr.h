/* Internet addresses: one plain struct for both families, IPv4 in its mapped form, so that nothing
 * above net/ knows of struct sockaddr. Thread: any. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

enum {
    NET_IP_SIZE = 46,   /* "ffff:...:255.255.255.255" and NUL */
    NET_ADDR_SIZE = 56, /* the same in brackets with a port */
    NET_SITE_BITS = 64, /* of an IPv6 address: whoever has one of them has all that begin with it */
};

struct net_addr {
    uint8_t ip[16]; /* network order; IPv4 as ::ffff:a.b.c.d */
    uint16_t port;  /* host order */
};

/* "1.2.3.4:80", "[::1]:80", ":80" (any address), or without a port, which is then 0. Numbers only,
 * in their canonical forms; names are the resolver's business. */
enum err net_addr_parse(const char *text, struct net_addr *out) MUST_USE;
enum err net_ip_parse(const char *text, struct net_addr *out) MUST_USE; /* port 0 */
struct net_addr net_addr_ipv4(uint8_t a, uint8_t b, uint8_t c, uint8_t d, uint16_t port);

void net_addr_print(const struct net_addr *addr, char out[NET_ADDR_SIZE]);
void net_ip_print(const struct net_addr *addr, char out[NET_IP_SIZE]); /* no brackets, no port */

/* What limits count as one: the IPv4 address, or the first ipv6_bits (a multiple of 8) of an IPv6
 * one: "2001:db8:1:2::/64". */
void net_ip_print_site(const struct net_addr *addr, unsigned ipv6_bits, char out[NET_ADDR_SIZE]);

bool net_addr_equal(const struct net_addr *a, const struct net_addr *b); /* port included */
bool net_ip_equal(const struct net_addr *a, const struct net_addr *b);
bool net_addr_is_ipv4(const struct net_addr *addr);
bool net_addr_is_any(const struct net_addr *addr); /* 0.0.0.0 or :: */
bool net_addr_is_loopback(const struct net_addr *addr);
bool net_addr_is_link_local(const struct net_addr *addr);

/* The addresses of this machine's interfaces that are up, link-local ones left out, IPv4 first;
 * port 0. Returns how many were written. Loopback ones come last. */
size_t net_local_addresses(struct net_addr *out, size_t max);
