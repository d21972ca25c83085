/* A byte stream on a connected socket, with TLS or without, driven by a loop.
 *
 * Reading: on_read comes whenever new bytes are there; the owner looks at them with stream_peek()
 * and takes what it can use with stream_consume(). What it leaves stays; when the read buffer is
 * full nothing more is read, so that a slow owner slows its peer and nothing grows. Writing: bytes
 * go out at once if they can, else they wait, up to a ceiling. Moving: between any two calls a
 * connection can be detached from one loop and attached to another (architecture, Joining).
 *
 * Thread: its loop; a detached state belongs to whoever holds it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/err.h"
#include "net/addr.h"

struct loop;
struct stream;
struct tls_context;
struct tls_session;

/* on_closed comes once at most: ERR_CLOSED when the peer sends no more (it may still read: writing
 * goes on to work), ERR_IO when the connection broke. The owner then calls stream_close(), now or
 * when it has written its last. Bytes read before are still there to peek. Each may be NULL. */
struct stream_fns {
    void (*on_read)(void *arg);
    void (*on_drained)(void *arg); /* all that had to wait is written */
    void (*on_closed)(void *arg, enum err reason);
};

/* A connection between two loops. Free with stream_state_clear() unless attached. */
struct stream_state {
    int fd; /* -1: none */
    struct tls_session *tls;
    struct net_addr peer, local;
    char *unread; /* mem_free; what was read and not consumed, then what could not be written yet */
    size_t unread_len;
    char *unsent;
    size_t unsent_len;
    void (*released_fn)(
        void *arg);     /* as stream_on_released(), on the thread that closes it; NULL: */
    void *released_arg; /* nobody waits for it */
};

enum {
    STREAM_READ_MAX = 64 * 1024,   /* standard ceiling of bytes read and not consumed */
    STREAM_WRITE_MAX = 1024 * 1024 /* standard ceiling of bytes that wait to be written */
};

/* A connected, non-blocking socket; takes fd. tls: a server context, or NULL. */
struct stream *stream_open(struct loop *loop, int take_fd, struct tls_context *tls);
struct stream *stream_attach(struct loop *loop, struct stream_state *take_state);
/* The callbacks and their argument; may be changed at any time. If bytes wait already, on_read
 * comes at the end of this turn. */
void stream_set(struct stream *stream, const struct stream_fns *fns, void *arg);
void stream_set_ceilings(struct stream *stream, size_t read_bytes, size_t write_bytes);

const char *stream_peek(const struct stream *stream, size_t *out_len);
void stream_consume(struct stream *stream, size_t len);
void stream_pause(struct stream *stream, bool is_paused); /* stops reading */

/* All or nothing. ERR_LIMIT: the ceiling would be passed. ERR_CLOSED: it is over. */
enum err stream_write(struct stream *stream, const void *data, size_t len);
size_t stream_unsent(const struct stream *stream);
/* The same and what the kernel holds for a peer that has not taken it yet. */
size_t stream_backlog(const struct stream *stream);

/* Gives the connection up: the stream is gone, *out holds all of it. TLS handshakes must be over
 * (ERR_AGAIN), which they are once a byte was read. */
enum err stream_detach(struct stream *take_stream, struct stream_state *out) MUST_USE;
void stream_state_clear(struct stream_state *state);

/* Lets what is unsent go out for at most 5 s, then closes; no callback comes any more. NULL is
 * fine. */
void stream_close(struct stream *stream);
/* The same, but what the peer still sends is read and dropped for at most 2 s: a closed socket with
 * unread bytes would take the last answer away from it. */
void stream_close_draining(struct stream *stream);
void stream_abort(struct stream *stream); /* closes now */
/* fn comes once, from whatever closes the socket, also after stream_close(). It goes along when the
 * stream is detached. */
void stream_on_released(struct stream *stream, void (*fn)(void *arg), void *arg);

struct net_addr stream_peer(const struct stream *stream);
struct net_addr stream_local(const struct stream *stream);
bool stream_is_tls(const struct stream *stream);
