/* The reading half of the HTTP server: heads, and bodies into memory, a file or nothing. */
#include <dirent.h>
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
    if (exchange->spool_fd >= 0)
        close(exchange->spool_fd);
    buf_clear(&exchange->body);
    arena_free(exchange->arena);
    mem_free(exchange);
}

static bool is_good_id(const char *text)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    size_t len = strlen(text);
    return len >= 1 && len < REQUEST_ID_SIZE && strspn(text, letters) == len;
}

static void name_request(struct http_conn *conn, struct http_exchange *exchange)
{
    const char *given = http_exchange_header(exchange, "X-Request-Id");
    if (given && is_good_id(given))
        memcpy(conn->request_id, given, strlen(given) + 1);
    else
        uuid_new(conn->request_id);
    exchange->id = arena_strdup(exchange->arena, conn->request_id);
}

static struct http_exchange *make_exchange(struct http_conn *conn, struct arena *arena,
                                           const struct http_head *head)
{
    struct http_exchange *exchange = mem_new(struct http_exchange);
    exchange->conn = conn;
    exchange->arena = arena;
    exchange->spool_fd = -1;
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
        .body_fd = -1,
        .peer = stream_peer(conn->stream),
        .local = stream_local(conn->stream),
        .is_tls = stream_is_tls(conn->stream),
        .wants_upgrade = head->wants_upgrade,
    };
    name_request(conn, exchange);
    return exchange;
}

static bool hand_over(struct http_conn *conn)
{
    struct http_exchange *exchange = conn->exchange;
    if (!conn_move(conn, CONN_HAND))
        return false;
    timer_stop(&conn->timer);
    conn->server->handler.on_request(conn->server->arg, exchange);
    return true; /* an answer given at once has changed the state */
}

static const char spool_prefix[] = "body-";

void spool_sweep(const char *dir)
{
    DIR *entries = opendir(dir);
    for (struct dirent *entry; entries && (entry = readdir(entries));)
        if (strncmp(entry->d_name, spool_prefix, sizeof(spool_prefix) - 1) == 0)
            unlinkat(dirfd(entries), entry->d_name, 0);
    if (entries)
        closedir(entries);
}

/* Without a name at once, so that it ends with the process, however that ends. */
static bool open_spool(struct http_conn *conn)
{
    char name[ID_SIZE];
    random_base62(name, 20);
    AUTO_MEM char *path = mem_printf("%s/%s%s", conn->server->config.spool_dir, spool_prefix, name);
    conn->exchange->spool_fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (conn->exchange->spool_fd < 0)
        return false;
    unlink(path);
    return true;
}

static bool body_is_over(struct http_conn *conn, enum http_body_state state)
{
    struct http_exchange *exchange = conn->exchange;
    struct http_request *request = &exchange->request;
    request->body_state = state;
    if (state == HTTP_BODY_WHOLE) {
        request->body_len = conn->body.got;
        request->body_fd = exchange->spool_fd;
        if (conn->body.choice.form == HTTP_BODY_MEMORY)
            request->body = exchange->body.data ? exchange->body.data : "";
    }
    return hand_over(conn);
}

/* The rest of the body is not read: the connection cannot be used again. */
static bool body_is_refused(struct http_conn *conn, enum http_body_state state)
{
    conn->keeps_alive = false;
    conn->leaves_unread = true;
    buf_clear(&conn->exchange->body);
    return body_is_over(conn, state);
}

static bool may_keep(struct http_conn *conn, size_t more_bytes)
{
    const struct http_handler *handler = &conn->server->handler;
    return conn->body.choice.form == HTTP_BODY_DROP || !handler->on_body ||
           handler->on_body(conn->server->arg, conn->exchange, more_bytes);
}

/* Of chunks nobody knows how many come: these are asked for when they are there. */
static bool begin_body(struct http_conn *conn)
{
    conn->body.chunk = (struct http_chunk){0};
    conn->body.got = 0;
    if (conn->body.choice.form == HTTP_BODY_DROP)
        conn->body.choice.max_bytes = DROP_MAX_BYTES;
    buf_init(&conn->exchange->body, conn->body.choice.max_bytes);
    if (!conn->body.is_chunked && conn->body.left > (int64_t)conn->body.choice.max_bytes)
        return body_is_refused(conn, HTTP_BODY_TOO_LONG);
    if ((!conn->body.is_chunked && !may_keep(conn, (size_t)conn->body.left)) ||
        (conn->body.choice.form == HTTP_BODY_FILE && !open_spool(conn)))
        return body_is_refused(conn, HTTP_BODY_NO_ROOM);
    if (!conn_move(conn, CONN_WANT))
        return false;
    if (conn->body.expects_continue)
        stream_write(conn->stream, "HTTP/1.1 100 Continue\r\n\r\n", 25);
    pace_begin(conn);
    conn_set_timer(conn);
    return true;
}

bool http_body_want(struct http_exchange *exchange, const struct http_body_choice *choice)
{
    struct http_conn *conn = exchange->conn;
    if (!conn || conn->state != CONN_ASKED)
        return false;
    conn->body.choice = *choice;
    stream_pause(conn->stream, false);
    if (conn->body.is_there)
        begin_body(conn);
    else
        body_is_over(conn, HTTP_BODY_NONE);
    conn_process(conn); /* nothing, when we are inside it */
    return true;
}

static bool begin_exchange(struct http_conn *conn, struct http_exchange *exchange,
                           const struct http_head *head)
{
    const struct http_handler *handler = &conn->server->handler;
    const struct http_body_choice standard = {HTTP_BODY_MEMORY, BODY_STANDARD_BYTES};
    conn->exchange = exchange;
    conn->keeps_alive = head->keeps_alive && !conn->server->is_draining;
    conn->body.is_chunked = head->is_chunked;
    conn->body.left = head->content_length;
    conn->body.expects_continue = head->expects_continue;
    conn->body.is_there = head->is_chunked || head->content_length > 0;
    conn->leaves_unread = conn->body.is_there;
    if (!conn_move(conn, CONN_ASK))
        return false;
    timer_stop(&conn->timer);
    stream_pause(conn->stream, conn->body.is_there);
    if (handler->on_head)
        handler->on_head(conn->server->arg, exchange);
    else
        http_body_want(exchange, &standard);
    return true; /* the state says what comes next */
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
    if (len > conn->body.choice.max_bytes - conn->body.got)
        return ERR_LIMIT;
    if (conn->body.is_chunked && !may_keep(conn, len))
        return ERR_BUSY;
    conn->body.got += len;
    if (conn->body.choice.form == HTTP_BODY_MEMORY)
        return buf_append(&conn->exchange->body, data, len);
    while (conn->body.choice.form == HTTP_BODY_FILE && len > 0) {
        ssize_t n = write(conn->exchange->spool_fd, data, len);
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
    if (conn->body.is_chunked) {
        err = http_chunk_read(&conn->body.chunk, data, len, out_used, &piece, &piece_len);
        *out_is_over = conn->body.chunk.state == CHUNK_DONE;
    } else {
        piece_len = *out_used = (size_t)MIN((int64_t)len, conn->body.left);
        conn->body.left -= (int64_t)piece_len;
        *out_is_over = conn->body.left == 0;
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
        return body_is_refused(conn, HTTP_BODY_TOO_LONG);
    if (err == ERR_BUSY || err == ERR_IO)
        return body_is_refused(conn, HTTP_BODY_NO_ROOM);
    if (err && err != ERR_AGAIN) {
        conn_refuse(conn, 400, "the chunked body is malformed");
        return false;
    }
    stream_consume(conn->stream, used);
    if (!is_over) {
        pace_moved(conn, used);
        if (used > 0)
            conn_set_timer(conn);
        return !err;
    }
    conn->leaves_unread = false;
    return body_is_over(conn, HTTP_BODY_WHOLE);
}
