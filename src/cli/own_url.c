#include "cli/own_url.h"

#include <stdio.h>
#include <string.h>

#include "base/config.h"

bool own_url_has_tls(const struct config *config, const struct net_addr *listen)
{
    bool is_off = strcmp(config_text(config, SET_TLS_MODE), "off") == 0;
    return *config_text(config, SET_TLS_CERT) || !(is_off || net_addr_is_loopback(listen));
}

void own_url(const struct config *config, const struct net_addr *listen, char out[OWN_URL_SIZE])
{
    struct net_addr own = *listen;
    char text[NET_ADDR_SIZE];
    if (net_addr_is_any(listen) && net_local_addresses(&own, 1) != 1)
        own = *listen;
    own.port = listen->port;
    net_addr_print(&own, text);
    const char *given = config_text(config, SET_PUBLIC_URL);
    if (*given)
        snprintf(out, OWN_URL_SIZE, "%s", given);
    else
        snprintf(out, OWN_URL_SIZE, "%s://%s", own_url_has_tls(config, listen) ? "https" : "http",
                 text);
    for (size_t len = strlen(out); len > 0 && out[len - 1] == '/'; len--)
        out[len - 1] = '\0';
}
