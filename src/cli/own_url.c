#include "cli/own_url.h"

#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "net/url.h"

static enum err check_public_url(const char *given, struct fault *fault)
{
    struct url url;
    struct fault inner = {0};
    if (strlen(given) >= OWN_URL_SIZE)
        return fault_set(fault, ERR_INVALID, "service.public_url: is longer than %d bytes",
                         OWN_URL_SIZE - 1);
    if (strncmp(given, "http://", 7) != 0 && strncmp(given, "https://", 8) != 0)
        return fault_set(fault, ERR_INVALID, "service.public_url: '%.80s' is no URL", given);
    if (url_parse(given, &url, &inner))
        return fault_set(fault, ERR_INVALID, "service.public_url: %.150s", inner.text);
    if (strpbrk(given, "?#"))
        return fault_set(fault, ERR_INVALID, "service.public_url: has a query or a fragment");
    return OK;
}

enum err own_url_check(const struct config *config, struct fault *fault)
{
    const char *given = config_text(config, SET_PUBLIC_URL);
    bool has_cert = *config_text(config, SET_TLS_CERT), has_key = *config_text(config, SET_TLS_KEY);
    enum err err = *given ? check_public_url(given, fault) : OK;
    if (!err && has_cert != has_key)
        err = fault_set(fault, ERR_INVALID, "%s: is not set, though %s is",
                        has_cert ? "tls.key" : "tls.cert", has_cert ? "tls.cert" : "tls.key");
    return err;
}

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
