/* Trusted proxies: networks whose X-Forwarded-For counts. */
#include <stdlib.h>
#include <string.h>

#include "api/internal.h"
#include "base/mem.h"

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

static bool is_trusted(const struct proxies *proxies, const struct net_addr *addr)
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

void proxies_client(const struct proxies *proxies, const struct net_addr *peer,
                    const char *forwarded, char out[NET_IP_SIZE])
{
    struct net_addr client = *peer;
    AUTO_MEM char *copy = mem_strdup(forwarded);
    while (copy && is_trusted(proxies, &client)) {
        char *comma = strrchr(copy, ',');
        char *entry = comma ? comma + 1 : copy;
        entry += strspn(entry, " \t");
        entry[strcspn(entry, " \t")] = '\0';
        struct net_addr next;
        if (net_ip_parse(entry, &next) != OK)
            break;
        client = next;
        if (!comma)
            break;
        *comma = '\0';
    }
    net_ip_print(&client, out);
}
