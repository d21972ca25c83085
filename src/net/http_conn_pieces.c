/* Answers whose body is made piece by piece (RFC 9112 section 7.1). The exchange stays with its
 * handler until the last piece; what it is told comes deferred, so that it may be freed in there.
 *
 *   begin, piece --written--> left --on_wanted--> owed --piece--> ...
 *                                '-- the connection is no more: on_gone */
#include <assert.h>

#include "base/mem.h"
#include "net/http_conn.h"

enum {
    HEAD_MAX_BYTES = 64 * 1024,
    CHUNK_EXTRA_BYTES = 32 /* a size of 16 digits, three line ends, the last chunk */
};

static void tell(void *arg)
{
    struct http_exchange *exchange = arg;
    exchange->is_telling = false;
    if (exchange->is_over) {
        exchange_free(exchange);
    } else if (!exchange->conn) {
        struct http_pieces_fns fns = exchange->pieces;
        void *owner = exchange->pieces_arg;
        exchange_free(exchange);
        fns.on_gone(owner);
    } else if (!exchange->is_owed && stream_unsent(exchange->conn->stream) == 0) {
        exchange->is_owed = true;
        exchange->pieces.on_wanted(exchange->pieces_arg);
    }
}

/* One that owes a piece learns of a lost connection when it brings it. */
void exchange_tell(struct http_exchange *exchange)
{
    if (exchange->is_telling || exchange->is_owed)
        return;
    exchange->is_telling = true;
    loop_defer(exchange->loop, tell, exchange);
}

static void release(struct http_exchange *exchange)
{
    if (exchange->is_telling)
        exchange->is_over = true;
    else
        exchange_free(exchange);
}

/* Chunked, but for HTTP/1.0, which takes what comes until the close. It leaves in slices. */
static void write_piece(struct http_conn *conn, const char *data, size_t len, bool is_last)
{
    bool is_chunked = !conn->exchange->is_http10;
    struct buf framed;
    buf_init(&framed, len + CHUNK_EXTRA_BYTES);
    buf_reserve(&framed, len + CHUNK_EXTRA_BYTES);
    if (is_chunked && len)
        buf_printf(&framed, "%zx\r\n", len);
    buf_append(&framed, data, len);
    if (is_chunked && len)
        buf_append_str(&framed, "\r\n");
    if (is_chunked && is_last)
        buf_append_str(&framed, "0\r\n\r\n");
    if (is_last)
        conn->exchange = NULL;
    conn->rest.data = buf_take(&framed, &conn->rest.len);
    conn->rest.at = 0;
    conn_write_rest(conn);
}

static bool write_head(struct http_conn *conn, const struct http_answer *answer)
{
    AUTO_BUF head = BUF_INIT(HEAD_MAX_BYTES);
    if (conn->exchange->is_http10 || answer->is_last || conn->leaves_unread ||
        conn->server->is_draining)
        conn->keeps_alive = false;
    if (!conn_move(conn, CONN_REPLY))
        return false;
    pace_begin(conn);
    conn_append_head(conn, answer, -1, &head);
    return !head.is_full && stream_write(conn->stream, head.data, head.len) == OK;
}

/* The answer is written, or cannot be. */
static void end_answer(struct http_conn *conn, bool is_written)
{
    conn->exchange = NULL;
    if (!is_written)
        conn_abort(conn);
    else if (stream_unsent(conn->stream) == 0)
        conn_answer_done(conn);
    else
        conn_set_timer(conn);
}

void conn_piece_left(struct http_conn *conn)
{
    timer_stop(&conn->timer); /* now its owner's time runs, not the client's */
    exchange_tell(conn->exchange);
}

bool http_answer_begin(struct http_exchange *exchange, const struct http_answer *answer,
                       const struct http_pieces_fns *fns, void *arg)
{
    struct http_conn *conn = exchange->conn;
    const char *first = answer->take_body ? answer->take_body : answer->body;
    AUTO_MEM char *taken = answer->take_body; /* freed in any case */
    (void)taken;
    bool is_written = conn && write_head(conn, answer);
    if (!is_written || exchange->is_head) {
        if (conn)
            end_answer(conn, is_written);
        exchange_free(exchange);
        return false;
    }
    exchange->is_in_pieces = true;
    exchange->pieces = *fns;
    exchange->pieces_arg = arg;
    exchange->loop = conn->server->loop;
    buf_clear(&exchange->body);
    write_piece(conn, first, answer->body_len, false);
    return true;
}

void http_answer_piece(struct http_exchange *exchange, const char *data, size_t len)
{
    struct http_conn *conn = exchange->conn;
    assert(exchange->is_owed);
    exchange->is_owed = false;
    if (!conn) {
        exchange_tell(exchange);
        return;
    }
    pace_begin(conn); /* the reader is not to blame for its maker's time */
    write_piece(conn, data, len, false);
}

void http_answer_end(struct http_exchange *exchange, const char *data, size_t len)
{
    if (exchange->conn)
        write_piece(exchange->conn, data, len, true);
    release(exchange);
}

void http_answer_cut(struct http_exchange *exchange)
{
    if (exchange->conn)
        end_answer(exchange->conn, false);
    release(exchange);
}
