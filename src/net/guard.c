#include "net/guard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "net/url.h"

enum {
    ALLOW_MAX = 256, /* entries of the operator's list */
};

struct network {
    struct net_addr prefix;
    unsigned bits; /* of 128 */
};

struct allowed {
    struct network network;
    uint16_t first_port, last_port;
};

struct guard {
    struct allowed *allowed;
    size_t count;
};

/* Whom a network is closed to. */
enum closed_to { CLOSED_TO_ALL, CLOSED_TO_CLIENTS };

/* What is not global unicast: the IANA registries of special-purpose addresses (RFC 6890 and its
 * successors) and the addresses at which clouds serve their metadata. The first match counts. */
static const struct closed_row {
    const char *network;
    enum closed_to closed_to;
    const char *what;
} closed[] = {
    {"100.100.100.200/32", CLOSED_TO_ALL, "a cloud's metadata"},
    {"168.63.129.16/32", CLOSED_TO_ALL, "a cloud's metadata"},
    {"fd00:ec2::254/128", CLOSED_TO_ALL, "a cloud's metadata"},
    {"fd20:ce::254/128", CLOSED_TO_ALL, "a cloud's metadata"},
    {"0.0.0.0/8", CLOSED_TO_ALL, "this network"},
    {"10.0.0.0/8", CLOSED_TO_CLIENTS, "a private network"},
    {"100.64.0.0/10", CLOSED_TO_CLIENTS, "a carrier's network"},
    {"127.0.0.0/8", CLOSED_TO_CLIENTS, "this machine"},
    {"169.254.0.0/16", CLOSED_TO_ALL, "link-local"},
    {"172.16.0.0/12", CLOSED_TO_CLIENTS, "a private network"},
    {"192.0.0.0/24", CLOSED_TO_ALL, "reserved"},
    {"192.0.2.0/24", CLOSED_TO_ALL, "for documentation"},
    {"192.88.99.0/24", CLOSED_TO_ALL, "a 6to4 relay"},
    {"192.168.0.0/16", CLOSED_TO_CLIENTS, "a private network"},
    {"198.18.0.0/15", CLOSED_TO_ALL, "for benchmarks"},
    {"198.51.100.0/24", CLOSED_TO_ALL, "for documentation"},
    {"203.0.113.0/24", CLOSED_TO_ALL, "for documentation"},
    {"224.0.0.0/4", CLOSED_TO_ALL, "multicast"},
    {"240.0.0.0/4", CLOSED_TO_ALL, "reserved"},
    {"::1/128", CLOSED_TO_CLIENTS, "this machine"},
    {"fc00::/7", CLOSED_TO_CLIENTS, "a private network"},
    {"fe80::/10", CLOSED_TO_ALL, "link-local"},
    {"2001::/23", CLOSED_TO_ALL, "reserved (Teredo and others)"},
    {"2001:db8::/32", CLOSED_TO_ALL, "for documentation"},
    {"2002::/16", CLOSED_TO_ALL, "6to4"},
    {"3fff::/20", CLOSED_TO_ALL, "for documentation"},
};

/* Of IPv6 only this is global unicast; NAT64, IPv4-compatible, multicast and all that is not handed
 * out yet lie outside. */
static const struct network global_ipv6 = {.prefix = {.ip = {0x20}}, .bits = 3};

static bool network_has(const struct network *network, const struct net_addr *addr)
{
    size_t bytes = network->bits / 8;
    unsigned rest = network->bits % 8;
    if (memcmp(network->prefix.ip, addr->ip, bytes) != 0)
        return false;
    uint8_t mask = (uint8_t)(0xff00u >> rest);
    return rest == 0 || ((network->prefix.ip[bytes] ^ addr->ip[bytes]) & mask) == 0;
}

/* "10.0.0.0/8", "fd00::/8", "::1": the prefix's length counts from the family's first bit. */
static bool parse_network(const char *text, struct network *out)
{
    char ip[NET_IP_SIZE];
    size_t len = strcspn(text, "/");
    if (len >= sizeof(ip))
        return false;
    memcpy(ip, text, len);
    ip[len] = '\0';
    if (net_ip_parse(ip, &out->prefix) != OK)
        return false;
    unsigned most = net_addr_is_ipv4(&out->prefix) ? 32 : 128, bits = most;
    const char *digits = text + len + 1;
    if (text[len] == '/') {
        size_t count = strspn(digits, "0123456789");
        if (count == 0 || count > 3 || digits[count])
            return false;
        bits = (unsigned)atoi(digits);
    }
    if (bits > most)
        return false;
    out->bits = bits + (128 - most);
    return true;
}

static bool parse_port(const char **cursor, uint16_t *out)
{
    size_t digits = strspn(*cursor, "0123456789");
    long value = digits > 0 && digits <= 5 ? strtol(*cursor, NULL, 10) : -1;
    if (value < 0 || value > UINT16_MAX)
        return false;
    *out = (uint16_t)value;
    *cursor += digits;
    return true;
}

/* "443", "9000-9100" */
static bool parse_ports(const char *text, struct allowed *out)
{
    if (!parse_port(&text, &out->first_port))
        return false;
    out->last_port = out->first_port;
    if (*text == '-') {
        text++;
        if (!parse_port(&text, &out->last_port))
            return false;
    }
    return *text == '\0' && out->first_port <= out->last_port;
}

/* Takes the ports off an entry and the brackets away: "[fd00::]/8:443" is "fd00::/8" and "443". */
static bool parse_allowed(char *entry, struct allowed *out)
{
    *out = (struct allowed){.last_port = UINT16_MAX};
    char *ports = NULL;
    if (entry[0] == '[') {
        char *bracket = strchr(entry, ']');
        if (!bracket)
            return false;
        ports = strchr(bracket, ':');
        memmove(bracket, bracket + 1, strlen(bracket));
        entry++;
        ports = ports ? ports - 1 : NULL;
    } else if (strchr(entry, ':') == strrchr(entry, ':')) { /* two colons: bare IPv6, no ports */
        ports = strchr(entry, ':');
    }
    if (ports)
        *ports++ = '\0';
    return parse_network(entry, &out->network) && (!ports || parse_ports(ports, out));
}

enum err guard_new(const char *allow, struct guard **out, struct fault *fault)
{
    AUTO(guard) guard = mem_new(struct guard);
    AUTO_MEM char *text = mem_strdup(allow ? allow : "");
    char *rest = text, *entry;
    guard->allowed = mem_new_n(struct allowed, ALLOW_MAX);
    while ((entry = strsep(&rest, ", \t\n"))) {
        if (!entry[0])
            continue;
        AUTO_MEM char *shown = mem_strdup(entry);
        if (guard->count == ALLOW_MAX)
            return fault_set(fault, ERR_INVALID, "more than %d allowed networks", ALLOW_MAX);
        if (!parse_allowed(entry, &guard->allowed[guard->count]))
            return fault_set(fault, ERR_INVALID, "'%.60s' is no network[:ports]", shown);
        guard->count++;
    }
    *out = TAKE(guard);
    return OK;
}

void guard_free(struct guard *guard)
{
    if (!guard)
        return;
    mem_free(guard->allowed);
    mem_free(guard);
}

static bool is_allowed(const struct guard *guard, const struct net_addr *addr)
{
    for (size_t i = 0; guard && i < guard->count; i++) {
        const struct allowed *allowed = &guard->allowed[i];
        if (addr->port >= allowed->first_port && addr->port <= allowed->last_port &&
            network_has(&allowed->network, addr))
            return true;
    }
    return false;
}

enum err guard_check_address(const struct guard *guard, enum guard_scope scope,
                             const struct net_addr *addr, struct fault *fault)
{
    if (is_allowed(guard, addr))
        return OK;
    for (size_t i = 0; i < ARRAY_LEN(closed); i++) {
        struct network network;
        if (!parse_network(closed[i].network, &network) || !network_has(&network, addr))
            continue;
        if (closed[i].closed_to == CLOSED_TO_CLIENTS && scope == GUARD_OPERATOR)
            return OK;
        return fault_set(fault, ERR_DENIED, "not a public address: it is %s", closed[i].what);
    }
    if (!net_addr_is_ipv4(addr) && !network_has(&global_ipv6, addr))
        return fault_set(fault, ERR_DENIED, "not a public address: it is no global unicast one");
    return OK;
}

/* Would some client read this host as an IPv4 number? So it is when its last label is one: decimal,
 * octal or hexadecimal, with fewer than four parts or more digits than needed. */
static bool looks_like_ipv4(const char *host)
{
    size_t len = strlen(host);
    if (len > 0 && host[len - 1] == '.')
        len--;
    size_t start = len;
    while (start > 0 && host[start - 1] != '.')
        start--;
    const char *label = host + start;
    size_t label_len = len - start;
    if (label_len >= 2 && label[0] == '0' && (label[1] == 'x' || label[1] == 'X'))
        return true;
    return label_len > 0 && strspn(label, "0123456789") >= label_len;
}

static bool is_localhost(const char *host)
{
    static const char name[] = "localhost";
    size_t len = strlen(host), name_len = sizeof(name) - 1;
    if (len > 0 && host[len - 1] == '.')
        len--;
    return len >= name_len && strncasecmp(host + len - name_len, name, name_len) == 0 &&
           (len == name_len || host[len - name_len - 1] == '.');
}

/* RFC 6761: localhost is this machine, whatever a resolver says. */
static enum err check_localhost(const struct guard *guard, enum guard_scope scope, uint16_t port,
                                struct fault *fault)
{
    struct net_addr four = net_addr_ipv4(127, 0, 0, 1, port);
    struct net_addr six = {.ip = {[15] = 1}, .port = port};
    if (guard_check_address(guard, scope, &six, NULL) == OK)
        return OK;
    return guard_check_address(guard, scope, &four, fault);
}

enum err guard_check_url(const struct guard *guard, enum guard_scope scope, const char *text,
                         struct url *out, struct fault *fault)
{
    struct url url;
    struct net_addr addr;
    enum err err = url_parse(text, &url, fault);
    if (err)
        return err == ERR_UNSUPPORTED ? ERR_DENIED : err;
    if (net_ip_parse(url.host, &addr) == OK) {
        addr.port = url.port;
        err = guard_check_address(guard, scope, &addr, fault);
    } else if (looks_like_ipv4(url.host)) {
        err = fault_set(fault, ERR_DENIED, "not a public address: an unusual spelling of a number");
    } else if (is_localhost(url.host)) {
        err = check_localhost(guard, scope, url.port, fault);
    }
    if (!err && out)
        *out = url;
    return err;
}
