#include "hostile_server.h"

#include <string.h>

#include "base/loop.h"
#include "base/mem.h"
#include "net/listen.h"
#include "net/stream.h"
#include "test.h"

struct connection {
    struct hostile_server *server;
    struct list_node node;
    struct stream *stream;
    struct timer next;
    size_t sent; /* of `first` */
};

static void drop(struct connection *connection)
{
    timer_stop(&connection->next);
    list_remove(&connection->node);
    stream_abort(connection->stream);
    mem_free(connection);
}

static enum err send_bytes(struct connection *connection, const char *data, size_t len)
{
    enum err err = stream_write(connection->stream, data, len);
    connection->server->sent_bytes += err ? 0 : len;
    return err;
}

/* As fast as the other side reads. */
static void flood(struct connection *connection)
{
    const struct hostile_server *server = connection->server;
    while (server->again && stream_unsent(connection->stream) == 0)
        if (send_bytes(connection, server->again, strlen(server->again)) != OK)
            return;
}

static void answer(void *arg)
{
    struct connection *connection = arg;
    const struct hostile_server *server = connection->server;
    size_t len = server->first_len       ? server->first_len
                 : server->first != NULL ? strlen(server->first)
                                         : 0;
    size_t piece =
        server->pause_us ? MIN(len - connection->sent, (size_t)1) : len - connection->sent;
    if (piece > 0 && send_bytes(connection, server->first + connection->sent, piece) != OK)
        return;
    connection->sent += piece;
    if (connection->sent < len)
        timer_set_after(&connection->next, server->pause_us);
    else if (server->closes)
        drop(connection);
    else
        flood(connection);
}

static void on_request(void *arg)
{
    struct connection *connection = arg;
    size_t len;
    const char *data = stream_peek(connection->stream, &len);
    if (!memmem(data, len, "\r\n\r\n", 4))
        return;
    stream_consume(connection->stream, len);
    connection->server->requests++;
    connection->sent = 0;
    timer_set_after(&connection->next, 0);
}

static void on_drained(void *arg)
{
    flood(arg);
}

static void on_closed(void *arg, enum err reason)
{
    (void)reason;
    drop(arg);
}

static void on_accept(void *arg, int take_fd, const struct net_addr *peer)
{
    static const struct stream_fns fns = {on_request, on_drained, on_closed};
    struct hostile_server *server = arg;
    struct connection *connection = mem_new(struct connection);
    (void)peer;
    server->accepted++;
    connection->server = server;
    connection->stream = stream_open(server->loop, take_fd, NULL);
    timer_init(&connection->next, server->loop, answer, connection);
    list_push_back(&server->connections, &connection->node);
    stream_set(connection->stream, &fns, connection);
}

void hostile_server_open(struct hostile_server *server, struct loop *loop)
{
    const struct net_addr any = net_addr_ipv4(127, 0, 0, 1, 0);
    server->loop = loop;
    list_init(&server->connections);
    CHECK(listener_open(loop, &any, on_accept, server, &server->listener, NULL) == OK);
    server->port = listener_address(server->listener).port;
}

void hostile_server_close(struct hostile_server *server)
{
    listener_close(server->listener);
    while (!list_is_empty(&server->connections))
        drop(LIST_FIRST(&server->connections, struct connection, node));
}
