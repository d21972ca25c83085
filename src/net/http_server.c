#include "net/http_server.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/mem.h"
#include "net/http_conn.h"
#include "net/listen.h"

enum {
    BODY_LEAST_BYTES_S = 4096,    /* a body slower than this on average is an attack */
    BODY_GRACE_US = 30 * 1000000, /* before the average counts */
    WRITE_MAX_BYTES = 64 << 20,   /* the longest answer from memory */
};

static void free_conn(void *arg)
{
    mem_free(arg);
}

/* Lets go of everything but the stream. An exchange that is with its handler lives on without us.
 */
static void forget_conn(struct http_conn *conn)
{
    struct http_exchange *exchange = conn->exchange;
    conn->state = CONN_CLOSED;
    conn->exchange = NULL;
    timer_stop(&conn->timer);
    if (conn->spool_fd >= 0)
        close(conn->spool_fd);
    if (conn->file_fd >= 0)
        close(conn->file_fd);
    conn->spool_fd = conn->file_fd = -1;
    list_remove(&conn->node);
    conn->server->conn_count--;
    loop_defer(conn->server->loop, free_conn, conn);
    if (exchange) {
        exchange->conn = NULL;
        exchange->is_gone = true;
        if (exchange->is_in_pieces)
            exchange_tell(exchange);
    }
}

/* An exchange that its handler has not seen yet is ours to free. */
static void drop_unseen(struct http_conn *conn)
{
    if (conn->state != CONN_BODY || !conn->exchange)
        return;
    exchange_free(conn->exchange);
    conn->exchange = NULL;
}

void conn_close(struct http_conn *conn)
{
    if (conn->state == CONN_CLOSED)
        return;
    drop_unseen(conn);
    if (conn->leaves_unread)
        stream_close_draining(conn->stream);
    else
        stream_close(conn->stream);
    forget_conn(conn);
}

void conn_abort(struct http_conn *conn)
{
    if (conn->state == CONN_CLOSED)
        return;
    drop_unseen(conn);
    stream_abort(conn->stream);
    forget_conn(conn);
}

static int64_t body_due_us(const struct http_conn *conn, int64_t now_us)
{
    const struct http_server_config *config = &conn->server->config;
    int64_t average_us = conn->body_began_us + BODY_GRACE_US +
                         (int64_t)(conn->body_got / BODY_LEAST_BYTES_S) * 1000000;
    return MIN(now_us + config->stall_ms * 1000, average_us);
}

void conn_set_timer(struct http_conn *conn)
{
    const struct http_server_config *config = &conn->server->config;
    int64_t now_us = loop_now_us(conn->server->loop);
    switch (conn->state) {
    case CONN_HEAD:
        timer_set(&conn->timer,
                  now_us +
                      1000 * (conn->scanned || conn->is_first ? config->head_ms : config->idle_ms));
        return;
    case CONN_BODY:
        timer_set(&conn->timer, body_due_us(conn, now_us));
        return;
    case CONN_ANSWER:
        conn->unsent_seen = stream_unsent(conn->stream);
        timer_set(&conn->timer, now_us + config->stall_ms * 1000);
        return;
    case CONN_HANDLER:
    case CONN_CLOSED:
        timer_stop(&conn->timer);
        return;
    }
}

static void on_timer(void *arg)
{
    struct http_conn *conn = arg;
    bool is_idle = conn->state == CONN_HEAD && conn->scanned == 0;
    if (conn->state == CONN_ANSWER) {
        if (stream_unsent(conn->stream) != conn->unsent_seen)
            conn_set_timer(conn); /* slow, but it moves */
        else
            conn_abort(conn);
    } else if (is_idle) {
        conn_close(conn);
    } else {
        conn_refuse(conn, 408, "the request did not arrive in time");
    }
}

void conn_process(struct http_conn *conn)
{
    if (conn->in_process)
        return;
    conn->in_process = true;
    bool goes_on = true;
    while (goes_on && (conn->state == CONN_HEAD || conn->state == CONN_BODY))
        goes_on = conn->state == CONN_HEAD ? conn_read_head(conn) : conn_read_body(conn);
    conn->in_process = false;
}

static void on_read(void *arg)
{
    conn_process(arg);
}

static void on_drained(void *arg)
{
    struct http_conn *conn = arg;
    if (conn->state != CONN_ANSWER)
        return;
    if (conn->file_left > 0)
        conn_write_file(conn);
    else if (conn->exchange)
        conn_piece_left(conn);
    else
        conn_answer_done(conn);
}

/* A client that sends no more may still read (nc -N): it gets its answer. */
static void on_closed(void *arg, enum err reason)
{
    struct http_conn *conn = arg;
    bool owes_answer = conn->state == CONN_HANDLER || conn->state == CONN_ANSWER;
    conn->keeps_alive = false;
    if (conn->exchange)
        conn->exchange->is_gone = true;
    if (reason == ERR_CLOSED && owes_answer)
        return;
    conn_abort(conn);
}

static const struct stream_fns stream_fns = {on_read, on_drained, on_closed};

static void on_accept(void *arg, int take_fd, const struct net_addr *peer)
{
    struct http_server *server = arg;
    (void)peer;
    if (server->conn_count >= server->config.max_connections) {
        close(take_fd);
        return;
    }
    struct http_conn *conn = mem_new(struct http_conn);
    conn->server = server;
    conn->spool_fd = conn->file_fd = -1;
    conn->is_first = true;
    conn->stream = stream_open(server->loop, take_fd, server->config.tls);
    list_push_back(&server->conns, &conn->node);
    server->conn_count++;
    timer_init(&conn->timer, server->loop, on_timer, conn);
    conn_set_timer(conn);
    /* One byte more than a head may have, or a head that is too long would never be seen to be. */
    stream_set_ceilings(conn->stream, MAX(server->config.max_head_bytes + 1, STREAM_READ_MAX),
                        WRITE_MAX_BYTES);
    stream_set(conn->stream, &stream_fns, conn);
}

static struct http_server_config with_standards(const struct http_server_config *given)
{
    struct http_server_config config = *given;
    config.spool_dir = given->spool_dir ? given->spool_dir : "/tmp";
    config.max_line_bytes = given->max_line_bytes ? given->max_line_bytes : 32 * 1024;
    config.max_head_bytes = given->max_head_bytes ? given->max_head_bytes : 64 * 1024;
    config.max_headers = given->max_headers ? given->max_headers : 100;
    config.max_connections = given->max_connections ? given->max_connections : 10000;
    config.head_ms = given->head_ms ? given->head_ms : 10000;
    config.idle_ms = given->idle_ms ? given->idle_ms : 75000;
    config.stall_ms = given->stall_ms ? given->stall_ms : 10000;
    return config;
}

enum err http_server_open(struct loop *loop, const struct http_server_config *config,
                          const struct http_handler *handler, void *arg, struct http_server **out,
                          struct fault *fault)
{
    struct http_server *server = mem_new(struct http_server);
    server->loop = loop;
    server->config = with_standards(config);
    server->handler = *handler;
    server->arg = arg;
    list_init(&server->conns);
    enum err err = listener_open(loop, &config->bind, on_accept, server, &server->listener, fault);
    if (err)
        mem_free(server);
    else
        *out = server;
    return err;
}

struct net_addr http_server_address(const struct http_server *server)
{
    return listener_address(server->listener);
}

size_t http_server_connections(const struct http_server *server)
{
    return server->conn_count;
}

void http_server_drain(struct http_server *server)
{
    server->is_draining = true;
    listener_close(server->listener);
    server->listener = NULL;
    struct http_conn *conn;
    LIST_EACH(conn, &server->conns, struct http_conn, node)
    {
        if (conn->state == CONN_HEAD && conn->scanned == 0)
            conn_close(conn);
        else
            conn->keeps_alive = false;
    }
}

static void free_server(void *arg)
{
    mem_free(arg);
}

void http_server_close(struct http_server *server)
{
    if (!server)
        return;
    listener_close(server->listener);
    struct http_conn *conn;
    LIST_EACH(conn, &server->conns, struct http_conn, node)
    {
        conn_abort(conn);
    }
    loop_defer(server->loop, free_server, server);
}

const struct http_request *http_exchange_request(const struct http_exchange *exchange)
{
    return &exchange->request;
}

const char *http_exchange_header(const struct http_exchange *exchange, const char *name)
{
    return http_header_find(exchange->request.headers, exchange->request.header_count, name);
}

void http_exchange_set_user(struct http_exchange *exchange, void *user)
{
    exchange->user = user;
}

void *http_exchange_user(const struct http_exchange *exchange)
{
    return exchange->user;
}

struct arena *http_exchange_arena(struct http_exchange *exchange)
{
    return exchange->arena;
}

bool http_exchange_is_gone(const struct http_exchange *exchange)
{
    return exchange->is_gone;
}

char *http_exchange_take_file(struct http_exchange *exchange)
{
    return TAKE(exchange->spool_path);
}

enum err http_upgrade(struct http_exchange *exchange, struct stream_state *out)
{
    struct http_conn *conn = exchange->conn;
    enum err err = conn && conn->state == CONN_HANDLER ? OK : ERR_CLOSED;
    if (!err)
        err = stream_detach(conn->stream, out);
    if (conn && err)
        conn_abort(conn);
    else if (conn)
        forget_conn(conn);
    exchange_free(exchange);
    return err ? ERR_CLOSED : OK;
}
