#include "api/proxy.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "net/addr.h"
#include "net/http_server.h"

enum { PROXIES_MAX = 32 };

struct network {
    struct net_addr base;
    unsigned bits; /* of the 128 */
};

struct proxies {
    struct network networks[PROXIES_MAX];
    size_t count;
};

static bool parse_network(char *text, struct network *out)
{
    char *slash = strchr(text, '/');
    if (slash)
        *slash = '\0';
    if (net_ip_parse(text, &out->base) != OK)
        return false;
    unsigned width = net_addr_is_ipv4(&out->base) ? 32 : 128;
    unsigned long bits = width;
    if (slash) {
        char *end;
        bits = strtoul(slash + 1, &end, 10);
        if (*end || end == slash + 1 || bits > width)
            return false;
    }
    out->bits = (unsigned)bits + (128 - width);
    return true;
}

enum err proxies_new(const char *list, struct proxies **out, struct fault *fault)
{
    struct proxies *proxies = mem_new(struct proxies);
    AUTO_MEM char *copy = mem_strdup(list);
    char *rest = copy;
    for (char *entry; (entry = strsep(&rest, ", "));) {
        if (*entry == '\0')
            continue;
        if (proxies->count == PROXIES_MAX ||
            !parse_network(entry, &proxies->networks[proxies->count])) {
            proxies_free(proxies);
            return fault_set(fault, ERR_INVALID, "trusted_proxies: %s is no network", entry);
        }
        proxies->count++;
    }
    *out = proxies;
    return OK;
}

void proxies_free(struct proxies *proxies)
{
    mem_free(proxies);
}

bool proxies_have(const struct proxies *proxies, const struct net_addr *addr)
{
    for (size_t i = 0; i < proxies->count; i++) {
        const struct network *network = &proxies->networks[i];
        unsigned bytes = network->bits / 8, rest = network->bits % 8;
        if (memcmp(network->base.ip, addr->ip, bytes) != 0)
            continue;
        if (rest == 0 || (network->base.ip[bytes] ^ addr->ip[bytes]) >> (8 - rest) == 0)
            return true;
    }
    return false;
}

/* One entry: an address, with or without port and brackets. Anything else becomes the address ::,
 * so that it is not taken for the proxy itself. */
static struct net_addr read_entry(const char *text, size_t len)
{
    char entry[NET_ADDR_SIZE];
    struct net_addr addr;
    if (len >= sizeof(entry))
        return (struct net_addr){0};
    memcpy(entry, text, len);
    entry[len] = '\0';
    return net_addr_parse(entry, &addr) == OK ? addr : (struct net_addr){0};
}

/* Walks one line from the right while the address so far is a proxy of ours. false: the client is
 * found. */
static bool walk_line(const struct proxies *proxies, const char *line, struct net_addr *client)
{
    static const char space[] = ", \t";
    size_t end = strlen(line);
    while (proxies_have(proxies, client)) {
        while (end > 0 && strchr(space, line[end - 1]))
            end--;
        size_t start = end;
        while (start > 0 && line[start - 1] != ',')
            start--;
        if (end == 0)
            return true;
        size_t lead = strspn(line + start, space);
        *client = read_entry(line + start + lead, end - start - lead);
        end = start;
    }
    return false;
}

void proxies_client(const struct proxies *proxies, const struct http_request *http,
                    struct net_addr *out)
{
    *out = http->peer;
    for (size_t i = http->header_count; i > 0; i--)
        if (strcasecmp(http->headers[i - 1].name, "X-Forwarded-For") == 0 &&
            !walk_line(proxies, http->headers[i - 1].value, out))
            break;
    out->port = 0;
}
