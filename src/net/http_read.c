/* The reading half of the HTTP server: heads, and bodies into memory, a file or nothing. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/ids.h"
#include "base/mem.h"
#include "net/http_conn.h"

enum {
    DROP_MAX_BYTES = 256 * 1024, /* of a body nobody wants; more of it closes the connection */
    BODY_STANDARD_BYTES = 1024 * 1024,
};

void exchange_free(struct http_exchange *exchange)
{
    if (!exchange)
        return;
    if (exchange->spool_path)
        unlink(exchange->spool_path);
    mem_free(exchange->spool_path);
    buf_clear(&exchange->body);
    arena_free(exchange->arena);
    mem_free(exchange);
}

static struct http_exchange *make_exchange(struct http_conn *conn, struct arena *arena,
                                           const struct http_head *head)
{
    struct http_exchange *exchange = mem_new(struct http_exchange);
    exchange->conn = conn;
    exchange->arena = arena;
    exchange->is_head = strcmp(head->method, "HEAD") == 0;
    exchange->is_http10 = head->is_http10;
    exchange->request = (struct http_request){
        .method = head->method,
        .target = head->target,
        .path = head->path,
        .query = head->query,
        .headers = head->headers,
        .header_count = head->header_count,
        .content_length = head->content_length,
        .peer = stream_peer(conn->stream),
        .local = stream_local(conn->stream),
        .is_tls = stream_is_tls(conn->stream),
        .wants_upgrade = head->wants_upgrade,
    };
    return exchange;
}

static bool hand_over(struct http_conn *conn)
{
    struct http_exchange *exchange = conn->exchange;
    conn->state = CONN_HANDLER;
    timer_stop(&conn->timer);
    conn->server->handler.on_request(conn->server->arg, exchange);
    return true; /* an answer given at once has changed the state */
}

static bool open_spool(struct http_conn *conn)
{
    char name[ID_SIZE];
    random_base62(name, 20);
    char *path = mem_printf("%s/body-%s", conn->server->config.spool_dir, name);
    conn->spool_fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (conn->spool_fd < 0) {
        mem_free(path);
        return false;
    }
    conn->exchange->spool_path = path;
    return true;
}

static bool body_is_over(struct http_conn *conn, enum http_body_state state)
{
    struct http_exchange *exchange = conn->exchange;
    struct http_request *request = &exchange->request;
    if (conn->spool_fd >= 0)
        close(conn->spool_fd);
    conn->spool_fd = -1;
    request->body_state = state;
    if (state == HTTP_BODY_WHOLE) {
        request->body_len = conn->body_got;
        request->body = exchange->spool_path || conn->choice.form == HTTP_BODY_DROP
                            ? NULL
                            : (exchange->body.data ? exchange->body.data : "");
        request->body_path = exchange->spool_path;
    }
    return hand_over(conn);
}

/* The rest of the body is not read: the connection cannot be used again. */
static bool body_is_too_long(struct http_conn *conn)
{
    conn->keeps_alive = false;
    conn->leaves_unread = true;
    buf_clear(&conn->exchange->body);
    return body_is_over(conn, HTTP_BODY_TOO_LONG);
}

static bool begin_body(struct http_conn *conn, const struct http_head *head)
{
    conn->is_chunked = head->is_chunked;
    conn->chunk = (struct http_chunk){0};
    conn->body_left = head->content_length;
    conn->body_got = 0;
    conn->body_began_us = loop_now_us(conn->server->loop);
    if (conn->choice.form == HTTP_BODY_DROP)
        conn->choice.max_bytes = DROP_MAX_BYTES;
    buf_init(&conn->exchange->body, conn->choice.max_bytes);
    if (head->content_length > (int64_t)conn->choice.max_bytes)
        return body_is_too_long(conn);
    if (conn->choice.form == HTTP_BODY_FILE && !open_spool(conn)) {
        conn->leaves_unread = true;
        conn_refuse(conn, 500, "the body cannot be kept");
        return false;
    }
    if (head->expects_continue)
        stream_write(conn->stream, "HTTP/1.1 100 Continue\r\n\r\n", 25);
    conn_set_timer(conn);
    return true;
}

static bool begin_exchange(struct http_conn *conn, struct http_exchange *exchange,
                           const struct http_head *head)
{
    const struct http_handler *handler = &conn->server->handler;
    bool has_body = head->is_chunked || head->content_length > 0;
    conn->exchange = exchange;
    conn->keeps_alive = head->keeps_alive && !conn->server->is_draining;
    conn->leaves_unread = has_body;
    conn->choice = (struct http_body_choice){HTTP_BODY_MEMORY, BODY_STANDARD_BYTES};
    conn->state = CONN_HANDLER;
    if (handler->on_head)
        conn->choice = handler->on_head(conn->server->arg, exchange);
    if (conn->exchange != exchange || conn->state != CONN_HANDLER)
        return true; /* answered already */
    if (!has_body)
        return body_is_over(conn, HTTP_BODY_NONE);
    conn->state = CONN_BODY;
    return begin_body(conn, head);
}

/* RFC 9112 section 2.2: empty lines before the request line are skipped. */
static size_t skip_empty_lines(struct http_conn *conn)
{
    size_t len;
    const char *data = stream_peek(conn->stream, &len);
    size_t skipped = 0;
    while (conn->scanned == 0 && len - skipped >= 2 && memcmp(data + skipped, "\r\n", 2) == 0)
        skipped += 2;
    if (skipped > 0)
        stream_consume(conn->stream, skipped);
    return len - skipped;
}

bool conn_read_head(struct http_conn *conn)
{
    const struct http_server_config *config = &conn->server->config;
    const struct http_limits limits = {config->max_line_bytes, config->max_head_bytes,
                                       config->max_headers};
    if (skip_empty_lines(conn) == 0)
        return false;
    size_t len, head_len;
    const char *data = stream_peek(conn->stream, &len);
    bool has_begun = conn->scanned > 0;
    int status;
    if (http_head_find(data, len, &limits, &conn->scanned, &head_len, &status) == ERR_AGAIN) {
        if (!has_begun)
            conn_set_timer(conn);
        return false;
    }
    if (status) {
        conn->leaves_unread = true;
        conn_refuse(conn, status, "the request's head is malformed or too long");
        return false;
    }
    struct arena *arena = arena_new(0);
    struct http_head head;
    const char *reason = NULL;
    status = http_head_parse(arena, data, head_len, &limits, &head, &reason);
    conn->scanned = 0;
    conn->is_first = false;
    stream_consume(conn->stream, head_len);
    if (!status)
        return begin_exchange(conn, make_exchange(conn, arena, &head), &head);
    arena_free(arena);
    conn->leaves_unread = true;
    conn_refuse(conn, status, reason);
    return false;
}

static enum err keep(struct http_conn *conn, const char *data, size_t len)
{
    if (len > conn->choice.max_bytes - conn->body_got)
        return ERR_LIMIT;
    conn->body_got += len;
    if (conn->choice.form == HTTP_BODY_MEMORY)
        return buf_append(&conn->exchange->body, data, len);
    while (conn->choice.form == HTTP_BODY_FILE && len > 0) {
        ssize_t n = write(conn->spool_fd, data, len);
        if (n < 0 && errno != EINTR)
            return ERR_IO;
        data += MAX(n, 0);
        len -= (size_t)MAX(n, 0);
    }
    return OK;
}

/* One piece of the body out of what has arrived. *out_is_over: it was the last. */
static enum err take_piece(struct http_conn *conn, size_t *out_used, bool *out_is_over)
{
    size_t len, piece_len = 0;
    const char *data = stream_peek(conn->stream, &len), *piece = data;
    enum err err = OK;
    *out_used = 0;
    if (conn->is_chunked) {
        err = http_chunk_read(&conn->chunk, data, len, out_used, &piece, &piece_len);
        *out_is_over = conn->chunk.state == CHUNK_DONE;
    } else {
        piece_len = *out_used = (size_t)MIN((int64_t)len, conn->body_left);
        conn->body_left -= (int64_t)piece_len;
        *out_is_over = conn->body_left == 0;
        err = piece_len == 0 ? ERR_AGAIN : OK;
    }
    if (piece_len > 0 && !(err && err != ERR_AGAIN))
        err = keep(conn, piece, piece_len);
    return err;
}

bool conn_read_body(struct http_conn *conn)
{
    size_t used;
    bool is_over = false;
    enum err err = take_piece(conn, &used, &is_over);
    if (err == ERR_LIMIT)
        return body_is_too_long(conn);
    if (err && err != ERR_AGAIN) {
        conn_refuse(conn, err == ERR_IO ? 500 : 400,
                    err == ERR_IO ? "the body cannot be kept" : "the chunked body is malformed");
        return false;
    }
    stream_consume(conn->stream, used);
    if (!is_over) {
        if (used > 0)
            conn_set_timer(conn);
        return err == OK;
    }
    conn->leaves_unread = false;
    return body_is_over(conn, HTTP_BODY_WHOLE);
}
