#include "net/stream.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "net/listen.h"
#include "net/tls.h"
#include "turn.h"

/* One side of a connection; echoes what it reads when asked, else keeps it. */
struct side {
    struct stream *stream;
    struct buf got;
    size_t wanted;
    bool echoes, keeps_unread, is_closed, is_drained;
    enum err reason;
};

static void side_on_read(void *arg)
{
    struct side *side = arg;
    size_t len;
    const char *data = stream_peek(side->stream, &len);
    if (side->keeps_unread)
        return;
    if (side->echoes)
        CHECK(stream_write(side->stream, data, len) == OK);
    else
        buf_append(&side->got, data, len);
    stream_consume(side->stream, len);
}

static void side_on_drained(void *arg)
{
    ((struct side *)arg)->is_drained = true;
}

static void side_on_closed(void *arg, enum err reason)
{
    struct side *side = arg;
    CHECK(!side->is_closed);
    side->is_closed = true;
    side->reason = reason;
}

static const struct stream_fns side_fns = {side_on_read, side_on_drained, side_on_closed};

static bool side_has_enough(void *arg)
{
    struct side *side = arg;
    return side->got.len >= side->wanted;
}

static bool side_has_unread(void *arg)
{
    size_t len;
    stream_peek(((struct side *)arg)->stream, &len);
    return len > 0;
}

static bool side_is_full(void *arg)
{
    size_t len;
    stream_peek(((struct side *)arg)->stream, &len);
    return len == STREAM_READ_MAX;
}

static void side_init(struct side *side, struct loop *loop, int fd, struct tls_context *tls)
{
    *side = (struct side){.got = BUF_INIT(64 << 20)};
    side->stream = stream_open(loop, fd, tls);
    stream_set(side->stream, &side_fns, side);
}

static bool make_pair(struct loop *loop, struct side *a, struct side *b)
{
    int fds[2];
    if (!CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0))
        return false;
    side_init(a, loop, fds[0], NULL);
    side_init(b, loop, fds[1], NULL);
    return true;
}

static void clear_pair(struct side *a, struct side *b)
{
    stream_close(a->stream);
    stream_close(b->stream);
    buf_clear(&a->got);
    buf_clear(&b->got);
}

TEST(bytes_go_there_and_back)
{
    AUTO(loop) loop = loop_new("test");
    struct side a, b;
    REQUIRE(make_pair(loop, &a, &b));
    b.echoes = true;
    a.wanted = 5;
    CHECK(stream_write(a.stream, "hello", 5) == OK);
    CHECK(turn_until(loop, side_has_enough, &a));
    CHECK_TEXT(a.got.data, "hello");
    clear_pair(&a, &b);
}

TEST(what_the_socket_does_not_take_waits_and_drains)
{
    AUTO(loop) loop = loop_new("test");
    struct side a, b;
    REQUIRE(make_pair(loop, &a, &b));
    char *big = mem_zalloc(STREAM_WRITE_MAX);
    b.wanted = STREAM_WRITE_MAX;
    CHECK(stream_write(a.stream, big, STREAM_WRITE_MAX) == OK);
    CHECK(stream_unsent(a.stream) > 0);
    CHECK_INT(stream_write(a.stream, big, STREAM_WRITE_MAX), ERR_LIMIT);
    CHECK(turn_until(loop, side_has_enough, &b));
    CHECK(turn_until_set(loop, &a.is_drained));
    CHECK_INT(stream_unsent(a.stream), 0);
    mem_free(big);
    clear_pair(&a, &b);
}

TEST(a_full_read_buffer_stops_the_peer)
{
    AUTO(loop) loop = loop_new("test");
    struct side a, b;
    REQUIRE(make_pair(loop, &a, &b));
    char *big = mem_zalloc(STREAM_WRITE_MAX);
    b.keeps_unread = true;
    CHECK(stream_write(a.stream, big, STREAM_WRITE_MAX) == OK);
    CHECK(turn_until(loop, side_is_full, &b));
    CHECK(stream_unsent(a.stream) > 0);
    b.keeps_unread = false;
    b.wanted = STREAM_WRITE_MAX;
    stream_pause(b.stream, true);
    stream_pause(b.stream, false);
    CHECK(turn_until(loop, side_has_enough, &b));
    mem_free(big);
    clear_pair(&a, &b);
}

TEST(the_end_of_the_peer_is_told_once_and_writing_goes_on)
{
    AUTO(loop) loop = loop_new("test");
    int fds[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) == 0);
    struct side a;
    side_init(&a, loop, fds[0], NULL);
    shutdown(fds[1], SHUT_WR);
    CHECK(turn_until_set(loop, &a.is_closed));
    CHECK_INT(a.reason, ERR_CLOSED);
    CHECK(stream_write(a.stream, "late", 4) == OK);
    char text[8] = {0};
    CHECK_INT(read(fds[1], text, sizeof(text)), 4);
    stream_close(a.stream);
    close(fds[1]);
    buf_clear(&a.got);
}

TEST(a_connection_moves_between_loops_with_its_unread_bytes)
{
    AUTO(loop) first = loop_new("first");
    AUTO(loop) second = loop_new("second");
    struct side a, b;
    REQUIRE(make_pair(first, &a, &b));
    b.keeps_unread = true;
    CHECK(stream_write(a.stream, "hello ", 6) == OK);
    CHECK(turn_until(first, side_has_unread, &b));
    struct stream_state state;
    REQUIRE(stream_detach(b.stream, &state) == OK);
    CHECK_INT(state.unread_len, 6);
    b.stream = stream_attach(second, &state);
    b.keeps_unread = false;
    b.wanted = 11;
    stream_set(b.stream, &side_fns, &b);
    CHECK(stream_write(a.stream, "world", 5) == OK);
    CHECK(turn_until(second, side_has_enough, &b));
    CHECK_TEXT(b.got.data, "hello world");
    clear_pair(&a, &b);
}

/* TLS: a server stream on this loop, a client that is a session of our own driven by hand. */

static char *write_file(const char *dir, const char *name, const struct buf *text)
{
    char *path = mem_printf("%s/%s", dir, name);
    FILE *file = fopen(path, "w");
    CHECK(file && fwrite(text->data, 1, text->len, file) == text->len);
    if (file)
        fclose(file);
    return path;
}

struct pair_of_files {
    char dir[32];
    char *cert, *key;
};

static bool make_files(struct pair_of_files *files, const char *name)
{
    const char *const names[] = {name, "127.0.0.1"};
    AUTO_BUF cert = BUF_INIT(10000);
    AUTO_BUF key = BUF_INIT(10000);
    if (!files->dir[0]) {
        strcpy(files->dir, "/tmp/earshot-tls-XXXXXX");
        if (!CHECK(mkdtemp(files->dir)))
            return false;
    }
    if (!CHECK(tls_self_signed(names, 2, &cert, &key, NULL) == OK))
        return false;
    mem_free(files->cert);
    mem_free(files->key);
    files->cert = write_file(files->dir, "cert.pem", &cert);
    files->key = write_file(files->dir, "key.pem", &key);
    return true;
}

static void remove_files(struct pair_of_files *files)
{
    unlink(files->cert);
    unlink(files->key);
    rmdir(files->dir);
    mem_free(files->cert);
    mem_free(files->key);
}

struct hand_client {
    struct tls_session *session;
    struct loop *loop;
    struct timer again;
    const char *send;
    size_t sent;
    char got[64];
    size_t got_len;
    bool is_done, has_failed;
    struct fault fault;
};

static void drive_client(void *arg)
{
    struct hand_client *client = arg;
    unsigned wants;
    size_t n = 0;
    enum err err = tls_handshake(client->session, &wants, &client->fault);
    if (!err && client->sent < strlen(client->send)) {
        err = tls_write(client->session, client->send, strlen(client->send), &n, &wants);
        client->sent += err ? 0 : n;
    }
    while (!err) {
        err = tls_read(client->session, client->got + client->got_len,
                       sizeof(client->got) - client->got_len - 1, &n, &wants);
        client->got_len += err ? 0 : n;
        client->is_done = client->got_len >= strlen(client->send);
    }
    client->has_failed = err != ERR_AGAIN;
    client->is_done = client->is_done || client->has_failed;
    if (!client->is_done)
        timer_set_after(&client->again, 500);
}

static void run_client(struct loop *loop, struct tls_context *ctx, int fd, const char *host,
                       struct hand_client *client)
{
    *client = (struct hand_client){.loop = loop, .send = "over tls"};
    client->session = tls_session_new(ctx, fd, host);
    timer_init(&client->again, loop, drive_client, client);
    timer_set_after(&client->again, 0);
    turn_until_set(loop, &client->is_done);
    tls_session_free(client->session);
}

static void check_tls(struct pair_of_files *files, struct tls_context *server_ctx, const char *host,
                      bool should_pass)
{
    AUTO(loop) loop = loop_new("test");
    AUTO(tls_context) client_ctx = NULL;
    REQUIRE(tls_client_new(files->cert, &client_ctx, NULL) == OK);
    int fds[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) == 0);
    struct side server;
    side_init(&server, loop, fds[0], server_ctx);
    server.echoes = true;
    struct hand_client client;
    run_client(loop, client_ctx, fds[1], host, &client);
    CHECK_INT(!client.has_failed, should_pass);
    if (should_pass)
        CHECK_TEXT(client.got, "over tls");
    else
        CHECK(strstr(client.fault.text, "certificate was refused"));
    stream_abort(server.stream);
    buf_clear(&server.got);
    close(fds[1]);
}

TEST(tls_carries_bytes_to_the_named_host_only)
{
    struct pair_of_files files = {0};
    AUTO(tls_context) ctx = NULL;
    REQUIRE(make_files(&files, "a.example"));
    REQUIRE(tls_server_new(files.cert, files.key, &ctx, NULL) == OK);
    check_tls(&files, ctx, "a.example", true);
    check_tls(&files, ctx, "127.0.0.1", true);
    check_tls(&files, ctx, "b.example", false);
    remove_files(&files);
}

TEST(a_reloaded_certificate_serves_and_a_broken_one_changes_nothing)
{
    struct pair_of_files files = {0};
    AUTO(tls_context) ctx = NULL;
    REQUIRE(make_files(&files, "a.example"));
    REQUIRE(tls_server_new(files.cert, files.key, &ctx, NULL) == OK);
    REQUIRE(make_files(&files, "b.example"));
    CHECK(tls_server_reload(ctx, NULL) == OK);
    check_tls(&files, ctx, "b.example", true);
    AUTO_BUF broken = BUF_INIT(100);
    buf_append_str(&broken, "no certificate");
    char *path = write_file(files.dir, "key.pem", &broken);
    struct fault fault;
    CHECK_INT(tls_server_reload(ctx, &fault), ERR_INVALID);
    check_tls(&files, ctx, "b.example", true);
    mem_free(path);
    remove_files(&files);
}

static void on_accept(void *arg, int take_fd, const struct net_addr *peer)
{
    struct side *side = arg;
    struct loop *loop = (struct loop *)side->stream;
    CHECK(net_addr_is_loopback(peer));
    side_init(side, loop, take_fd, NULL);
    side->echoes = true;
}

TEST(a_listener_accepts)
{
    AUTO(loop) loop = loop_new("test");
    struct side server = {.stream = (struct stream *)loop}, client;
    struct listener *listener;
    struct net_addr addr = net_addr_ipv4(127, 0, 0, 1, 0);
    REQUIRE(listener_open(loop, &addr, on_accept, &server, &listener, NULL) == OK);
    addr = listener_address(listener);
    struct fault fault;
    struct listener *second;
    CHECK_INT(listener_open(loop, &addr, on_accept, &server, &second, &fault), ERR_IO);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(addr.port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0);
    REQUIRE(fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
    side_init(&client, loop, fd, NULL);
    client.wanted = 2;
    CHECK(stream_write(client.stream, "hi", 2) == OK);
    CHECK(turn_until(loop, side_has_enough, &client));
    listener_close(listener);
    clear_pair(&server, &client);
}
