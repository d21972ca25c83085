#include "fake/chat_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/list.h"
#include "base/loop.h"
#include "base/mem.h"
#include "net/listen.h"
#include "net/stream.h"

enum { BODY_MAX = 4 * 1024 * 1024 };

struct chat_server {
    struct loop *loop;
    struct listener *listener;
    char url[64];
    const struct chat_script *scripts;
    size_t script_count, script_next;
    unsigned requests, heads, connections;
    struct list_node open;
    struct buf head, body;
};

struct connection {
    struct list_node node;
    struct chat_server *server;
    struct stream *stream;
    struct timer timer;
    const struct chat_script *script; /* being played */
    size_t piece, offset;
};

static void free_connection(void *arg)
{
    mem_free(arg);
}

static void drop(struct connection *connection)
{
    list_remove(&connection->node);
    timer_stop(&connection->timer);
    stream_close(connection->stream);
    loop_defer(connection->server->loop, free_connection, connection);
}

static void write_text(struct connection *connection, const char *text, size_t len)
{
    (void)!stream_write(connection->stream, text, len);
}

static void write_piece(struct connection *connection, const char *text, size_t len)
{
    char size[24];
    bool is_chunked = !connection->script->head;
    snprintf(size, sizeof(size), "%zx\r\n", len);
    if (is_chunked)
        write_text(connection, size, strlen(size));
    write_text(connection, text, len);
    if (is_chunked)
        write_text(connection, "\r\n", 2);
}

static void end_script(struct connection *connection)
{
    const struct chat_script *script = connection->script;
    if (script->hangs)
        return;
    if (!script->closes && !script->head) {
        write_text(connection, "0\r\n\r\n", 5);
        connection->script = NULL;
        return;
    }
    drop(connection);
}

static void on_timer(void *arg)
{
    struct connection *connection = arg;
    const struct chat_script *script = connection->script;
    const char *piece = script->pieces[connection->piece];
    if (!piece) {
        end_script(connection);
        return;
    }
    size_t whole = script->piece_bytes ? script->piece_bytes : strlen(piece);
    size_t left = whole - connection->offset;
    size_t len = script->split && script->split < left ? script->split : left;
    write_piece(connection, piece + connection->offset, len);
    connection->offset += len;
    if (len == left) {
        connection->piece++;
        connection->offset = 0;
    }
    timer_set_after(&connection->timer, script->every_us);
}

static void play(struct connection *connection)
{
    static const char stream_head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                                      "Transfer-Encoding: chunked\r\n\r\n";
    struct chat_server *server = connection->server;
    size_t next = server->script_next < server->script_count ? server->script_next++
                                                             : server->script_count - 1;
    connection->script = &server->scripts[next];
    connection->piece = connection->offset = 0;
    const char *head = connection->script->head ? connection->script->head : stream_head;
    write_text(connection, head, strlen(head));
    timer_set_after(&connection->timer, connection->script->first_us);
}

/* What only opens a connection is no part of a script. */
static void answer_head(struct connection *connection)
{
    static const char answer[] = "HTTP/1.1 404 Not Found\r\nContent-Length: 20\r\n\r\n";
    connection->server->heads++;
    write_text(connection, answer, strlen(answer));
}

static void on_read(void *arg)
{
    struct connection *connection = arg;
    struct chat_server *server = connection->server;
    size_t len;
    const char *data = stream_peek(connection->stream, &len);
    const char *end = len ? memmem(data, len, "\r\n\r\n", 4) : NULL;
    if (!end)
        return;
    size_t head = (size_t)(end - data) + 4;
    if (memcmp(data, "HEAD ", 5) == 0) {
        stream_consume(connection->stream, head);
        answer_head(connection);
        return;
    }
    buf_reset(&server->head);
    (void)buf_append(&server->head, data, head);
    const char *length = strcasestr(server->head.data, "content-length:");
    size_t body = length ? strtoul(length + strlen("content-length:"), NULL, 10) : 0;
    if (len < head + body)
        return;
    buf_reset(&server->body);
    (void)buf_append(&server->body, data + head, body);
    stream_consume(connection->stream, head + body);
    server->requests++;
    play(connection);
}

static void on_closed(void *arg, enum err reason)
{
    (void)reason;
    drop(arg);
}

static void on_connection(void *arg, int take_fd, const struct net_addr *peer)
{
    static const struct stream_fns fns = {.on_read = on_read, .on_closed = on_closed};
    struct chat_server *server = arg;
    struct connection *connection = mem_new(struct connection);
    (void)peer;
    connection->server = server;
    connection->stream = stream_open(server->loop, take_fd, NULL);
    stream_set_ceilings(connection->stream, BODY_MAX, BODY_MAX);
    timer_init(&connection->timer, server->loop, on_timer, connection);
    list_push_back(&server->open, &connection->node);
    server->connections++;
    stream_set(connection->stream, &fns, connection);
}

struct chat_server *chat_server_open(struct loop *loop)
{
    struct chat_server *server = mem_new(struct chat_server);
    struct net_addr any;
    struct fault fault = {0};
    server->loop = loop;
    list_init(&server->open);
    buf_init(&server->head, BODY_MAX);
    buf_init(&server->body, BODY_MAX);
    if (net_addr_parse("127.0.0.1:0", &any) != OK ||
        listener_open(loop, &any, on_connection, server, &server->listener, &fault) != OK)
        abort();
    struct net_addr bound = listener_address(server->listener);
    snprintf(server->url, sizeof(server->url), "http://127.0.0.1:%u/v1", bound.port);
    return server;
}

void chat_server_close(struct chat_server *server)
{
    struct connection *connection;
    LIST_EACH (connection, &server->open, struct connection, node) {
        drop(connection);
    }
    listener_close(server->listener);
    buf_clear(&server->head);
    buf_clear(&server->body);
    loop_defer(server->loop, mem_free, server);
}

const char *chat_server_url(const struct chat_server *server)
{
    return server->url;
}

void chat_server_play(struct chat_server *server, const struct chat_script *scripts, size_t count)
{
    server->scripts = scripts;
    server->script_count = count;
    server->script_next = 0;
    server->requests = 0;
}

unsigned chat_server_requests(const struct chat_server *server)
{
    return server->requests;
}

unsigned chat_server_heads(const struct chat_server *server)
{
    return server->heads;
}

unsigned chat_server_connections(const struct chat_server *server)
{
    return server->connections;
}

unsigned chat_server_open_connections(const struct chat_server *server)
{
    unsigned count = 0;
    for (const struct list_node *node = server->open.next; node != &server->open; node = node->next)
        count++;
    return count;
}

const char *chat_server_head(const struct chat_server *server)
{
    return server->head.data ? server->head.data : "";
}

const char *chat_server_body(const struct chat_server *server)
{
    return server->body.data ? server->body.data : "";
}
