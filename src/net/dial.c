#include "net/dial.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/loop.h"
#include "base/mem.h"
#include "net/internal.h"
#include "net/resolver.h"
#include "net/stream.h"
#include "net/tls.h"
#include "net/url.h"

enum {
    TIMEOUT_STANDARD_MS = 10000,
    NEXT_ADDRESS_US = 2 * 1000 * 1000, /* an address that is silent so long yields to the next */
};

struct dialer {
    struct resolver *resolver;
    struct tls_context *tls;
};

/*   resolving --> connecting (address by address) --> TLS handshake --> done */
struct dial {
    struct loop *loop;
    struct dialer *dialer;
    char host[URL_HOST_SIZE];
    bool is_tls;
    enum guard_scope scope;
    dial_fn *fn;
    void *arg;
    struct resolve *resolve;
    struct net_addr addrs[RESOLVER_MAX_ADDRESSES];
    size_t count, next;
    int fd;
    struct io *io;
    struct tls_session *tls;
    struct timer limit;    /* of all of it */
    struct timer patience; /* with this address */
    struct fault fault;    /* of the last address */
    bool is_over;
};

struct dialer *dialer_new(struct resolver *resolver, struct tls_context *tls)
{
    struct dialer *dialer = mem_new(struct dialer);
    dialer->resolver = resolver;
    dialer->tls = tls;
    return dialer;
}

void dialer_free(struct dialer *dialer)
{
    mem_free(dialer);
}

struct resolver *dialer_resolver(const struct dialer *dialer)
{
    return dialer->resolver;
}

static void free_dial(void *arg)
{
    mem_free(arg);
}

static void drop_socket(struct dial *dial)
{
    timer_stop(&dial->patience);
    if (dial->io)
        io_close(dial->io);
    dial->io = NULL;
    tls_session_free(dial->tls);
    dial->tls = NULL;
    if (dial->fd >= 0)
        close(dial->fd);
    dial->fd = -1;
}

static void finish(struct dial *dial)
{
    dial->is_over = true;
    resolve_cancel(TAKE(dial->resolve));
    drop_socket(dial);
    timer_stop(&dial->limit);
    loop_defer(dial->loop, free_dial, dial);
}

static void fail(struct dial *dial)
{
    finish(dial);
    dial->fn(dial->arg, NULL, &dial->fault);
}

static void succeed(struct dial *dial)
{
    struct stream_state state = {
        .fd = dial->fd, .tls = TAKE(dial->tls), .peer = dial->addrs[dial->next - 1]};
    state.local = net_socket_address(dial->fd);
    io_close(TAKE(dial->io));
    dial->fd = -1;
    finish(dial);
    dial->fault = (struct fault){0};
    dial->fn(dial->arg, stream_attach(dial->loop, &state), &dial->fault);
}

static void try_next(struct dial *dial);

static void shake_hands(struct dial *dial)
{
    unsigned wants = IO_READ;
    enum err err = tls_handshake(dial->tls, &wants, &dial->fault);
    if (err == ERR_AGAIN)
        io_want(dial->io, wants);
    else if (err)
        try_next(dial);
    else
        succeed(dial);
}

static void on_connected(struct dial *dial)
{
    int error = 0;
    socklen_t len = sizeof(error);
    getsockopt(dial->fd, SOL_SOCKET, SO_ERROR, &error, &len);
    if (error) {
        fault_set(&dial->fault, ERR_IO, "cannot connect: %s", strerror(error));
        try_next(dial);
        return;
    }
    timer_stop(&dial->patience);
    if (!dial->is_tls) {
        succeed(dial);
        return;
    }
    dial->tls = tls_session_new(dial->dialer->tls, dial->fd, dial->host);
    shake_hands(dial);
}

static void on_ready(void *arg, unsigned events)
{
    struct dial *dial = arg;
    (void)events;
    if (dial->is_over)
        return;
    if (dial->tls)
        shake_hands(dial);
    else
        on_connected(dial);
}

static enum err begin_connect(struct dial *dial, const struct net_addr *addr)
{
    const struct guard *guard = resolver_guard(dial->dialer->resolver);
    enum err err = guard_check_address(guard, dial->scope, addr, &dial->fault);
    if (err)
        return err;
    struct sockaddr_storage storage;
    socklen_t len = net_addr_to_sockaddr(addr, false, &storage);
    dial->fd = socket(storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (dial->fd < 0)
        return fault_set(&dial->fault, ERR_IO, "no socket: %s", strerror(errno));
    int on = 1;
    setsockopt(dial->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (connect(dial->fd, (struct sockaddr *)&storage, len) != 0 && errno != EINPROGRESS)
        return fault_set(&dial->fault, ERR_IO, "cannot connect: %s", strerror(errno));
    dial->io = io_open(dial->loop, dial->fd, IO_WRITE, on_ready, dial);
    timer_set_after(&dial->patience, NEXT_ADDRESS_US);
    return OK;
}

static void try_next(struct dial *dial)
{
    drop_socket(dial);
    while (dial->next < dial->count) {
        if (begin_connect(dial, &dial->addrs[dial->next++]) == OK)
            return;
        drop_socket(dial);
    }
    fail(dial);
}

static void on_patience(void *arg)
{
    struct dial *dial = arg;
    if (dial->next == dial->count)
        return; /* the last one has until the limit */
    fault_set(&dial->fault, ERR_TIMEOUT, "cannot connect: no answer");
    try_next(dial);
}

static void on_limit(void *arg)
{
    struct dial *dial = arg;
    fault_set(&dial->fault, ERR_TIMEOUT, "cannot connect: no answer in time");
    fail(dial);
}

static void on_resolved(void *arg, const struct net_addr *addrs, size_t count,
                        const struct fault *fault)
{
    struct dial *dial = arg;
    dial->resolve = NULL;
    dial->fault = *fault;
    dial->count = count;
    if (count > 0)
        memcpy(dial->addrs, addrs, count * sizeof(*addrs));
    try_next(dial);
}

struct dial *dial_start(struct dialer *dialer, const struct dial_target *target, dial_fn *fn,
                        void *arg)
{
    struct loop *loop = resolver_loop(dialer->resolver);
    struct dial *dial = mem_new(struct dial);
    dial->loop = loop;
    dial->dialer = dialer;
    dial->is_tls = target->is_tls;
    dial->scope = target->scope;
    dial->fn = fn;
    dial->arg = arg;
    dial->fd = -1;
    memcpy(dial->host, target->host, MIN(strlen(target->host), sizeof(dial->host) - 1));
    timer_init(&dial->limit, loop, on_limit, dial);
    timer_init(&dial->patience, loop, on_patience, dial);
    int64_t timeout_ms = target->timeout_ms ? target->timeout_ms : TIMEOUT_STANDARD_MS;
    timer_set_after(&dial->limit, timeout_ms * 1000);
    const struct resolve_target name = {target->host, target->port, target->scope, target->tenant};
    dial->resolve = resolve_start(dialer->resolver, &name, on_resolved, dial);
    return dial;
}

void dial_cancel(struct dial *dial)
{
    if (dial && !dial->is_over)
        finish(dial);
}
