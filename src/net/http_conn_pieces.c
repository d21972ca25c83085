/* Answers whose body is made piece by piece (RFC 9112 section 7.1). The exchange stays with its
 * handler until the last piece; what it is told comes deferred, so that it may be freed in there.
 *
 *   begin, piece --written--> left --on_wanted--> owed --piece--> ...
 *                                '-- the connection is no more: on_gone */
#include <assert.h>
#include <stdio.h>

#include "base/mem.h"
#include "net/http_conn.h"

enum { HEAD_MAX_BYTES = 64 * 1024 };

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

/* Chunked, but for HTTP/1.0, which takes what comes until the close. false: the connection broke.
 */
static bool write_piece(struct http_conn *conn, const char *data, size_t len, bool is_last)
{
    bool is_chunked = !conn->exchange->is_http10;
    char size[24];
    int size_len = snprintf(size, sizeof size, "%zx\r\n", len);
    const struct {
        const char *data;
        size_t len;
    } parts[] = {
        {size, is_chunked && len ? (size_t)size_len : 0},
        {data, len},
        {"\r\n", is_chunked && len ? 2 : 0},
        {"0\r\n\r\n", is_chunked && is_last ? 5 : 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (parts[i].len && stream_write(conn->stream, parts[i].data, parts[i].len) != OK)
            return false;
    return true;
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

/* After a piece: the next one is wanted as soon as this one has left. */
static void wait_for_room(struct http_conn *conn)
{
    if (stream_unsent(conn->stream) == 0)
        conn_piece_left(conn);
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
    bool is_written = conn && write_head(conn, answer) &&
                      (exchange->is_head || write_piece(conn, first, answer->body_len, false));
    bool goes_on = is_written && !exchange->is_head;
    mem_free(answer->take_body);
    if (!goes_on) {
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
    wait_for_room(conn);
    return true;
}

void http_answer_piece(struct http_exchange *exchange, const char *data, size_t len)
{
    struct http_conn *conn = exchange->conn;
    assert(exchange->is_owed);
    exchange->is_owed = false;
    if (conn)
        pace_begin(conn); /* the reader is not to blame for its maker's time */
    if (conn && write_piece(conn, data, len, false))
        wait_for_room(conn);
    else if (conn)
        conn_abort(conn); /* tells */
    else
        exchange_tell(exchange);
}

void http_answer_end(struct http_exchange *exchange, const char *data, size_t len)
{
    struct http_conn *conn = exchange->conn;
    if (conn)
        end_answer(conn, write_piece(conn, data, len, true));
    release(exchange);
}

void http_answer_cut(struct http_exchange *exchange)
{
    if (exchange->conn)
        end_answer(exchange->conn, false);
    release(exchange);
}
