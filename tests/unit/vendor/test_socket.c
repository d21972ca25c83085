/* The WebSocket of streaming adapters, and the two sessions over it, against a server on this
 * machine. */
#include "vendor/socket.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "base/mem.h"
#include "fake/socket_server.h"
#include "net/dial.h"
#include "net/http_client.h"
#include "net/listen.h"
#include "net/resolver.h"
#include "net/stream.h"
#include "net/tls.h"
#include "rig.h"
#include "test.h"
#include "vendor/account.h"
#include "vendor/wyoming.h"

struct net_rig {
    struct loop *loop;
    struct guard *guard;
    struct resolver *resolver;
    struct tls_context *tls;
    struct dialer *dialer;
    struct http_client *http;
    struct vendor *vendor;
    struct socket_server *server;
    struct account account;
    struct vendor_socket *socket;
    int64_t quiet_us;
    char log[512];
};

static void note(struct net_rig *rig, const char *text)
{
    size_t len = strlen(rig->log);
    snprintf(rig->log + len, sizeof(rig->log) - len, "%s;", text);
}

static void on_open(void *arg)
{
    struct net_rig *rig = arg;
    note(rig, "open");
    vendor_socket_text(rig->socket, "start");
}

static void on_message(void *arg, bool is_text, const char *data, size_t len)
{
    char text[64];
    snprintf(text, sizeof(text), "%.*s", is_text ? (int)len : 0, data);
    note(arg, text);
}

static void on_ended(void *arg, enum engine_error error, const char *message)
{
    struct net_rig *rig = arg;
    char text[200];
    snprintf(text, sizeof(text), "%s (%s)", engine_error_name(error), message);
    note(rig, text);
}

static struct net_rig *rig_open(void)
{
    struct net_rig *rig = mem_new(struct net_rig);
    struct fault fault = {0};
    rig->loop = loop_new("socket");
    if (guard_new(NULL, &rig->guard, &fault) != OK)
        abort();
    if (resolver_new(rig->loop, rig->guard, NULL, &rig->resolver, &fault) != OK)
        abort();
    if (tls_client_new(NULL, &rig->tls, &fault) != OK)
        abort();
    rig->dialer = dialer_new(rig->resolver, rig->tls);
    rig->http = http_client_new(rig->loop, &(struct http_client_config){.resolver = rig->resolver});
    rig->vendor = vendor_new(&(struct vendor_config){.voice_path = ""});
    vendor_add_loop(rig->vendor, rig->loop, rig->http, rig->dialer);
    rig->server = socket_server_open(rig->loop);
    rig->quiet_us = 600000000; /* no test is that slow */
    rig->account = (struct account){.vendor = rig->vendor,
                                    .engine = "x",
                                    .secrets = {(char *)"secret-key"},
                                    .limits = {10, 10}};
    return rig;
}

static void rig_close(struct net_rig *rig)
{
    vendor_socket_close(TAKE(rig->socket), NULL);
    socket_server_close(rig->server);
    loop_turns(rig->loop, 20);
    vendor_free(rig->vendor);
    http_client_free(rig->http);
    dialer_free(rig->dialer);
    tls_context_free(rig->tls);
    resolver_free(rig->resolver);
    guard_free(rig->guard);
    loop_free(rig->loop);
    mem_free(rig);
}

static void connect_socket(struct net_rig *rig, const struct socket_code *codes)
{
    static const struct socket_fns fns = {on_open, on_message, on_ended};
    const struct socket_plan plan = {.url = socket_server_url(rig->server),
                                     .headers = {"Authorization", "Token secret-key"},
                                     .quiet_text = "quiet",
                                     .quiet_us = rig->quiet_us,
                                     .codes = codes};
    rig->log[0] = '\0';
    rig->socket = vendor_socket_open(&rig->account, rig->loop, &plan, &fns, rig);
}

/* Runs until the texts are there, for a minute at most. log: what the session was told,
 * server_log: what the server was; NULL: anything. */
static void await(struct net_rig *rig, const char *log, const char *server_log)
{
    for (int i = 0; i < 6000; i++) {
        bool is_there = (!log || strcmp(rig->log, log) == 0) &&
                        (!server_log || strcmp(socket_server_log(rig->server), server_log) == 0);
        if (is_there)
            return;
        loop_run_for(rig->loop, 10000);
    }
    if (log)
        CHECK_TEXT(rig->log, log);
    if (server_log)
        CHECK_TEXT(socket_server_log(rig->server), server_log);
}

TEST(socket_keeps_what_is_sent_before_it_is_open)
{
    struct net_rig *rig = rig_open();
    socket_server_behave(rig->server, 0, 100000);
    connect_socket(rig, NULL);
    vendor_socket_audio(rig->socket, "abcd", 4);
    vendor_socket_text(rig->socket, "flush");
    vendor_socket_audio(rig->socket, "ab", 2);
    CHECK(!vendor_socket_is_open(rig->socket));
    await(rig, "open;", "start;<4>;flush;<2>;");
    socket_server_send(rig->server, "hello");
    await(rig, "open;hello;", NULL);
    rig_close(rig);
}

TEST(socket_drops_the_oldest_sound_when_too_much_waits_and_no_text)
{
    static char sound[64 * 1024];
    struct net_rig *rig = rig_open();
    socket_server_behave(rig->server, 0, 100000);
    connect_socket(rig, NULL);
    vendor_socket_text(rig->socket, "first");
    vendor_socket_audio(rig->socket, sound, 1000);
    for (int i = 0; i < 10; i++)
        vendor_socket_audio(rig->socket, sound, sizeof(sound));
    await(rig, "open;",
          "start;first;<65536>;<65536>;<65536>;<65536>;<65536>;<65536>;<65536>;<65536>;<65536>;"
          "<65536>;");
    rig_close(rig);
}

TEST(socket_that_takes_too_long_to_open_keeps_no_text_without_end)
{
    static char text[64 * 1024];
    struct net_rig *rig = rig_open();
    memset(text, 'x', sizeof(text) - 1);
    socket_server_behave(rig->server, 0, 3000000);
    connect_socket(rig, NULL);
    for (int i = 0; i < 40; i++)
        vendor_socket_text(rig->socket, text);
    await(rig, "the engine did not answer in time (the connection takes too long to open);", NULL);
    rig_close(rig);
}

TEST(socket_says_something_in_quiet_times)
{
    static const char said[] = "start;quiet;quiet;"; /* and maybe more */
    struct net_rig *rig = rig_open();
    rig->quiet_us = 200000;
    connect_socket(rig, NULL);
    LOOP_AWAIT(rig->loop, strncmp(socket_server_log(rig->server), said, strlen(said)) == 0);
    CHECK_TEXT(rig->log, "open;");
    rig_close(rig);
}

TEST(socket_tells_its_end_by_class)
{
    static const struct socket_code codes[] = {{3000, ENGINE_AUTH}, {0}};
    static const struct {
        unsigned code;
        const char *log;
    } rows[] = {
        {3000, "open;the engine refused the key (closed with 3000);"},
        {1008, "open;the engine refused the request (closed with 1008);"},
        {1011, "open;the engine could not be reached (closed with 1011);"},
        {1000, "open;the engine could not be reached (closed with 1000);"},
        {4002, "open;the engine's quota is used up (closed with 4002);"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct net_rig *rig = rig_open();
        connect_socket(rig, codes);
        await(rig, "open;", "start;");
        socket_server_end(rig->server, rows[i].code);
        await(rig, rows[i].log, NULL);
        vendor_socket_text(rig->socket, "into the void");
        rig_close(rig);
    }
}

TEST(socket_tells_a_refused_handshake_by_its_status)
{
    static const struct {
        int status;
        const char *log;
    } rows[] = {{401, "the engine refused the key (HTTP 401);"},
                {429, "the engine's quota is used up (HTTP 429);"},
                {503, "the engine could not be reached (HTTP 503);"},
                {400, "the engine refused the request (HTTP 400);"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct net_rig *rig = rig_open();
        socket_server_behave(rig->server, rows[i].status, 0);
        connect_socket(rig, NULL);
        await(rig, rows[i].log, NULL);
        rig_close(rig);
    }
}

TEST(socket_says_goodbye_and_nothing_after)
{
    struct net_rig *rig = rig_open();
    connect_socket(rig, NULL);
    await(rig, "open;", "start;");
    vendor_socket_audio(rig->socket, "ab", 2);
    vendor_socket_close(TAKE(rig->socket), "bye");
    await(rig, "open;", "start;<2>;bye;closed 1000;");
    rig_close(rig);
}

TEST(socket_waits_for_its_place_among_those_of_its_workspace)
{
    struct net_rig *rig = rig_open();
    rig->account.limits = (struct lane_limits){1, 1};
    connect_socket(rig, NULL);
    struct vendor_socket *first = rig->socket;
    await(rig, "open;", "start;");
    connect_socket(rig, NULL);
    loop_run_for(rig->loop, 100000);
    CHECK_TEXT(rig->log, ""); /* it waits */
    vendor_socket_close(first, NULL);
    await(rig, "open;", NULL);
    rig_close(rig);
}

/* The Wyoming wire: a server that sends whoever connects one long piece of sound. */

struct wyoming_rig {
    struct net_rig *net;
    struct listener *listener;
    struct stream *stream; /* the server's */
    struct wyoming_engine engine;
    struct wyoming *wyoming;
    size_t intact; /* bytes of the sound that could be read after the session had been closed */
};

static void on_server_closed(void *arg, enum err reason)
{
    struct wyoming_rig *rig = arg;
    (void)reason;
    stream_close(TAKE(rig->stream));
}

static void on_wyoming_connection(void *arg, int take_fd, const struct net_addr *peer)
{
    static const struct stream_fns fns = {.on_closed = on_server_closed};
    static char sound[WYOMING_PAYLOAD_MAX_BYTES];
    struct wyoming_rig *rig = arg;
    AUTO_BUF bytes = BUF_INIT(2 * sizeof(sound));
    (void)peer;
    memset(sound, 'z', sizeof(sound));
    CHECK_INT(wyoming_write(&bytes, "audio-chunk", NULL, sound, sizeof(sound)), OK);
    rig->stream = stream_open(rig->net->loop, take_fd, NULL);
    stream_set_ceilings(rig->stream, 1024, 2 * sizeof(sound));
    stream_set(rig->stream, &fns, rig);
    CHECK_INT(stream_write(rig->stream, bytes.data, bytes.len), OK);
}

static void close_and_read_on(void *arg, const struct wyoming_event *event)
{
    struct wyoming_rig *rig = arg;
    wyoming_close(TAKE(rig->wyoming));
    while (rig->intact < event->payload_len && event->payload[rig->intact] == 'z')
        rig->intact++;
}

static void on_wyoming_ended(void *arg, enum engine_error error, const char *message)
{
    (void)arg;
    (void)error;
    CHECK_TEXT(message, "nothing: it is closed by us");
}

/* As a call does that cancels a voice whose sound does not end. */
TEST(wyoming_event_stays_readable_when_its_session_is_closed_by_it)
{
    static const struct wyoming_fns fns = {close_and_read_on, on_wyoming_ended};
    struct wyoming_rig rig = {.net = rig_open()};
    struct net_addr any;
    struct fault fault = {0};
    char url[64];
    REQUIRE(net_addr_parse("127.0.0.1:0", &any) == OK);
    REQUIRE(listener_open(rig.net->loop, &any, on_wyoming_connection, &rig, &rig.listener,
                          &fault) == OK);
    snprintf(url, sizeof(url), "tcp://127.0.0.1:%u", listener_address(rig.listener).port);
    rig.engine.account = rig.net->account;
    rig.engine.account.url = url;
    rig.wyoming = wyoming_open(&rig.engine, rig.net->loop, &fns, &rig);
    LOOP_AWAIT(rig.net->loop, rig.wyoming == NULL);
    CHECK_INT(rig.intact, WYOMING_PAYLOAD_MAX_BYTES);
    stream_close(TAKE(rig.stream));
    listener_close(rig.listener);
    rig_close(rig.net);
}
