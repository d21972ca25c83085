/* See load_parts.h. */
#include "load_parts.h"

#include "audio/pacer.h"
#include "base/loop.h"
#include "net/dial.h"
#include "net/guard.h"
#include "net/http_client.h"
#include "net/resolver.h"
#include "net/tls.h"
#include "room/rooms.h"
#include "rtc/port.h"

enum err load_parts_open(struct load_parts *parts, struct loop *loop, struct fault *fault)
{
    enum err err = guard_new("", &parts->guard, fault);
    if (!err)
        err = resolver_new(loop, parts->guard, NULL, &parts->resolver, fault);
    if (!err)
        err = tls_client_new(NULL, &parts->tls, fault);
    if (!err)
        err = dtls_identity_new(&parts->identity, fault);
    if (err)
        return err;
    parts->dialer = dialer_new(parts->resolver, parts->tls);
    struct port_config port = {.loop = loop, .identity = parts->identity};
    err = port_open(&port, &parts->port, fault);
    if (err)
        return err;
    struct http_client_config http = {.resolver = parts->resolver};
    struct rooms_config rooms = {.loop = loop, .port = parts->port, .dialer = parts->dialer};
    parts->http = http_client_new(loop, &http);
    parts->rooms = rooms_new(&rooms);
    parts->pacer = pacer_open(loop);
    return OK;
}

void load_parts_close(struct load_parts *parts)
{
    if (parts->pacer)
        pacer_close(parts->pacer);
    http_client_free(parts->http);
    rooms_free(parts->rooms);
    port_close(parts->port);
    dialer_free(parts->dialer);
    tls_context_free(parts->tls);
    resolver_free(parts->resolver);
    guard_free(parts->guard);
}

void load_parts_clear(struct load_parts *parts)
{
    dtls_identity_free(parts->identity);
    *parts = (struct load_parts){0};
}
