#include "fake/socket_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/loop.h"
#include "base/mem.h"
#include "net/listen.h"
#include "net/stream.h"
#include "net/ws.h"

enum { PEERS_MAX = 8 };

struct peer {
    struct socket_server *server;
    struct ws *ws;
};

struct socket_server {
    struct loop *loop;
    struct listener *listener;
    char url[64];
    struct stream *stream; /* before the handshake */
    struct peer peers[PEERS_MAX];
    unsigned opened;
    struct timer late;
    int refusal;
    int64_t delay_us;
    struct buf log;
};

static struct ws **newest(struct socket_server *server)
{
    return &server->peers[server->opened ? server->opened - 1 : 0].ws;
}

static void on_message(void *arg, bool is_text, const uint8_t *data, size_t len)
{
    struct socket_server *server = ((struct peer *)arg)->server;
    if (is_text)
        (void)buf_printf(&server->log, "%.*s;", (int)len, (const char *)data);
    else
        (void)buf_printf(&server->log, "<%zu>;", len);
}

static void on_closed(void *arg, unsigned code, const struct fault *fault)
{
    struct peer *peer = arg;
    (void)fault;
    (void)buf_printf(&peer->server->log, "closed %u;", code);
    ws_close(TAKE(peer->ws), WS_NORMAL, NULL);
}

/* The handshake, once the request is there. */
static void on_late(void *arg)
{
    static const struct ws_fns fns = {.on_message = on_message, .on_closed = on_closed};
    static const struct ws_config config = {.max_message_bytes = 4 * 1024 * 1024};
    struct socket_server *server = arg;
    struct ws_offer offer = {.key = ""};
    struct stream_state state;
    size_t len;
    const char *data = stream_peek(server->stream, &len), *key = strcasestr(data, "-key: ");
    snprintf(offer.key, sizeof(offer.key), "%.24s", key + 6);
    if (server->refusal) {
        char answer[80];
        snprintf(answer, sizeof(answer), "HTTP/1.1 %d No\r\nContent-Length: 0\r\n\r\n",
                 server->refusal);
        (void)!stream_write(server->stream, answer, strlen(answer));
        stream_close(server->stream);
        server->stream = NULL;
        return;
    }
    stream_consume(server->stream, (size_t)(strstr(data, "\r\n\r\n") + 4 - data));
    if (stream_detach(server->stream, &state) != OK)
        abort();
    server->stream = NULL;
    if (server->opened == PEERS_MAX)
        abort();
    struct peer *peer = &server->peers[server->opened++];
    peer->server = server;
    peer->ws = ws_accept(server->loop, &state, &offer, &config, &fns, peer);
}

static void on_read(void *arg)
{
    struct socket_server *server = arg;
    size_t len;
    const char *data = stream_peek(server->stream, &len);
    if (len && memmem(data, len, "\r\n\r\n", 4) && !timer_is_set(&server->late))
        timer_set_after(&server->late, server->delay_us);
}

static void on_gone(void *arg, enum err reason)
{
    struct socket_server *server = arg;
    (void)reason;
    timer_stop(&server->late);
    stream_close(server->stream);
    server->stream = NULL;
}

static void on_connection(void *arg, int take_fd, const struct net_addr *peer)
{
    static const struct stream_fns fns = {.on_read = on_read, .on_closed = on_gone};
    struct socket_server *server = arg;
    (void)peer;
    server->stream = stream_open(server->loop, take_fd, NULL);
    stream_set(server->stream, &fns, server);
}

struct socket_server *socket_server_open(struct loop *loop)
{
    struct socket_server *server = mem_new(struct socket_server);
    struct net_addr any;
    struct fault fault = {0};
    server->loop = loop;
    buf_init(&server->log, 1024 * 1024);
    timer_init(&server->late, loop, on_late, server);
    if (net_addr_parse("127.0.0.1:0", &any) != OK ||
        listener_open(loop, &any, on_connection, server, &server->listener, &fault) != OK)
        abort();
    snprintf(server->url, sizeof(server->url), "ws://127.0.0.1:%u",
             listener_address(server->listener).port);
    return server;
}

void socket_server_close(struct socket_server *server)
{
    timer_stop(&server->late);
    stream_close(server->stream);
    for (unsigned i = 0; i < server->opened; i++)
        ws_close(server->peers[i].ws, WS_NORMAL, NULL);
    listener_close(server->listener);
    buf_clear(&server->log);
    loop_defer(server->loop, mem_free, server);
}

const char *socket_server_url(const struct socket_server *server)
{
    return server->url;
}

void socket_server_behave(struct socket_server *server, int refusal, int64_t delay_us)
{
    server->refusal = refusal;
    server->delay_us = delay_us;
}

void socket_server_send(struct socket_server *server, const char *text)
{
    (void)!ws_send_text(*newest(server), text, strlen(text));
}

void socket_server_end(struct socket_server *server, unsigned code)
{
    ws_close(TAKE(*newest(server)), (enum ws_close_code)code, "as the test wants");
}

unsigned socket_server_opened(const struct socket_server *server)
{
    return server->opened;
}

const char *socket_server_log(const struct socket_server *server)
{
    return server->log.data ? server->log.data : "";
}
