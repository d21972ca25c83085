#include "net/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

#include "base/loop.h"
#include "base/mem.h"
#include "net/internal.h"

enum {
    BACKLOG = 1024,            /* the kernel cuts it to net.core.somaxconn */
    ACCEPTS_PER_TURN = 64,     /* so that a flood of connections leaves the loop its other work */
    UNSENT_BYTES = 128 * 1024, /* that the kernel takes for a peer who does not read */
};

struct listener {
    struct loop *loop;
    struct io *io;
    int fd;
    int spare_fd; /* given up to refuse a connection when there is no other descriptor left */
    bool is_closed;
    listen_fn *fn;
    void *arg;
};

static int open_spare(void)
{
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void refuse_one(struct listener *listener)
{
    if (listener->spare_fd >= 0)
        close(listener->spare_fd);
    int fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0)
        close(fd);
    listener->spare_fd = open_spare();
}

static void on_acceptable(void *arg, unsigned events)
{
    struct listener *listener = arg;
    (void)events;
    for (int i = 0; i < ACCEPTS_PER_TURN && !listener->is_closed; i++) {
        struct sockaddr_storage storage;
        socklen_t len = sizeof(storage);
        int fd =
            accept4(listener->fd, (struct sockaddr *)&storage, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
            refuse_one(listener);
            return;
        }
        if (fd < 0 && (errno == ECONNABORTED || errno == EINTR))
            continue;
        if (fd < 0)
            return;
        int on = 1, unsent = UNSENT_BYTES;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof(unsent));
        struct net_addr peer;
        net_addr_from_sockaddr(&storage, &peer);
        listener->fn(listener->arg, fd, &peer);
    }
}

enum err listener_open(struct loop *loop, const struct net_addr *bind, listen_fn *fn, void *arg,
                       struct listener **out, struct fault *fault)
{
    int fd;
    enum err err = net_bind_socket(SOCK_STREAM, bind, &fd, fault);
    if (err)
        return err;
    if (listen(fd, BACKLOG) != 0) {
        err = fault_set(fault, ERR_IO, "cannot listen: %s", strerror(errno));
        close(fd);
        return err;
    }
    struct listener *listener = mem_new(struct listener);
    listener->loop = loop;
    listener->fd = fd;
    listener->spare_fd = open_spare();
    listener->fn = fn;
    listener->arg = arg;
    listener->io = io_open(loop, fd, IO_READ, on_acceptable, listener);
    *out = listener;
    return OK;
}

struct net_addr listener_address(const struct listener *listener)
{
    return net_socket_address(listener->fd);
}

static void free_listener(void *arg)
{
    mem_free(arg);
}

void listener_close(struct listener *listener)
{
    if (!listener)
        return;
    listener->is_closed = true;
    io_close(listener->io);
    close(listener->fd);
    if (listener->spare_fd >= 0)
        close(listener->spare_fd);
    loop_defer(listener->loop, free_listener, listener);
}
