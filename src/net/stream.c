#include "net/stream.h"

#include <assert.h>
#include <errno.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/loop.h"
#include "base/mem.h"
#include "net/internal.h"
#include "net/tls.h"

enum {
    READ_BYTES = 16 * 1024,      /* one read; a TLS record's size */
    READS_PER_TURN = 8,          /* so that one fast peer leaves the loop its other work */
    LINGER_US = 5 * 1000 * 1000, /* what stream_close() gives unsent bytes */
    DRAIN_US = 2 * 1000 * 1000   /* what stream_close_draining() gives the peer to stop sending */
};

struct stream {
    struct loop *loop;
    struct io *io;
    int fd;
    struct tls_session *tls;
    struct net_addr peer, local;
    struct buf in, out;
    unsigned wants;       /* IO_ events watched now */
    unsigned read_wants;  /* what the next read waits for: a TLS one may wait to write */
    unsigned write_wants; /* and the reverse */
    bool is_paused;
    bool has_ended;   /* no more is read, and on_closed has been told */
    bool is_broken;   /* no more can be written */
    bool is_closing;  /* the owner has let go: flushing, then perhaps draining */
    bool drains_peer; /* after flushing, reads and drops until the peer ends */
    bool is_freed;
    bool in_callback; /* writes are gathered until on_read returns */
    bool has_started; /* a byte was read: a TLS handshake is over */
    bool kick_is_queued;
    struct timer linger;
    struct loop_leftover leftover; /* once is_closing */
    struct stream_fns fns;
    void *arg;
    loop_fn *released_fn;
    void *released_arg;
};

static void on_io(void *arg, unsigned events);

static bool wants_more(const struct stream *stream)
{
    return !stream->is_paused && !stream->has_ended && !stream->is_closing &&
           stream->in.len < stream->in.max_bytes;
}

static bool is_draining(const struct stream *stream)
{
    return stream->is_closing && stream->drains_peer && stream->out.len == 0;
}

static void update_wants(struct stream *stream)
{
    unsigned wants = 0;
    if (wants_more(stream) || is_draining(stream))
        wants |= stream->read_wants;
    if (stream->out.len > 0 && !stream->is_broken)
        wants |= stream->write_wants;
    if (stream->io && wants != stream->wants) {
        io_want(stream->io, wants);
        stream->wants = wants;
    }
}

static struct stream *make_stream(struct loop *loop, int fd)
{
    struct stream *stream = mem_new(struct stream);
    stream->loop = loop;
    stream->fd = fd;
    buf_init(&stream->in, STREAM_READ_MAX);
    buf_init(&stream->out, STREAM_WRITE_MAX);
    stream->wants = stream->read_wants = IO_READ;
    stream->write_wants = IO_WRITE;
    stream->io = io_open(loop, fd, IO_READ, on_io, stream);
    return stream;
}

struct stream *stream_open(struct loop *loop, int take_fd, struct tls_context *tls)
{
    struct stream *stream = make_stream(loop, take_fd);
    struct sockaddr_storage storage = {0};
    socklen_t len = sizeof(storage);
    if (getpeername(take_fd, (struct sockaddr *)&storage, &len) == 0)
        net_addr_from_sockaddr(&storage, &stream->peer);
    stream->local = net_socket_address(take_fd);
    if (tls)
        stream->tls = tls_session_new(tls, take_fd, NULL);
    return stream;
}

struct stream *stream_attach(struct loop *loop, struct stream_state *take_state)
{
    struct stream *stream = make_stream(loop, take_state->fd);
    stream->tls = take_state->tls;
    stream->peer = take_state->peer;
    stream->local = take_state->local;
    stream->has_started = true;
    stream->released_fn = TAKE(take_state->released_fn);
    stream->released_arg = take_state->released_arg;
    stream->in.max_bytes = MAX(stream->in.max_bytes, take_state->unread_len);
    stream->out.max_bytes = MAX(stream->out.max_bytes, take_state->unsent_len);
    buf_append(&stream->in, take_state->unread, take_state->unread_len);
    buf_append(&stream->out, take_state->unsent, take_state->unsent_len);
    take_state->fd = -1;
    take_state->tls = NULL;
    stream_state_clear(take_state);
    update_wants(stream);
    return stream;
}

void stream_state_clear(struct stream_state *state)
{
    tls_session_free(state->tls);
    if (state->fd >= 0)
        close(state->fd);
    mem_free(state->unread);
    mem_free(state->unsent);
    if (state->released_fn)
        state->released_fn(state->released_arg);
    *state = (struct stream_state){.fd = -1};
}

static void free_stream(void *arg)
{
    struct stream *stream = arg;
    if (stream->kick_is_queued) { /* its own deferred function is still to come */
        loop_defer(stream->loop, free_stream, stream);
        return;
    }
    mem_free(stream);
}

/* Lets go of the socket; the memory goes at the end of the turn. */
static void release(struct stream *stream)
{
    stream->is_freed = stream->has_ended = stream->is_broken = true;
    timer_stop(&stream->linger);
    list_remove(&stream->leftover.node);
    io_close(TAKE(stream->io));
    buf_clear(&stream->in);
    buf_clear(&stream->out);
    loop_defer(stream->loop, free_stream, stream);
    if (stream->released_fn)
        stream->released_fn(stream->released_arg);
}

void stream_abort(struct stream *stream)
{
    if (!stream || stream->is_freed)
        return;
    tls_session_free(stream->tls);
    io_close(TAKE(stream->io)); /* before its number can be another's */
    close(stream->fd);
    release(stream);
}

/* All is written: closes, or goes on to drain. */
static void say_goodbye(struct stream *stream)
{
    if (stream->tls && !stream->is_broken)
        tls_shutdown(stream->tls);
    shutdown(stream->fd, SHUT_WR);
    if (!stream->drains_peer || stream->has_ended) {
        stream_abort(stream);
        return;
    }
    timer_set_after(&stream->linger, DRAIN_US);
    update_wants(stream);
}

/* ERR_CLOSED: the peer sends no more. All else: it is broken. Tells the owner once. */
static void end(struct stream *stream, enum err reason)
{
    stream->is_broken = stream->is_broken || reason != ERR_CLOSED;
    if (stream->is_broken)
        buf_clear(&stream->out);
    if (stream->is_closing && (stream->is_broken || stream->out.len == 0)) {
        stream_abort(stream);
        return;
    }
    bool is_told = stream->has_ended || stream->is_closing;
    stream->has_ended = true;
    update_wants(stream);
    if (!is_told && stream->fns.on_closed)
        stream->fns.on_closed(stream->arg, reason);
}

static enum err write_some(struct stream *stream, const char *data, size_t len, size_t *out_len)
{
    if (stream->tls) {
        unsigned wants = 0;
        enum err err = tls_write(stream->tls, data, len, out_len, &wants);
        if (err == ERR_AGAIN)
            stream->write_wants = wants;
        return err == ERR_CLOSED ? ERR_IO : err;
    }
    ssize_t n = send(stream->fd, data, len, MSG_NOSIGNAL);
    if (n >= 0) {
        *out_len = (size_t)n;
        return OK;
    }
    return errno == EAGAIN || errno == EINTR ? ERR_AGAIN : ERR_IO;
}

static enum err flush(struct stream *stream)
{
    size_t done = 0;
    enum err err = OK;
    while (done < stream->out.len && !err) {
        size_t n = 0;
        err = write_some(stream, stream->out.data + done, stream->out.len - done, &n);
        if (!err)
            done += n;
    }
    if (done == stream->out.len)
        buf_clear(&stream->out); /* idle connections hold no memory */
    else
        buf_consume(&stream->out, done);
    return err == ERR_AGAIN ? OK : err;
}

static void flush_and_tell(struct stream *stream)
{
    bool had_unsent = stream->out.len > 0;
    enum err err = flush(stream);
    if (err) {
        end(stream, err);
        return;
    }
    update_wants(stream);
    if (stream->out.len > 0 || !had_unsent)
        return;
    if (stream->is_closing)
        say_goodbye(stream);
    else if (stream->fns.on_drained)
        stream->fns.on_drained(stream->arg);
}

static enum err read_some(struct stream *stream, size_t *out_len)
{
    size_t room = stream->in.max_bytes - stream->in.len;
    size_t cap = MIN(room, (size_t)READ_BYTES);
    if (buf_reserve(&stream->in, cap) != OK)
        return ERR_LIMIT;
    char *at = stream->in.data + stream->in.len;
    if (stream->tls) {
        unsigned wants = 0;
        enum err err = tls_read(stream->tls, at, cap, out_len, &wants);
        if (err == ERR_AGAIN)
            stream->read_wants = wants;
        return err;
    }
    ssize_t n = recv(stream->fd, at, cap, 0);
    if (n > 0) {
        *out_len = (size_t)n;
        return OK;
    }
    if (n == 0)
        return ERR_CLOSED;
    return errno == EAGAIN || errno == EINTR ? ERR_AGAIN : ERR_IO;
}

static void tell_read(struct stream *stream)
{
    if (!stream->fns.on_read || stream->in.len == 0 || stream->is_closing || stream->is_freed)
        return;
    stream->in_callback = true;
    stream->fns.on_read(stream->arg);
    stream->in_callback = false;
    if (!stream->is_freed && stream->out.len > 0)
        flush_and_tell(stream);
}

static void read_all(struct stream *stream)
{
    enum err err = OK;
    for (int i = 0; i < READS_PER_TURN && !err && wants_more(stream); i++) {
        size_t before = stream->in.len, n = 0;
        err = read_some(stream, &n);
        if (err)
            break;
        stream->in.len = before + n;
        stream->in.data[stream->in.len] = '\0';
        stream->has_started = true;
        bool was_short = n < READ_BYTES && !stream->tls;
        tell_read(stream);
        if (stream->is_freed)
            return;
        if (was_short)
            break; /* the socket is empty; if not, the loop says so */
    }
    if (stream->in.len == 0)
        buf_clear(&stream->in);
    if (err && err != ERR_AGAIN)
        end(stream, err);
}

static void kick(void *arg);

static void queue_kick(struct stream *stream)
{
    if (stream->kick_is_queued)
        return;
    stream->kick_is_queued = true;
    loop_defer(stream->loop, kick, stream);
}

/* Bytes that wait in our buffer or inside TLS make no descriptor ready. */
static void kick(void *arg)
{
    struct stream *stream = arg;
    stream->kick_is_queued = false;
    if (stream->is_freed || stream->is_paused)
        return;
    tell_read(stream);
    if (!stream->is_freed && stream->tls && tls_has_unread(stream->tls))
        read_all(stream);
    if (!stream->is_freed)
        update_wants(stream);
}

static void drain(struct stream *stream)
{
    char dropped[READ_BYTES];
    for (int i = 0; i < READS_PER_TURN; i++) {
        ssize_t n = recv(stream->fd, dropped, sizeof(dropped), 0);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n <= 0) {
            stream_abort(stream);
            return;
        }
    }
}

static void on_io(void *arg, unsigned events)
{
    struct stream *stream = arg;
    if (is_draining(stream)) {
        drain(stream);
        return;
    }
    if (stream->out.len > 0 && (events & IO_WRITE || stream->tls))
        flush_and_tell(stream);
    if (stream->is_freed)
        return;
    if (wants_more(stream) && (events & IO_READ || stream->tls))
        read_all(stream);
    if (!stream->is_freed)
        update_wants(stream);
}

void stream_set(struct stream *stream, const struct stream_fns *fns, void *arg)
{
    stream->fns = *fns;
    stream->arg = arg;
    if (stream->in.len > 0 || (stream->tls && tls_has_unread(stream->tls)))
        queue_kick(stream);
}

void stream_set_ceilings(struct stream *stream, size_t read_bytes, size_t write_bytes)
{
    stream->in.max_bytes = read_bytes;
    stream->out.max_bytes = write_bytes;
    update_wants(stream);
}

const char *stream_peek(const struct stream *stream, size_t *out_len)
{
    *out_len = stream->in.len;
    return stream->in.data;
}

void stream_consume(struct stream *stream, size_t len)
{
    assert(len <= stream->in.len);
    buf_consume(&stream->in, len);
    if (stream->in.len == 0 && !stream->in_callback)
        buf_clear(&stream->in);
    if (!stream->in_callback) {
        update_wants(stream);
        if (stream->tls && wants_more(stream) && tls_has_unread(stream->tls))
            queue_kick(stream);
    }
}

void stream_pause(struct stream *stream, bool is_paused)
{
    bool resumes = stream->is_paused && !is_paused;
    stream->is_paused = is_paused;
    update_wants(stream);
    if (resumes && (stream->in.len > 0 || (stream->tls && tls_has_unread(stream->tls))))
        queue_kick(stream);
}

enum err stream_write(struct stream *stream, const void *data, size_t len)
{
    if (stream->is_broken || stream->is_closing)
        return ERR_CLOSED;
    if (len > stream->out.max_bytes - stream->out.len)
        return ERR_LIMIT;
    size_t done = 0;
    if (stream->out.len == 0 && !stream->in_callback) {
        enum err err = write_some(stream, data, len, &done);
        if (err && err != ERR_AGAIN)
            return ERR_CLOSED; /* on_closed follows when the loop reads the fault */
    }
    if (done < len)
        buf_append(&stream->out, (const char *)data + done, len - done);
    if (!stream->in_callback)
        update_wants(stream);
    return OK;
}

size_t stream_unsent(const struct stream *stream)
{
    return stream->out.len;
}

size_t stream_backlog(const struct stream *stream)
{
    int queued = 0;
    if (ioctl(stream->fd, SIOCOUTQ, &queued) != 0)
        queued = 0;
    return stream->out.len + (size_t)queued;
}

enum err stream_detach(struct stream *stream, struct stream_state *out)
{
    if (stream->is_broken)
        return ERR_CLOSED;
    if (!stream->has_started)
        return ERR_AGAIN;
    struct stream_state state = {.fd = stream->fd, .tls = stream->tls};
    state.released_fn = TAKE(stream->released_fn);
    state.released_arg = stream->released_arg;
    state.peer = stream->peer;
    state.local = stream->local;
    if (stream->in.len > 0)
        state.unread = buf_take(&stream->in, &state.unread_len);
    if (stream->out.len > 0)
        state.unsent = buf_take(&stream->out, &state.unsent_len);
    release(stream);
    *out = state;
    return OK;
}

static void on_linger(void *arg)
{
    stream_abort(arg);
}

void stream_close(struct stream *stream)
{
    if (!stream || stream->is_freed || stream->is_closing)
        return;
    stream->is_closing = true;
    timer_init(&stream->linger, stream->loop, on_linger, stream);
    loop_take_leftover(stream->loop, &stream->leftover, on_linger, stream);
    if (!stream->is_broken && flush(stream) != OK)
        stream->is_broken = true;
    if (stream->is_broken || stream->out.len == 0) {
        say_goodbye(stream);
        return;
    }
    timer_set_after(&stream->linger, LINGER_US);
    update_wants(stream);
}

void stream_close_draining(struct stream *stream)
{
    if (stream)
        stream->drains_peer = !stream->is_broken;
    stream_close(stream);
}

void stream_on_released(struct stream *stream, void (*fn)(void *arg), void *arg)
{
    stream->released_fn = fn;
    stream->released_arg = arg;
}

struct net_addr stream_peer(const struct stream *stream)
{
    return stream->peer;
}

struct net_addr stream_local(const struct stream *stream)
{
    return stream->local;
}

bool stream_is_tls(const struct stream *stream)
{
    return stream->tls != NULL;
}
