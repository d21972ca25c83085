/* Listens on the Unix socket; a stream carries each answer out. */
#include "cli/show_socket.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/js.h"
#include "base/loop.h"
#include "base/mem.h"
#include "cli/print.h"
#include "cli/unix_socket.h"
#include "net/stream.h"

enum { BACKLOG = 8 };

struct show_socket {
    struct loop *loop;
    struct sockaddr_un address;
    int fd;
    struct io *io;
    show_fn *fn;
    void *arg;
};

struct show_client {
    struct stream *stream;
};

static void on_connection(void *arg, unsigned events)
{
    struct show_socket *server = arg;
    (void)events;
    int fd = accept4(server->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0)
        return;
    struct show_client *client = mem_new(struct show_client);
    client->stream = stream_open(server->loop, fd, NULL);
    stream_set_ceilings(client->stream, STREAM_READ_MAX, PRINT_MAX_BYTES);
    server->fn(server->arg, client);
}

void show_answer(struct show_client *take_client, struct js *take_tree)
{
    AUTO_BUF text = BUF_INIT(PRINT_MAX_BYTES);
    if (js_write(take_tree, &text) == OK)
        stream_write(take_client->stream, text.data, text.len);
    stream_close(take_client->stream);
    js_free(take_tree);
    mem_free(take_client);
}

static enum err bind_socket(struct show_socket *server, struct fault *fault)
{
    int other = unix_socket_connect(&server->address);
    if (other >= 0) {
        close(other);
        return fault_set(fault, ERR_BUSY, "a service runs on this data directory already");
    }
    unlink(server->address.sun_path);
    server->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    mode_t before = umask(0177); /* 0600 from its first moment on */
    int bound =
        bind(server->fd, (const struct sockaddr *)&server->address, sizeof(server->address));
    umask(before);
    if (bound != 0 || listen(server->fd, BACKLOG) != 0)
        return fault_set(fault, ERR_IO, "%.100s: %s", server->address.sun_path, strerror(errno));
    return OK;
}

enum err show_socket_open(struct loop *loop, const char *data_dir, show_fn *fn, void *arg,
                          struct show_socket **out, struct fault *fault)
{
    struct show_socket *server = mem_new(struct show_socket);
    *server = (struct show_socket){.loop = loop, .fd = -1, .fn = fn, .arg = arg};
    enum err err = unix_socket_address(data_dir, &server->address, fault);
    if (!err)
        err = bind_socket(server, fault);
    if (err) {
        if (server->fd >= 0)
            close(server->fd);
        mem_free(server);
        return err;
    }
    server->io = io_open(loop, server->fd, IO_READ, on_connection, server);
    *out = server;
    return OK;
}

void show_socket_close(struct show_socket *server)
{
    if (!server)
        return;
    io_close(server->io);
    close(server->fd);
    unlink(server->address.sun_path);
    mem_free(server);
}
