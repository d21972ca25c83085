#include "net/http_server.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "base/quota.h"
#include "net/http_conn.h"
#include "net/listen.h"

enum {
    PACE_MIN_BYTES_S = 4096, /* a body or a reader slower than this on average is an attack */
    WRITE_MAX_BYTES = HTTP_ANSWER_MAX_BYTES + 128 * 1024, /* and its head */
};

static const struct states_row rows[] = {
    {CONN_HEAD, CONN_ASK, CONN_ASKED},       {CONN_HEAD, CONN_REPLY, CONN_ANSWER},
    {CONN_HEAD, CONN_END, CONN_CLOSED},      {CONN_ASKED, CONN_WANT, CONN_BODY},
    {CONN_ASKED, CONN_HAND, CONN_HANDLER},   {CONN_ASKED, CONN_REPLY, CONN_ANSWER},
    {CONN_ASKED, CONN_END, CONN_CLOSED},     {CONN_BODY, CONN_HAND, CONN_HANDLER},
    {CONN_BODY, CONN_REPLY, CONN_ANSWER},    {CONN_BODY, CONN_END, CONN_CLOSED},
    {CONN_HANDLER, CONN_REPLY, CONN_ANSWER}, {CONN_HANDLER, CONN_END, CONN_CLOSED},
    {CONN_ANSWER, CONN_SENT, CONN_HEAD},     {CONN_ANSWER, CONN_END, CONN_CLOSED},
};
static const char *const state_names[] = {"head", "asked", "body", "handler", "answer", "closed"};
static const char *const event_names[] = {"ask", "want", "hand", "reply", "sent", "end"};
_Static_assert(ARRAY_LEN(state_names) == CONN_STATES, "each state has a name");
_Static_assert(ARRAY_LEN(event_names) == CONN_EVENTS, "each event has a name");

const struct states conn_states = {"http_conn", state_names, event_names,    CONN_STATES,
                                   CONN_EVENTS, rows,        ARRAY_LEN(rows)};

bool conn_move(struct http_conn *conn, enum conn_event event)
{
    int to = states_next(&conn_states, (int)conn->state, (int)event, conn->request_id);
    if (to == STATES_REFUSED) {
        conn_abort(conn);
        return false;
    }
    conn->state = (enum conn_state)to;
    http_peers_set_idle(conn->server->peers, &conn->place, conn->state == CONN_HEAD);
    return true;
}

static void free_conn(void *arg)
{
    mem_free(arg);
}

/* Closed, and its socket too: only now its place is free. */
static void end_conn(struct http_conn *conn)
{
    if (conn->server)
        http_peers_leave(conn->server->peers, &conn->place);
    list_remove(&conn->node);
    loop_defer(conn->loop, free_conn, conn);
}

static void on_stream_released(void *arg)
{
    struct http_conn *conn = arg;
    conn->is_released = true;
    if (conn->state == CONN_CLOSED)
        end_conn(conn);
}

static void run_upgraded_over(void *arg)
{
    end_conn(arg);
}

/* On whatever loop the upgraded connection was closed; ours lives longer than any of them. */
static void on_upgraded_released(void *arg)
{
    struct http_conn *conn = arg;
    loop_post(conn->loop, run_upgraded_over, conn);
}

/* Lets go of everything but the stream. An exchange that is with its handler lives on without us.
 */
static void forget_conn(struct http_conn *conn)
{
    struct http_exchange *exchange = conn->exchange;
    struct http_server *server = conn->server;
    if (!conn_move(conn, CONN_END))
        return;
    conn->exchange = NULL;
    timer_stop(&conn->timer);
    conn_clear_rest(conn);
    conn_give_unread(conn);
    list_remove(&conn->node);
    list_push_back(&server->ending, &conn->node);
    server->conn_count--;
    if (exchange) {
        exchange->conn = NULL;
        exchange->is_gone = true;
        if (exchange->is_in_pieces)
            exchange_tell(exchange);
    }
    if (conn->is_released)
        end_conn(conn);
}

/* The handler waits for a body that will not be whole. */
void conn_drop_body(struct http_conn *conn)
{
    struct http_exchange *exchange = conn->exchange;
    const struct http_handler *handler = &conn->server->handler;
    if (conn->state != CONN_BODY || !exchange)
        return;
    conn->exchange = NULL;
    exchange->conn = NULL;
    exchange->is_gone = true;
    if (handler->on_gone)
        handler->on_gone(conn->server->arg, exchange);
    exchange_free(exchange);
}

void conn_close(struct http_conn *conn)
{
    if (conn->state == CONN_CLOSED)
        return;
    conn_drop_body(conn);
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
    conn_drop_body(conn);
    stream_abort(conn->stream);
    forget_conn(conn);
}

/* A body, or a reader, has its grace at first, and never more than it. */
void pace_begin(struct http_conn *conn)
{
    conn->pace_due_us = loop_now_us(conn->loop) + conn->server->config.grace_ms * 1000;
}

void pace_moved(struct http_conn *conn, size_t bytes)
{
    int64_t most_us = loop_now_us(conn->loop) + conn->server->config.grace_ms * 1000;
    int64_t earned_us = (int64_t)bytes * 1000000 / PACE_MIN_BYTES_S;
    conn->pace_due_us = MIN(conn->pace_due_us + earned_us, most_us);
}

void conn_set_timer(struct http_conn *conn)
{
    const struct http_server_config *config = &conn->server->config;
    int64_t now_us = loop_now_us(conn->loop);
    switch (conn->state) {
    case CONN_HEAD:
        timer_set(&conn->timer,
                  now_us +
                      1000 * (conn->scanned || conn->is_first ? config->head_ms : config->idle_ms));
        return;
    case CONN_ANSWER:
        conn->backlog_seen = stream_backlog(conn->stream);
        __attribute__((fallthrough));
    case CONN_BODY:
        timer_set(&conn->timer, MIN(now_us + config->stall_ms * 1000, conn->pace_due_us));
        return;
    case CONN_ASKED:
    case CONN_HANDLER:
    case CONN_CLOSED:
        timer_stop(&conn->timer);
        return;
    }
}

/* At the reader, before more is written for it. */
static void pace_look(struct http_conn *conn)
{
    size_t backlog = stream_backlog(conn->stream);
    if (backlog < conn->backlog_seen)
        pace_moved(conn, conn->backlog_seen - backlog);
    conn->backlog_seen = backlog;
}

/* Slow, but it moves: it may go on. */
static bool reader_keeps_pace(struct http_conn *conn)
{
    size_t before = conn->backlog_seen;
    pace_look(conn);
    return conn->backlog_seen < before && conn->pace_due_us > loop_now_us(conn->loop);
}

static void on_timer(void *arg)
{
    struct http_conn *conn = arg;
    bool is_idle = conn->state == CONN_HEAD && conn->scanned == 0;
    if (conn->state == CONN_ANSWER) {
        if (reader_keeps_pace(conn))
            conn_set_timer(conn);
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
    pace_look(conn);
    conn_write_rest(conn);
}

static void on_next_slice(void *arg)
{
    conn_write_rest(arg);
}

/* A client that sends no more may still read (nc -N): it gets its answer. */
static void on_closed(void *arg, enum err reason)
{
    struct http_conn *conn = arg;
    bool owes_answer =
        conn->state == CONN_ASKED || conn->state == CONN_HANDLER || conn->state == CONN_ANSWER;
    conn->keeps_alive = false;
    if (conn->exchange)
        conn->exchange->is_gone = true;
    if (reason == ERR_CLOSED && owes_answer)
        return;
    conn_abort(conn);
}

static const struct stream_fns stream_fns = {on_read, on_drained, on_closed};

/* A place for the connection, if need be that of an idle one. */
static bool find_place(struct http_server *server, const struct net_addr *peer,
                       struct http_place *place)
{
    bool is_proxy = server->handler.is_proxy && server->handler.is_proxy(server->arg, peer);
    struct http_place *victim;
    if (http_peers_join(server->peers, peer, is_proxy, place, &victim))
        return true;
    if (!victim)
        return false;
    struct http_conn *idle = CONTAINER_OF(victim, struct http_conn, place);
    conn_abort(idle);
    return http_peers_join(server->peers, peer, is_proxy, place, &victim);
}

static void on_accept(void *arg, int take_fd, const struct net_addr *peer)
{
    struct http_server *server = arg;
    struct http_place place;
    if (!find_place(server, peer, &place)) {
        metric_add(METRIC_HTTP_REFUSED_CONNECTIONS, 1);
        close(take_fd);
        return;
    }
    struct http_conn *conn = mem_new(struct http_conn);
    conn->server = server;
    conn->loop = server->loop;
    conn->place = place;
    conn->rest.fd = -1;
    timer_init(&conn->rest.next, conn->loop, on_next_slice, conn);
    conn->is_first = true;
    conn->stream = stream_open(server->loop, take_fd, server->config.tls);
    stream_on_released(conn->stream, on_stream_released, conn);
    list_push_back(&server->conns, &conn->node);
    server->conn_count++;
    timer_init(&conn->timer, server->loop, on_timer, conn);
    http_peers_set_idle(server->peers, &conn->place, true);
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
    config.max_per_address = given->max_per_address ? given->max_per_address : 1000;
    config.max_unread_bytes =
        given->max_unread_bytes ? given->max_unread_bytes : INT64_C(256) << 20;
    config.head_ms = given->head_ms ? given->head_ms : 10000;
    config.idle_ms = given->idle_ms ? given->idle_ms : 75000;
    config.stall_ms = given->stall_ms ? given->stall_ms : 10000;
    config.grace_ms = given->grace_ms ? given->grace_ms : 30000;
    return config;
}

static void free_server(void *arg)
{
    struct http_server *server = arg;
    http_peers_free(server->peers);
    quota_free(server->unread);
    mem_free(server);
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
    list_init(&server->ending);
    server->peers = http_peers_new(server->config.max_connections, server->config.max_per_address);
    server->unread = quota_new(server->config.max_unread_bytes, 0);
    enum err err = listener_open(loop, &config->bind, on_accept, server, &server->listener, fault);
    if (err) {
        free_server(server);
        return err;
    }
    spool_sweep(server->config.spool_dir);
    *out = server;
    return OK;
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
    LIST_EACH (conn, &server->conns, struct http_conn, node) {
        if (conn->state == CONN_HEAD && conn->scanned == 0)
            conn_close(conn);
        else
            conn->keeps_alive = false;
    }
}

void http_server_close(struct http_server *server)
{
    if (!server)
        return;
    listener_close(server->listener);
    struct http_conn *conn;
    LIST_EACH (conn, &server->conns, struct http_conn, node) {
        conn_abort(conn);
    }
    LIST_EACH (conn, &server->ending, struct http_conn, node) {
        list_remove(&conn->node);
        conn->server = NULL; /* it ends by itself */
    }
    loop_defer(server->loop, free_server, server);
}

const char *http_exchange_id(const struct http_exchange *exchange)
{
    return exchange->id;
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

enum err http_upgrade(struct http_exchange *exchange, struct stream_state *out)
{
    struct http_conn *conn = exchange->conn;
    enum err err = conn && conn->state == CONN_HANDLER ? OK : ERR_CLOSED;
    if (!err)
        err = stream_detach(conn->stream, out);
    if (conn && err)
        conn_abort(conn);
    if (!err) {
        forget_conn(conn); /* it keeps its place until its socket is closed */
        out->released_fn = on_upgraded_released;
    }
    exchange_free(exchange);
    return err ? ERR_CLOSED : OK;
}
