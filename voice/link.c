/* A full socket is waited for, never lost: what is kept is bounded, and speaking asks first. */
#include "link.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/loop.h"
#include "base/mem.h"

enum {
    OUT_MAX_BYTES = 16 * 1024 * 1024,
    SLOW_BYTES = 512 * 1024,
    IN_MAX_BYTES = 2 * (VOICE_BODY_MAX_BYTES + VOICE_HEADER_BYTES),
    READ_BYTES = 64 * 1024,
};

struct link {
    struct loop *loop;
    struct io *io;
    int fd;
    struct buf in, out;
    link_fn *on_frame;
    void *arg;
};

static void write_out(struct link *link)
{
    while (link->out.len > 0) {
        ssize_t sent = send(link->fd, link->out.data, link->out.len, MSG_NOSIGNAL);
        if (sent <= 0)
            break;
        buf_consume(&link->out, (size_t)sent);
    }
    io_want(link->io, link->out.len > 0 ? IO_READ | IO_WRITE : IO_READ);
}

/* The service has gone, or its frames make no sense: there is nothing left to do here. */
static void end(struct link *link)
{
    loop_stop(link->loop);
}

static void read_in(struct link *link)
{
    char data[READ_BYTES];
    ssize_t got = recv(link->fd, data, sizeof(data), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0 || buf_append(&link->in, data, (size_t)got) != OK) {
        end(link);
        return;
    }
    size_t at = 0, used = 0;
    struct voice_frame frame;
    enum err err;
    while ((err = voice_frame_read(link->in.data + at, link->in.len - at, &frame, &used)) == OK) {
        at += used;
        link->on_frame(link->arg, &frame);
    }
    buf_consume(&link->in, at);
    if (err == ERR_INVALID)
        end(link);
}

static void on_io(void *arg, unsigned events)
{
    struct link *link = arg;
    if (events & IO_WRITE)
        write_out(link);
    if (events & IO_READ)
        read_in(link);
}

struct link *link_open(struct loop *loop, int fd, link_fn *on_frame, void *arg)
{
    struct link *link = mem_new(struct link);
    link->loop = loop;
    link->fd = fd;
    link->on_frame = on_frame;
    link->arg = arg;
    buf_init(&link->in, IN_MAX_BYTES);
    buf_init(&link->out, OUT_MAX_BYTES);
    link->io = io_open(loop, fd, IO_READ, on_io, link);
    return link;
}

void link_close(struct link *link)
{
    io_close(link->io);
    buf_clear(&link->in);
    buf_clear(&link->out);
    mem_free(link);
}

void link_send(struct link *link, const struct voice_frame *frame)
{
    if (voice_frame_write(frame, &link->out) != OK) {
        end(link);
        return;
    }
    write_out(link);
}

bool link_is_slow(const struct link *link)
{
    return link->out.len > SLOW_BYTES;
}

bool link_is_sent(const struct link *link)
{
    return link->out.len == 0;
}
