/* What the files of the HTTP server share: http_server.c (connections, timers), http_conn_read.c
 * (heads and bodies), http_conn_write.c (answers), http_conn_pieces.c (answers made piece by
 * piece). Thread: the server's loop.
 *
 *   HEAD --whole--> ASKED --http_body_want--> BODY --whole--> HANDLER --http_answer--> ANSWER
 *     ^               |                         '-- none --------^                       |
 *     |               '-- http_answer --------------------------------------------------->|
 *     '-- all written --------------------------------------------------------------------'
 *
 * A refusal of our own goes from HEAD or BODY to ANSWER, and is the last one.
 */
#pragma once

#include "base/buf.h"
#include "base/list.h"
#include "base/loop.h"
#include "base/states.h"
#include "net/http_chunk.h"
#include "net/http_head.h"
#include "net/http_peers.h"
#include "net/http_server.h"
#include "net/stream.h"

struct http_conn;
struct quota;

enum conn_state { CONN_HEAD, CONN_ASKED, CONN_BODY, CONN_HANDLER, CONN_ANSWER, CONN_CLOSED };
enum conn_event {
    CONN_ASK,   /* a head is whole: its handler decides on the body */
    CONN_WANT,  /* the body is wanted */
    CONN_HAND,  /* the request is whole, or as whole as it will be */
    CONN_REPLY, /* an answer begins, the handler's or a refusal */
    CONN_SENT,  /* all of it has left */
    CONN_END
};
enum { CONN_STATES = CONN_CLOSED + 1, CONN_EVENTS = CONN_END + 1 };
extern const struct states conn_states;

enum { REQUEST_ID_SIZE = 128 + 1 };

struct http_server {
    struct loop *loop;
    struct listener *listener;
    struct http_server_config config;
    struct http_handler handler;
    void *arg;
    struct list_node conns;  /* those that are not closed */
    struct list_node ending; /* closed, but their sockets still flush or drain */
    size_t conn_count;
    struct http_peers *peers;
    struct quota *unread; /* bytes of long answers, by address */
    bool is_draining;
    char date[32]; /* of date_s */
    int64_t date_s;
};

struct http_exchange {
    struct http_conn *conn; /* NULL: the connection is no more */
    struct arena *arena;
    struct http_request request;
    const char *id; /* in the arena */
    struct buf body;
    int spool_fd; /* -1: none */
    void *user;
    bool is_head;   /* the method is HEAD */
    bool is_http10; /* knows no chunks */
    bool is_gone;
    /* of an answer in pieces */
    struct http_pieces_fns pieces;
    void *pieces_arg;
    struct loop *loop;
    bool is_in_pieces;
    bool is_owed;    /* on_wanted has come, the piece has not */
    bool is_telling; /* a deferred call is on its way */
    bool is_over;    /* freed by that call */
};

/* What of an answer's body is still to be handed to the stream: memory or a file. It leaves in
 * slices, one a callback, so that a long answer holds up nobody else on the loop. */
struct http_rest {
    char *data; /* owned */
    size_t len, at;
    int fd; /* owned; -1: none */
    int64_t fd_left;
    struct timer next; /* the next slice; when the socket is full, on_drained is */
};

/* The body that is being read (http_conn_read.c). */
struct http_conn_body {
    struct http_body_choice choice;
    struct http_chunk chunk;
    bool is_there, is_chunked, expects_continue;
    int64_t left; /* unless chunked */
    size_t got;
};

struct http_conn {
    struct http_server *server; /* NULL: it was closed before the socket was */
    struct loop *loop;
    struct list_node node;
    struct stream *stream;
    struct timer timer;
    struct http_place place;
    enum conn_state state;
    bool keeps_alive;
    bool in_process;    /* conn_process() is on the stack */
    bool leaves_unread; /* the body was not read to its end */
    bool is_first;
    bool is_released; /* the stream's socket is closed */
    size_t scanned;   /* of the head that is still coming */
    struct http_exchange *exchange;
    char request_id[REQUEST_ID_SIZE]; /* of the answer under way; "": none is known */
    struct http_conn_body body;
    struct http_rest rest; /* of the answer under way */
    size_t backlog_seen;   /* what the reader had still to take when we looked last */
    int64_t unread_bytes;  /* taken of server->unread */
    int64_t pace_due_us;   /* when the body, or the answer, falls too far short of its least pace */
};

/* http_server.c */
void conn_process(struct http_conn *conn); /* goes on with whatever bytes are there */
void conn_close(struct http_conn *conn);   /* after what is unsent */
void conn_abort(struct http_conn *conn);
void conn_set_timer(struct http_conn *conn);
/* False: it cannot be, and the connection was cut. */
bool conn_move(struct http_conn *conn, enum conn_event event) MUST_USE;
void conn_drop_body(struct http_conn *conn); /* of a body under way: the handler is told */
void pace_begin(struct http_conn *conn);
void pace_moved(struct http_conn *conn, size_t bytes);

/* http_conn_read.c: each returns false when it needs more bytes, or the connection's state has
 * changed.
 */
bool conn_read_head(struct http_conn *conn);
bool conn_read_body(struct http_conn *conn);
void exchange_free(struct http_exchange *exchange);
void spool_sweep(const char *dir); /* what a process that died has left */

/* http_conn_write.c */
void conn_refuse(struct http_conn *conn, int status, const char *sentence);
void conn_answer_done(struct http_conn *conn); /* all written: next request, or the end */
/* The next slice of conn->rest; when all has left, the next piece or the answer's end. */
void conn_write_rest(struct http_conn *conn);
void conn_clear_rest(struct http_conn *conn);
/* Bytes of the head of an answer; length -1: it is not known, the body comes in pieces. */
void conn_append_head(struct http_conn *conn, const struct http_answer *answer, int64_t length,
                      struct buf *out);

/* http_conn_pieces.c */
void conn_piece_left(struct http_conn *conn); /* all written: the next piece is wanted */
/* A piece has left, or the connection is no more: the exchange's owner is told, later. */
void exchange_tell(struct http_exchange *exchange);
void conn_give_unread(struct http_conn *conn);
