#include "net/resolver.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/loop.h"
#include "base/mem.h"
#include "base/pool.h"
#include "net/lookup.h"
#include "net/url.h"

struct resolver {
    struct pool *pool;
    const struct guard *guard;
    bool has_nameserver;
    struct net_addr nameserver;
};

struct resolve {
    const struct resolver *resolver;
    enum guard_scope scope;
    char host[URL_HOST_SIZE];
    uint16_t port;
    struct loop *loop;
    resolve_fn *fn;
    void *arg;
    bool is_cancelled; /* the loop's thread only */
    struct net_addr addrs[RESOLVER_MAX_ADDRESSES];
    size_t count;
    struct fault fault;
};

enum err resolver_new(struct pool *pool, const struct guard *guard, const char *nameserver,
                      struct resolver **out, struct fault *fault)
{
    AUTO(resolver) resolver = mem_new(struct resolver);
    resolver->pool = pool;
    resolver->guard = guard;
    resolver->has_nameserver = nameserver && nameserver[0];
    if (resolver->has_nameserver && (net_addr_parse(nameserver, &resolver->nameserver) != OK ||
                                     !net_addr_is_ipv4(&resolver->nameserver)))
        return fault_set(fault, ERR_INVALID, "the name server '%.60s' is no IPv4 address:port",
                         nameserver);
    if (resolver->has_nameserver && resolver->nameserver.port == 0)
        resolver->nameserver.port = 53;
    *out = TAKE(resolver);
    return OK;
}

void resolver_free(struct resolver *resolver)
{
    mem_free(resolver);
}

const struct guard *resolver_guard(const struct resolver *resolver)
{
    return resolver->guard;
}

/* Both families in turn, so that a machine without one of them soon meets the other. */
static void alternate(struct net_addr *addrs, size_t count)
{
    for (size_t at = 1; at < count; at++) {
        bool wants_ipv4 = !net_addr_is_ipv4(&addrs[at - 1]);
        size_t found = at;
        while (found < count && net_addr_is_ipv4(&addrs[found]) != wants_ipv4)
            found++;
        if (found == count)
            return;
        struct net_addr moved = addrs[found];
        memmove(&addrs[at + 1], &addrs[at], (found - at) * sizeof(*addrs));
        addrs[at] = moved;
    }
}

/* Looks up unless the host is an address, and guards all that came. Any thread that may wait. */
static enum err look_up(struct resolve *resolve)
{
    const struct resolver *resolver = resolve->resolver;
    struct fault *fault = &resolve->fault;
    if (net_ip_parse(resolve->host, &resolve->addrs[0]) == OK) {
        resolve->count = 1;
    } else {
        const struct net_addr *server = resolver->has_nameserver ? &resolver->nameserver : NULL;
        enum err err = net_lookup(server, resolve->host, resolve->addrs, RESOLVER_MAX_ADDRESSES,
                                  &resolve->count, fault);
        if (err)
            return err;
    }
    for (size_t i = 0; i < resolve->count; i++) {
        resolve->addrs[i].port = resolve->port;
        enum err err =
            guard_check_address(resolver->guard, resolve->scope, &resolve->addrs[i], fault);
        if (err)
            return err;
    }
    alternate(resolve->addrs, resolve->count);
    return OK;
}

static void work(void *arg)
{
    struct resolve *resolve = arg;
    resolve->fault.err = look_up(resolve);
}

static void done(void *arg)
{
    struct resolve *resolve = arg;
    if (!resolve->is_cancelled)
        resolve->fn(resolve->arg, resolve->addrs, resolve->fault.err ? 0 : resolve->count,
                    &resolve->fault);
    mem_free(resolve);
}

static bool is_literal(const char *host)
{
    struct net_addr addr;
    return net_ip_parse(host, &addr) == OK;
}

struct resolve *resolve_start(struct resolver *resolver, const struct resolve_target *target,
                              struct loop *loop, resolve_fn *fn, void *arg)
{
    struct resolve *resolve = mem_new(struct resolve);
    resolve->resolver = resolver;
    resolve->scope = target->scope;
    snprintf(resolve->host, sizeof(resolve->host), "%s", target->host);
    resolve->port = target->port;
    resolve->loop = loop;
    resolve->fn = fn;
    resolve->arg = arg;
    if (is_literal(target->host)) {
        work(resolve);
        loop_post(loop, done, resolve);
    } else if (pool_run(resolver->pool, work, loop, done, resolve) != OK) {
        fault_set(&resolve->fault, ERR_BUSY, "too many host names wait to be resolved");
        loop_post(loop, done, resolve);
    }
    return resolve;
}

void resolve_cancel(struct resolve *resolve)
{
    if (resolve)
        resolve->is_cancelled = true;
}

/* A name that no public resolver answers: one label, or a domain for private use (RFC 6761, 6762,
 * 8375, ICANN's .internal). If it cannot be resolved now, it is still no public address. */
static bool is_private_name(const char *host)
{
    static const char *const domains[] = {".local",     ".internal",    ".localhost",
                                          ".home.arpa", ".localdomain", ".lan"};
    size_t len = strlen(host);
    if (len > 0 && host[len - 1] == '.')
        len--;
    const char *dot = memchr(host, '.', len);
    if (!dot)
        return true;
    for (size_t i = 0; i < ARRAY_LEN(domains); i++) {
        size_t domain_len = strlen(domains[i]);
        if (len > domain_len && strncasecmp(host + len - domain_len, domains[i], domain_len) == 0)
            return true;
    }
    return false;
}

enum err resolver_check_url_now(struct resolver *resolver, const char *text, struct fault *fault)
{
    struct url url;
    enum err err = guard_check_url(resolver->guard, GUARD_PUBLIC, text, &url, fault);
    if (err)
        return err;
    struct resolve resolve = {.resolver = resolver, .scope = GUARD_PUBLIC, .port = url.port};
    memcpy(resolve.host, url.host, sizeof(resolve.host));
    err = look_up(&resolve);
    if ((err == ERR_NOT_FOUND || err == ERR_IO) && is_private_name(url.host))
        return fault_set(fault, ERR_DENIED, "not a public address: a name of private networks");
    return err ? fault_set(fault, err, "%s", resolve.fault.text) : OK;
}

struct url_check {
    struct resolver *resolver;
    char *url;
    struct fault fault;
    url_check_fn *fn;
    void *arg;
};

static void check_work(void *arg)
{
    struct url_check *check = arg;
    check->fault.err = resolver_check_url_now(check->resolver, check->url, &check->fault);
}

static void check_done(void *arg)
{
    struct url_check *check = arg;
    check->fn(check->arg, &check->fault);
    mem_free(check->url);
    mem_free(check);
}

void resolver_check_url(struct resolver *resolver, const char *url, struct loop *loop,
                        url_check_fn *fn, void *arg)
{
    struct url_check *check = mem_new(struct url_check);
    check->resolver = resolver;
    check->url = mem_strdup(url);
    check->fn = fn;
    check->arg = arg;
    if (pool_run(resolver->pool, check_work, loop, check_done, check) == OK)
        return;
    fault_set(&check->fault, ERR_BUSY, "too many host names wait to be resolved");
    loop_post(loop, check_done, check);
}
