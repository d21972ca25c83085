/* The writing half of the HTTP server: answers and refusals. */
#include <assert.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/ids.h"
#include "base/js.h"
#include "base/mem.h"
#include "base/quota.h"
#include "net/http_conn.h"

enum {
    HEAD_MAX_BYTES = 64 * 1024,
    SMALL_BODY_BYTES = 16 * 1024, /* copied after the head, so that both leave in one packet */
    SLICE_BYTES = 128 * 1024,     /* with TLS some 0.2 ms; a callback may take 2 */
    ERROR_BODY_MAX_BYTES = 8 * 1024,
    UNREAD_FREE_BYTES = 256 * 1024, /* a shorter answer is not counted: sockets hold as much */
};
#define ERROR_TEXT(sentence, code, status)                                                         \
    "{\"error\":\"" sentence "\",\"code\":\"" code "\",\"status\":" status "}"

static const struct reason_row {
    int status;
    const char *text;
    const char *code; /* of our own refusals */
} reasons[] = {
    {101, "Switching Protocols", NULL},
    {200, "OK", NULL},
    {201, "Created", NULL},
    {202, "Accepted", NULL},
    {204, "No Content", NULL},
    {206, "Partial Content", NULL},
    {301, "Moved Permanently", NULL},
    {302, "Found", NULL},
    {304, "Not Modified", NULL},
    {307, "Temporary Redirect", NULL},
    {308, "Permanent Redirect", NULL},
    {400, "Bad Request", "BAD_REQUEST"},
    {401, "Unauthorized", NULL},
    {402, "Payment Required", NULL},
    {403, "Forbidden", NULL},
    {404, "Not Found", NULL},
    {405, "Method Not Allowed", NULL},
    {406, "Not Acceptable", NULL},
    {408, "Request Timeout", "REQUEST_TIMEOUT"},
    {409, "Conflict", NULL},
    {410, "Gone", NULL},
    {411, "Length Required", NULL},
    {413, "Content Too Large", "BODY_TOO_LARGE"},
    {414, "URI Too Long", "URI_TOO_LONG"},
    {415, "Unsupported Media Type", NULL},
    {417, "Expectation Failed", "EXPECTATION_FAILED"},
    {422, "Unprocessable Content", NULL},
    {426, "Upgrade Required", NULL},
    {429, "Too Many Requests", NULL},
    {431, "Request Header Fields Too Large", "HEADERS_TOO_LARGE"},
    {500, "Internal Server Error", "INTERNAL_ERROR"},
    {501, "Not Implemented", "NOT_IMPLEMENTED"},
    {502, "Bad Gateway", NULL},
    {503, "Service Unavailable", "UNAVAILABLE"},
    {504, "Gateway Timeout", NULL},
    {505, "HTTP Version Not Supported", "HTTP_VERSION_NOT_SUPPORTED"},
};

static const struct reason_row *find_reason(int status)
{
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
        if (reasons[i].status == status)
            return &reasons[i];
    return NULL;
}

const char *http_reason(int status)
{
    const struct reason_row *row = find_reason(status);
    return row ? row->text : "Unknown";
}

/* Formatted once a second. */
static const char *http_date(struct http_server *server)
{
    int64_t now_s = clock_wall_ms() / 1000;
    if (now_s != server->date_s) {
        time_t at = (time_t)now_s;
        struct tm parts;
        gmtime_r(&at, &parts);
        strftime(server->date, sizeof(server->date), "%a, %d %b %Y %H:%M:%S GMT", &parts);
        server->date_s = now_s;
    }
    return server->date;
}

static void append_header(struct buf *out, const char *name, const char *value)
{
    assert(!strpbrk(name, "\r\n:") && !strpbrk(value, "\r\n"));
    buf_append_str(out, name);
    buf_append(out, ": ", 2);
    buf_append_str(out, value);
    buf_append(out, "\r\n", 2);
}

static bool http_has_no_body(int status)
{
    return status == 204 || status == 304 || status < 200;
}

void conn_append_head(struct http_conn *conn, const struct http_answer *answer, int64_t length,
                      struct buf *out)
{
    buf_printf(out, "HTTP/1.1 %d %s\r\n", answer->status, http_reason(answer->status));
    append_header(out, "Date", http_date(conn->server));
    append_header(out, "Server", "earshot");
    append_header(out, "X-Request-Id", conn->request_id);
    if (length >= 0 && !http_has_no_body(answer->status))
        buf_printf(out, "Content-Length: %lld\r\n", (long long)length);
    else if (length < 0 && !conn->exchange->is_http10)
        append_header(out, "Transfer-Encoding", "chunked");
    if (!conn->keeps_alive)
        append_header(out, "Connection", "close");
    for (size_t i = 0; i < answer->header_count; i++)
        append_header(out, answer->headers[i].name, answer->headers[i].value);
    buf_append(out, "\r\n", 2);
}

void conn_give_unread(struct http_conn *conn)
{
    quota_give(conn->server->unread, http_place_name(&conn->place), conn->unread_bytes);
    conn->unread_bytes = 0;
}

void conn_answer_done(struct http_conn *conn)
{
    conn_give_unread(conn);
    if (!conn->keeps_alive) {
        conn_close(conn);
        return;
    }
    if (!conn_move(conn, CONN_SENT))
        return;
    conn->scanned = 0;
    conn_set_timer(conn);
    conn_process(conn);
}

void conn_clear_rest(struct http_conn *conn)
{
    struct http_rest *rest = &conn->rest;
    timer_stop(&rest->next);
    mem_free(TAKE(rest->data));
    rest->len = rest->at = 0;
    if (rest->fd >= 0)
        close(rest->fd);
    rest->fd = -1;
    rest->fd_left = 0;
}

static enum err write_of_memory(struct http_conn *conn)
{
    struct http_rest *rest = &conn->rest;
    size_t len = MIN(rest->len - rest->at, (size_t)SLICE_BYTES);
    enum err err = stream_write(conn->stream, rest->data + rest->at, len);
    rest->at += len;
    return err;
}

static enum err write_of_file(struct http_conn *conn)
{
    struct http_rest *rest = &conn->rest;
    AUTO_MEM char *slice = mem_zalloc(SLICE_BYTES);
    ssize_t n = read(rest->fd, slice, (size_t)MIN(rest->fd_left, (int64_t)SLICE_BYTES));
    if (n <= 0)
        return ERR_IO;
    rest->fd_left -= n;
    return stream_write(conn->stream, slice, (size_t)n);
}

void conn_write_rest(struct http_conn *conn)
{
    struct http_rest *rest = &conn->rest;
    enum err err = OK;
    if (rest->at < rest->len)
        err = write_of_memory(conn);
    else if (rest->fd_left > 0)
        err = write_of_file(conn);
    if (err) {
        conn_abort(conn); /* the length is promised already: cutting is the only honest end */
        return;
    }
    conn_set_timer(conn);
    if (stream_unsent(conn->stream) > 0)
        return;
    if (rest->at < rest->len || rest->fd_left > 0) {
        timer_set(&rest->next, loop_now_us(conn->loop));
        return;
    }
    conn_clear_rest(conn);
    if (conn->exchange)
        conn_piece_left(conn);
    else
        conn_answer_done(conn);
}

/* Which answer can be sent at all: one that is too long, or for which other slow readers have left
 * no room, is replaced by an error before its head is out. */
static const struct http_answer *sendable(struct http_conn *conn, const struct http_answer *answer)
{
    static const struct http_header type = {"Content-Type", "application/json"};
    static const char too_long[] = ERROR_TEXT("The answer is too long.", "INTERNAL_ERROR", "500");
    static const char no_room[] =
        ERROR_TEXT("Too many answers wait to be read; retry soon.", "UNAVAILABLE", "503");
    static const struct http_header busy[] = {{"Content-Type", "application/json"},
                                              {"Retry-After", "5"}};
    static const struct http_answer refusals[] = {{.status = 500,
                                                   .headers = &type,
                                                   .header_count = 1,
                                                   .body = too_long,
                                                   .body_len = sizeof(too_long) - 1},
                                                  {.status = 503,
                                                   .headers = busy,
                                                   .header_count = 2,
                                                   .body = no_room,
                                                   .body_len = sizeof(no_room) - 1}};
    int64_t len = (int64_t)answer->body_len;
    if (len > HTTP_ANSWER_MAX_BYTES)
        return &refusals[0];
    if (len <= UNREAD_FREE_BYTES)
        return answer;
    if (!quota_take(conn->server->unread, http_place_name(&conn->place), len))
        return &refusals[1];
    conn->unread_bytes = len;
    return answer;
}

/* The body is taken out of the answer when it can be, else copied. */
static void set_rest(struct http_conn *conn, struct http_answer *answer, size_t body_len)
{
    struct http_rest *rest = &conn->rest;
    rest->len = body_len;
    rest->data = TAKE(answer->take_body);
    if (!rest->data) {
        rest->data = mem_zalloc(body_len);
        memcpy(rest->data, answer->body, body_len);
    }
}

static void write_answer(struct http_conn *conn, struct http_answer *given, bool drops_body)
{
    const struct http_answer *answer = drops_body ? given : sendable(conn, given);
    bool has_file = answer->file_fd > 0;
    int64_t length = has_file ? answer->file_len : (int64_t)answer->body_len;
    bool has_body = !has_file && !drops_body && !http_has_no_body(answer->status);
    size_t body_len = has_body ? answer->body_len : 0;
    AUTO_BUF head = BUF_INIT(HEAD_MAX_BYTES + SMALL_BODY_BYTES);
    if (!conn_move(conn, CONN_REPLY))
        return;
    pace_begin(conn);
    conn_append_head(conn, answer, length, &head);
    if (body_len <= SMALL_BODY_BYTES)
        buf_append(&head, answer->take_body ? answer->take_body : answer->body, body_len);
    if (head.is_full || stream_write(conn->stream, head.data, head.len) != OK) {
        conn_abort(conn);
        return;
    }
    if (body_len > SMALL_BODY_BYTES)
        set_rest(conn, given, body_len);
    if (has_file && !drops_body && length > 0) {
        conn->rest.fd = dup(answer->file_fd);
        conn->rest.fd_left = length;
    }
    conn_write_rest(conn);
}

static void give(struct http_exchange *exchange, const struct http_answer *given)
{
    struct http_conn *conn = exchange->conn;
    struct http_answer own = *given, *answer = &own; /* its body may be taken out of it */
    if (conn) {
        conn->exchange = NULL;
        if (answer->is_last || conn->leaves_unread || conn->server->is_draining)
            conn->keeps_alive = false;
        write_answer(conn, answer, exchange->is_head);
    }
    exchange->conn = NULL;
    exchange->is_gone = true;
    mem_free(answer->take_body);
    if (answer->file_fd > 0)
        close(answer->file_fd);
}

void http_answer(struct http_exchange *exchange, const struct http_answer *answer)
{
    give(exchange, answer);
    exchange_free(exchange);
}

void http_answer_early(struct http_exchange *exchange, const struct http_answer *answer)
{
    give(exchange, answer);
}

static void append_error(struct buf *out, int status, const char *code, const char *sentence)
{
    struct js_out json;
    js_out_init(&json, out);
    js_out_object(&json);
    js_out_key(&json, "error");
    js_out_text(&json, sentence);
    js_out_key(&json, "code");
    js_out_text(&json, code);
    js_out_key(&json, "status");
    js_out_int(&json, status);
    js_out_object_end(&json);
}

void http_answer_error(struct http_exchange *exchange, int status, const char *code,
                       const char *sentence)
{
    AUTO_BUF body = BUF_INIT(ERROR_BODY_MAX_BYTES);
    append_error(&body, status, code, sentence);
    const struct http_header type = {"Content-Type", "application/json"};
    const struct http_answer answer = {
        .status = status,
        .headers = &type,
        .header_count = 1,
        .body = body.data,
        .body_len = body.len,
    };
    http_answer(exchange, &answer);
}

void conn_refuse(struct http_conn *conn, int status, const char *sentence)
{
    const struct reason_row *row = find_reason(status);
    AUTO_BUF body = BUF_INIT(ERROR_BODY_MAX_BYTES);
    append_error(&body, status, row && row->code ? row->code : "BAD_REQUEST", sentence);
    const struct http_header type = {"Content-Type", "application/json"};
    if (conn->state == CONN_HEAD)
        uuid_new(conn->request_id); /* a head that cannot be read names none */
    struct http_answer answer = {
        .status = status,
        .headers = &type,
        .header_count = 1,
        .body = body.data,
        .body_len = body.len,
    };
    conn_drop_body(conn);
    conn->keeps_alive = false;
    conn->leaves_unread = true;
    write_answer(conn, &answer, false);
}
