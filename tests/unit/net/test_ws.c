#include "net/ws.h"

#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/dial.h"
#include "net/http_server.h"
#include "net/resolver.h"
#include "net/stream.h"
#include "net/ws_conn.h"
#include "net/ws_handshake.h"
#include "turn.h"

/* A server that takes every upgrade and echoes, and a client. */
struct chat {
    struct loop *loop;
    struct guard *guard;
    struct resolver *resolver;
    struct dialer *dialer;
    struct http_server *http;
    struct ws *server, *client;
    struct ws_config server_config, client_config;
    char protocol[64];
    bool is_open, server_closed, client_closed;
    unsigned server_code, client_code;
    struct fault client_fault;
    struct buf got;
    size_t wanted;
    bool got_text;
    bool server_says_goodbye;
};

static void server_on_message(void *arg, bool is_text, const uint8_t *data, size_t len)
{
    struct chat *chat = arg;
    if (chat->server_says_goodbye)
        ws_close(TAKE(chat->server), WS_POLICY, "enough");
    else if (is_text)
        CHECK(ws_send_text(chat->server, (const char *)data, len) == OK);
    else
        CHECK(ws_send_binary(chat->server, data, len) == OK);
}

static void server_on_closed(void *arg, unsigned code, const struct fault *fault)
{
    struct chat *chat = arg;
    (void)fault;
    chat->server_closed = true;
    chat->server_code = code;
}

static void on_request(void *arg, struct http_exchange *exchange)
{
    static const struct ws_fns fns = {.on_message = server_on_message,
                                      .on_closed = server_on_closed};
    struct chat *chat = arg;
    struct ws_offer offer;
    struct stream_state state;
    struct fault fault;
    enum err err = ws_read_offer(exchange, &offer, &fault);
    if (err) {
        http_answer_error(exchange, err == ERR_UNSUPPORTED ? 426 : 400, "BAD", fault.text);
        return;
    }
    strcpy(chat->protocol, offer.protocol);
    REQUIRE(http_upgrade(exchange, &state) == OK);
    chat->server = ws_accept(chat->loop, &state, &offer, &chat->server_config, &fns, chat);
}

static void client_on_open(void *arg)
{
    ((struct chat *)arg)->is_open = true;
}

static void client_on_message(void *arg, bool is_text, const uint8_t *data, size_t len)
{
    struct chat *chat = arg;
    chat->got_text = is_text;
    buf_append(&chat->got, data, len);
}

static void client_on_closed(void *arg, unsigned code, const struct fault *fault)
{
    struct chat *chat = arg;
    chat->client_closed = true;
    chat->client_code = code;
    chat->client_fault = *fault;
}

static void chat_connect(struct chat *chat, const char *path, const char *protocol)
{
    static const struct ws_fns fns = {client_on_open, client_on_message, NULL, client_on_closed};
    AUTO_MEM char *url =
        mem_printf("ws://127.0.0.1:%u%s", http_server_address(chat->http).port, path);
    const struct http_header header = {"X-Key", "secret"};
    const struct ws_request request = {
        .url = url, .headers = &header, .header_count = 1, .protocol = protocol};
    chat->client = ws_connect(chat->loop, chat->dialer, &request, &chat->client_config, &fns, chat);
}

static void chat_open(struct chat *chat, const char *allow)
{
    static const struct http_handler handler = {NULL, on_request};
    const struct http_server_config config = {.bind = net_addr_ipv4(127, 0, 0, 1, 0)};
    *chat = (struct chat){.loop = loop_new("test")};
    buf_init(&chat->got, 64 << 20);
    REQUIRE(guard_new(allow, &chat->guard, NULL) == OK);
    REQUIRE(resolver_new(chat->loop, chat->guard, NULL, &chat->resolver, NULL) == OK);
    chat->dialer = dialer_new(chat->resolver, NULL);
    REQUIRE(http_server_open(chat->loop, &config, &handler, chat, &chat->http, NULL) == OK);
}

static void chat_close(struct chat *chat)
{
    ws_close(chat->client, WS_NORMAL, NULL);
    ws_close(chat->server, WS_NORMAL, NULL);
    http_server_close(chat->http);
    dialer_free(chat->dialer);
    resolver_free(chat->resolver);
    loop_free(chat->loop);
    guard_free(chat->guard);
    buf_clear(&chat->got);
}

static bool chat_has_enough(void *arg)
{
    struct chat *chat = arg;
    return chat->got.len >= chat->wanted;
}

TEST(accept_value_is_that_of_the_rfc)
{
    char accept[WS_ACCEPT_SIZE];
    ws_accept_value("dGhlIHNhbXBsZSBub25jZQ==", accept); /* RFC 6455 section 1.3 */
    CHECK_TEXT(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

TEST(messages_go_there_and_back)
{
    struct chat chat;
    chat_open(&chat, "127.0.0.1");
    chat_connect(&chat, "/x?y", "soap, json");
    CHECK_INT(ws_send_text(chat.client, "early", 5), ERR_CLOSED);
    CHECK(turn_until_set(chat.loop, &chat.is_open));
    CHECK_TEXT(chat.protocol, "soap");
    CHECK(ws_send_text(chat.client, "h\xc3\xa9llo", 6) == OK);
    chat.wanted = 6;
    CHECK(turn_until(chat.loop, chat_has_enough, &chat));
    CHECK_TEXT(chat.got.data, "h\xc3\xa9llo");
    CHECK(chat.got_text);
    size_t len = 900000;
    char *big = mem_zalloc(len);
    buf_reset(&chat.got);
    chat.wanted = len;
    CHECK(ws_send_binary(chat.client, big, len) == OK);
    CHECK(turn_until(chat.loop, chat_has_enough, &chat));
    CHECK(!chat.got_text);
    mem_free(big);
    ws_close(TAKE(chat.client), WS_NORMAL, "done");
    CHECK(turn_until_set(chat.loop, &chat.server_closed));
    CHECK_INT(chat.server_code, WS_NORMAL);
    chat_close(&chat);
}

TEST(a_goodbye_reaches_the_peer_with_its_code)
{
    struct chat chat;
    chat_open(&chat, "127.0.0.1");
    chat.server_says_goodbye = true;
    chat_connect(&chat, "/", NULL);
    CHECK(turn_until_set(chat.loop, &chat.is_open));
    CHECK(ws_send_text(chat.client, "hi", 2) == OK);
    CHECK(turn_until_set(chat.loop, &chat.client_closed));
    CHECK_INT(chat.client_code, WS_POLICY);
    CHECK_INT(chat.client_fault.err, OK);
    chat_close(&chat);
}

TEST(messages_over_the_ceilings_are_refused)
{
    struct chat chat;
    chat_open(&chat, "127.0.0.1");
    chat.server_config.max_message_bytes = 1000;
    chat.client_config.max_unsent_bytes = 5000;
    chat_connect(&chat, "/", NULL);
    CHECK(turn_until_set(chat.loop, &chat.is_open));
    char *big = mem_zalloc(6000);
    CHECK_INT(ws_send_binary(chat.client, big, 6000), ERR_LIMIT);
    CHECK_INT(ws_send_binary(chat.client, big, 1001), OK);
    mem_free(big);
    CHECK(turn_until_set(chat.loop, &chat.client_closed));
    CHECK(turn_until_set(chat.loop, &chat.server_closed));
    CHECK_INT(chat.server_code, WS_TOO_BIG);
    CHECK_INT(chat.client_code, WS_TOO_BIG);
    chat_close(&chat);
}

TEST(what_is_no_utf8_ends_the_connection)
{
    struct chat chat;
    chat_open(&chat, "127.0.0.1");
    chat_connect(&chat, "/", NULL);
    CHECK(turn_until_set(chat.loop, &chat.is_open));
    CHECK(ws_send_text(chat.client, "\xff\xfe", 2) == OK);
    CHECK(turn_until_set(chat.loop, &chat.server_closed));
    CHECK_INT(chat.server_code, WS_BAD_DATA);
    chat_close(&chat);
}

TEST(a_server_that_does_not_upgrade_is_a_fault)
{
    struct chat chat;
    chat_open(&chat, "127.0.0.1");
    chat_connect(&chat, "/", NULL);
    http_server_close(TAKE(chat.http));
    CHECK(turn_until_set(chat.loop, &chat.client_closed));
    CHECK(chat.client_fault.err != OK);
    CHECK_INT(chat.client_code, WS_ABNORMAL);
    chat_close(&chat);
}

TEST(a_denied_address_is_told_later)
{
    struct chat chat;
    chat_open(&chat, "");
    chat_connect(&chat, "/", NULL);
    CHECK(!chat.client_closed);
    CHECK(turn_until_set(chat.loop, &chat.client_closed));
    CHECK_INT(chat.client_fault.err, ERR_DENIED);
    chat_close(&chat);
}

TEST(a_peer_that_answers_no_ping_is_gone)
{
    struct chat chat;
    int fds[2];
    chat_open(&chat, "");
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) == 0);
    static const struct ws_fns fns = {.on_closed = server_on_closed};
    const struct ws_config config = {.ping_ms = 20};
    struct stream_state state = {.fd = fds[0]};
    struct ws_offer offer = {.key = "dGhlIHNhbXBsZSBub25jZQ=="};
    chat.server = ws_accept(chat.loop, &state, &offer, &config, &fns, &chat);
    CHECK(turn_until_set(chat.loop, &chat.server_closed));
    CHECK_INT(chat.server_code, WS_ABNORMAL);
    char got[300] = {0};
    ssize_t n = read(fds[1], got, sizeof(got) - 1);
    CHECK(n > 2 && (uint8_t)got[n - 2] == 0x89 && got[n - 1] == 0); /* a ping */
    close(fds[1]);
    chat_close(&chat);
}

TEST(answers_that_are_no_handshake_are_refused)
{
#define START  "HTTP/1.1 101 x\r\nUpgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\n"
#define ACCEPT "Sec-WebSocket-Accept:  s3pPLMBiTxaQ9kYGzzhZRbK+xOo= \r\n"
    static const struct {
        const char *text;
        enum err err;
    } rows[] = {
        {START ACCEPT "\r\n", OK},
        {START ACCEPT "Sec-WebSocket-Protocol: b\r\n\r\n", OK},
        {START ACCEPT "Sec-WebSocket-Protocol: c\r\n\r\n", ERR_INVALID},
        {START ACCEPT "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n", ERR_INVALID},
        {START "Sec-WebSocket-Accept: wrong\r\n\r\n", ERR_INVALID},
        {START "\r\n", ERR_INVALID},
        {"HTTP/1.1 101 x\r\n" ACCEPT "\r\n", ERR_INVALID},
        {"HTTP/1.1 401 Unauthorized\r\n\r\n", ERR_CONFLICT},
        {"HTTP/1.1 301 Moved\r\nLocation: ws://x/\r\n\r\n", ERR_CONFLICT},
        {"SSH-2.0-OpenSSH\r\n\r\n", ERR_INVALID},
        {"HTTP/1.1 101\n\n", ERR_INVALID},
        {"HTTP/1.1 \r\n\r\n", ERR_INVALID},
        {"HTTP/1.1 1011 x\r\n\r\n", ERR_INVALID},
        {START, ERR_AGAIN},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t len;
        struct fault fault;
        if (!CHECK_INT(ws_read_answer(rows[i].text, strlen(rows[i].text),
                                      "dGhlIHNhbXBsZSBub25jZQ==", "a, b", &len, &fault),
                       rows[i].err))
            CHECK_TEXT(rows[i].text, "so");
    }
}

TEST(a_websocket_moves_as_the_table_says)
{
    enum { NO = STATES_REFUSED };
    static const int want[WS_STATES][WS_EVENTS] = {
        /* begin, end, close */
        [WS_OPENING] = {WS_OPEN, WS_ENDED, WS_FREED},
        [WS_OPEN] = {NO, WS_ENDED, WS_FREED},
        [WS_ENDED] = {NO, WS_ENDED, WS_FREED},
        [WS_FREED] = {NO, WS_FREED, WS_FREED},
    };
    for (int state = 0; state < WS_STATES; state++)
        for (int event = 0; event < WS_EVENTS; event++)
            CHECK_INT(states_next(&ws_states, state, event, NULL), want[state][event]);
}
