/* The HTTP/1.1 server (RFC 9112): libhttp-parser reads the head, all the rest is here. One request
 * of a connection is with its handler at a time; what is pipelined after it waits, so that answers
 * keep their order.
 *
 * Refused with a plain answer, before any handler: LF without CR, folded lines, NUL, both lengths,
 * unknown transfer codings (400, 501), a line, head or body over its ceiling (414, 431, 413), who
 * sends too slowly (408), other versions (505), unknown expectations (417). After such an answer
 * the connection is closed.
 *
 *   on_head -> http_body_want() or http_answer(), at once or later -> body -> on_request ->
 *   http_answer() from any later turn of the loop, or http_upgrade()
 *
 * Until http_body_want() no byte of a body is read, so that who may not send one fills nothing. A
 * body and an answer must move by 4 KiB a second, with 30 s of grace. One address holds a share of
 * the connections only, and idle ones give way when there is no other place (net/http_peers.h).
 *
 * Thread: its loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"
#include "net/addr.h"
#include "net/http_header.h"

struct http_exchange;
struct http_server;
struct loop;
struct stream_state;
struct tls_context;

enum http_body_state {
    HTTP_BODY_NONE,     /* the request has none (or its length is 0) */
    HTTP_BODY_WHOLE,    /* in body, or in body_path when it was spooled */
    HTTP_BODY_TOO_LONG, /* over the ceiling: not kept; the connection closes after the answer */
    HTTP_BODY_NO_ROOM   /* on_body refused it, or the disk did; the same */
};

/* Valid until the exchange is answered. */
struct http_request {
    const char *method; /* "GET"; upper case as sent */
    const char *target; /* as sent */
    const char *path;   /* without query, not decoded */
    const char *query;  /* without '?', NULL when absent */
    const struct http_header *headers;
    size_t header_count;
    int64_t content_length; /* as declared; -1: chunked or none */
    enum http_body_state body_state;
    const char *body; /* NUL-terminated; NULL unless in memory */
    size_t body_len;  /* of the spooled file as well */
    int body_fd;      /* the spooled file, which has no name; read it by offset; -1: none */
    struct net_addr peer, local;
    bool is_tls;
    bool wants_upgrade; /* Connection: upgrade was sent */
};

enum http_body_form { HTTP_BODY_DROP, HTTP_BODY_MEMORY, HTTP_BODY_FILE };
struct http_body_choice {
    enum http_body_form form;
    size_t max_bytes;
};

struct http_handler {
    /* The head is read: says by http_body_want() in which form a body is wanted, at once or from a
     * later turn, or answers; then on_request does not come. NULL: bodies up to 1 MiB in memory. */
    void (*on_head)(void *arg, struct http_exchange *exchange);
    void (*on_request)(void *arg, struct http_exchange *exchange);
    /* After http_body_want() the body did not come whole: the client is gone or was told. The
     * exchange ends with this call. NULL: nobody needs to know. */
    void (*on_gone)(void *arg, struct http_exchange *exchange);
    /* May more_bytes of the body be kept? Asked once for a declared length, else piece by piece.
     * NULL: they may. */
    bool (*on_body)(void *arg, struct http_exchange *exchange, size_t more_bytes);
    /* Is the peer a proxy, which stands for many? NULL: none is. */
    bool (*is_proxy)(void *arg, const struct net_addr *peer);
};

/* Zeros mean the standard value. */
struct http_server_config {
    struct net_addr bind;
    struct tls_context *tls;  /* NULL: plain; borrowed */
    const char *spool_dir;    /* for HTTP_BODY_FILE; borrowed; NULL: /tmp; leftovers are swept */
    size_t max_line_bytes;    /* 32 KiB */
    size_t max_head_bytes;    /* 64 KiB */
    size_t max_headers;       /* 100 */
    size_t max_connections;   /* 10,000; further ones take an idle one's place or are closed */
    size_t max_per_address;   /* 1,000 of them; an IPv6 /64 is one address */
    int64_t max_unread_bytes; /* 256 MiB: of answers over 256 KiB that wait for their readers */
    int64_t head_ms;  /* 10,000: from the first byte (or the connection) to the head's end */
    int64_t idle_ms;  /* 75,000: between two requests */
    int64_t stall_ms; /* 10,000: no byte of a body or of an answer moved */
    int64_t grace_ms; /* 30,000: how long a body or an answer may fall short of its least pace */
};

enum err http_server_open(struct loop *loop, const struct http_server_config *config,
                          const struct http_handler *handler, void *arg, struct http_server **out,
                          struct fault *fault) MUST_USE;
struct net_addr http_server_address(const struct http_server *server); /* with the real port */
/* Accepts no more; idle connections are closed, the others after their answer. */
void http_server_drain(struct http_server *server);
/* Cuts all connections. Exchanges that are not answered yet must still be: nothing is sent then. */
void http_server_close(struct http_server *server);
size_t http_server_connections(const struct http_server *server);

/* Every answer carries it as X-Request-Id: the client's own when it is 1 to 128 of letters, digits,
 * '.', '_' and '-', else a new one. Lives as long as the exchange. */
const char *http_exchange_id(const struct http_exchange *exchange);
const struct http_request *http_exchange_request(const struct http_exchange *exchange);
/* A header of the request by name in any case; several of one name: the first. NULL: absent. */
const char *http_exchange_header(const struct http_exchange *exchange, const char *name);
/* The handler's own pointer, and an arena that lives until the answer. */
void http_exchange_set_user(struct http_exchange *exchange, void *user);
void *http_exchange_user(const struct http_exchange *exchange);
struct arena *http_exchange_arena(struct http_exchange *exchange);
bool http_exchange_is_gone(const struct http_exchange *exchange); /* the client has left */

/* After on_head, once: the body may come. on_request follows, at once when there is no body. false:
 * the client has left; answer all the same. */
bool http_body_want(struct http_exchange *exchange, const struct http_body_choice *choice);

enum { HTTP_ANSWER_MAX_BYTES = 64 << 20 /* from memory; a longer one becomes a 500 */ };

/* Content-Length, Date, Connection, Server and X-Request-Id are the server's; so is dropping the
 * body for HEAD.
 */
struct http_answer {
    int status;
    const struct http_header *headers; /* borrowed; CR or LF in one is our bug (assert) */
    size_t header_count;
    const char *body; /* borrowed */
    size_t body_len;
    char *take_body; /* instead of body: mem_free'd when sent */
    int file_fd;     /* instead: > 0, taken, file_len bytes from its present offset */
    int64_t file_len;
    bool is_last; /* close the connection after it */
};
/* Answers; the exchange and its request are gone. */
void http_answer(struct http_exchange *take_exchange, const struct http_answer *answer);
/* Answers while the handler is still at work: the request stays readable until http_answer(), which
 * then sends nothing. */
void http_answer_early(struct http_exchange *exchange, const struct http_answer *answer);

/* An answer whose body is made piece by piece.
 *
 *   http_answer_begin() -> on_wanted -> http_answer_piece() -> on_wanted -> ... http_answer_end()
 *                              '-> on_gone (instead, at any time): the client has left
 *
 * Sent chunked (to HTTP/1.0: until the close). The next piece is wanted when the one before has
 * left, so no more than one is in memory, however slowly the client reads. Neither function comes
 * from inside one of ours; each on_wanted is answered by one piece, end or cut. */
struct http_pieces_fns {
    void (*on_wanted)(void *arg);
    void (*on_gone)(void *arg); /* the exchange is gone */
};
/* Sends the head; the body of `answer` is the first piece. The exchange lives on, its request's
 * body does not. False: no body is wanted (HEAD, or the client has left): the exchange is gone,
 * neither function comes. */
bool http_answer_begin(struct http_exchange *exchange, const struct http_answer *answer,
                       const struct http_pieces_fns *fns, void *arg) MUST_USE;
void http_answer_piece(struct http_exchange *exchange, const char *data, size_t len);
/* The last piece (len may be 0); the exchange is gone. */
void http_answer_end(struct http_exchange *take_exchange, const char *data, size_t len);
/* It cannot be finished: the connection is cut before the end of the body, so that the client knows
 * that it has not all of it. The exchange is gone. */
void http_answer_cut(struct http_exchange *take_exchange);

/* `{"error","code","status"}` as the API's errors are. */
void http_answer_error(struct http_exchange *take_exchange, int status, const char *code,
                       const char *sentence);

/* Takes the connection out of the server, with what came after the head unread and nothing written
 * yet; the exchange is gone, so copy what is needed of the request before. Only in or after
 * on_request. The connection counts for its address until its socket is closed, on whatever loop;
 * the server's loop lives longer. ERR_CLOSED: the client has left (the exchange is gone all the
 * same). */
enum err http_upgrade(struct http_exchange *take_exchange, struct stream_state *out) MUST_USE;
const char *http_reason(int status); /* "Not Found"; "Unknown" for others */
