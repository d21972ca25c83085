#include "net/http_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/mem.h"
#include "net/http_server.h"
#include "net/listen.h"
#include "net/resolver.h"
#include "net/stream.h"
#include "net/tls.h"
#include "turn.h"

/* Our client against our server, and against a raw one that answers with given bytes. */
struct shop {
    struct loop *loop;
    struct guard *guard;
    struct resolver *resolver;
    struct http_client *client;
    struct tls_context *client_tls;
    struct http_server *server;
    struct http_exchange *held;
    struct listener *raw;
    struct stream *raw_stream;
    const char *raw_answer;
    size_t peak_connections;
    bool is_done;
    int done_count;
    struct fault fault;
    int status;
    bool is_cut;
    struct buf body, streamed;
    char type[64], header[64];
    int stop_after; /* on_data calls; 0: never */
    struct http_fetch *fetch;
};

static void answer_echo(struct http_exchange *exchange)
{
    const struct http_request *request = http_exchange_request(exchange);
    const char *type = http_exchange_header(exchange, "Content-Type");
    const char *extra = http_exchange_header(exchange, "X-Extra");
    char *text = arena_printf(http_exchange_arena(exchange), "%s %s type=%s extra=%s body=%s",
                              request->method, request->target, type ? type : "none",
                              extra ? extra : "none", request->body ? request->body : "none");
    const struct http_header headers[] = {{"Content-Type", "text/plain"}, {"X-Back", "yes"}};
    const struct http_answer answer = {.status = 200,
                                       .headers = headers,
                                       .header_count = 2,
                                       .body = text,
                                       .body_len = strlen(text)};
    http_answer(exchange, &answer);
}

static void on_request(void *arg, struct http_exchange *exchange)
{
    struct shop *shop = arg;
    const char *path = http_exchange_request(exchange)->path;
    shop->peak_connections = MAX(shop->peak_connections, http_server_connections(shop->server));
    if (strcmp(path, "/hold") == 0) {
        shop->held = exchange;
    } else if (strcmp(path, "/redirect") == 0) {
        const struct http_header header = {"Location", "/elsewhere"};
        const struct http_answer answer = {.status = 302, .headers = &header, .header_count = 1};
        http_answer(exchange, &answer);
    } else if (strcmp(path, "/big") == 0) {
        const struct http_answer answer = {
            .status = 200, .take_body = mem_zalloc(100000), .body_len = 100000};
        http_answer(exchange, &answer);
    } else {
        answer_echo(exchange);
    }
}

static void on_raw_request(void *arg)
{
    struct shop *shop = arg;
    size_t len;
    stream_peek(shop->raw_stream, &len);
    stream_consume(shop->raw_stream, len);
    stream_write(shop->raw_stream, shop->raw_answer, strlen(shop->raw_answer));
}

static void on_raw_closed(void *arg, enum err reason)
{
    struct shop *shop = arg;
    (void)reason;
    stream_close(TAKE(shop->raw_stream));
}

static void on_raw_accept(void *arg, int take_fd, const struct net_addr *peer)
{
    static const struct stream_fns fns = {on_raw_request, NULL, on_raw_closed};
    struct shop *shop = arg;
    (void)peer;
    stream_close(shop->raw_stream);
    shop->raw_stream = stream_open(shop->loop, take_fd, NULL);
    stream_set(shop->raw_stream, &fns, shop);
}

static void shop_open(struct shop *shop, const char *allow, struct tls_context *tls,
                      const char *ca_path)
{
    static const struct http_handler handler = {NULL, on_request};
    const struct http_server_config config = {.bind = net_addr_ipv4(127, 0, 0, 1, 0), .tls = tls};
    *shop = (struct shop){.loop = loop_new("test")};
    buf_init(&shop->body, 1 << 20);
    buf_init(&shop->streamed, 1 << 20);
    REQUIRE(guard_new(allow, &shop->guard, NULL) == OK);
    REQUIRE(resolver_new(shop->loop, shop->guard, NULL, &shop->resolver, NULL) == OK);
    REQUIRE(http_server_open(shop->loop, &config, &handler, shop, &shop->server, NULL) == OK);
    REQUIRE(listener_open(shop->loop, &config.bind, on_raw_accept, shop, &shop->raw, NULL) == OK);
    REQUIRE(tls_client_new(ca_path, &shop->client_tls, NULL) == OK);
    const struct http_client_config client_config = {.resolver = shop->resolver,
                                                     .tls = shop->client_tls};
    shop->client = http_client_new(shop->loop, &client_config);
}

static void shop_close(struct shop *shop)
{
    http_client_free(shop->client);
    tls_context_free(shop->client_tls);
    http_server_close(shop->server);
    listener_close(shop->raw);
    stream_close(shop->raw_stream);
    if (shop->held)
        http_answer_error(shop->held, 500, "X", "over");
    resolver_free(shop->resolver);
    loop_free(shop->loop);
    guard_free(shop->guard);
    buf_clear(&shop->body);
    buf_clear(&shop->streamed);
}

static int on_data(void *arg, int status, const char *data, size_t len)
{
    struct shop *shop = arg;
    CHECK_INT(status, 200);
    buf_append(&shop->streamed, data, len);
    return shop->stop_after > 0 && --shop->stop_after == 0;
}

static void on_done(void *arg, const struct http_fetch_result *result)
{
    struct shop *shop = arg;
    shop->is_done = true;
    shop->done_count++;
    shop->fault = result->fault;
    shop->status = result->status;
    shop->is_cut = result->is_cut;
    shop->fetch = NULL;
    CHECK(result->latency_us >= 0 && result->first_byte_us <= result->latency_us);
    buf_reset(&shop->body);
    buf_append(&shop->body, result->body, result->body_len);
    snprintf(shop->type, sizeof(shop->type), "%s",
             result->content_type ? result->content_type : "");
    shop->header[0] = '\0';
    for (size_t i = 0; i < result->header_count; i++)
        if (strcmp(result->headers[i].name, "X-Back") == 0)
            snprintf(shop->header, sizeof(shop->header), "%s", result->headers[i].value);
}

static void shop_start(struct shop *shop, struct http_fetch_request request, const char *format,
                       bool is_raw, bool streams)
{
    uint16_t port =
        is_raw ? listener_address(shop->raw).port : http_server_address(shop->server).port;
    const char *slot = strstr(format, "%u");
    AUTO_MEM char *url = mem_printf("%.*s%u%s", (int)(slot - format), format, port, slot + 2);
    const struct http_fetch_fns fns = {streams ? on_data : NULL, on_done};
    request.url = url;
    request.method = request.method ? request.method : "GET";
    shop->is_done = false;
    shop->fetch = http_fetch_start(shop->client, &request, &fns, shop);
    CHECK(!shop->is_done);
}

#define FETCH(shop, format, ...)                                                                   \
    (shop_start(shop, (struct http_fetch_request){__VA_ARGS__}, format, false, false),             \
     turn_until_set((shop)->loop, &(shop)->is_done), (shop)->fault.err)
#define FETCH_RAW(shop, streams, answer, ...)                                                      \
    ((shop)->raw_answer = (answer),                                                                \
     shop_start(shop, (struct http_fetch_request){__VA_ARGS__}, "http://127.0.0.1:%u/", true,      \
                streams),                                                                          \
     turn_until_set((shop)->loop, &(shop)->is_done), (shop)->fault.err)

TEST(requests_arrive_as_asked_on_one_connection)
{
    struct shop shop;
    shop_open(&shop, "127.0.0.1", NULL, NULL);
    CHECK_INT(FETCH(&shop, "http://127.0.0.1:%u/a/../b?c=%20d#e", .wants_headers = true), OK);
    CHECK_INT(shop.status, 200);
    CHECK_TEXT(shop.body.data, "GET /a/../b?c=%20d type=none extra=none body=none");
    CHECK_TEXT(shop.type, "text/plain");
    CHECK_TEXT(shop.header, "yes");
    const struct http_header headers[] = {{"Content-Type", "application/json"}, {"X-Extra", ""}};
    CHECK_INT(FETCH(&shop, "http://127.0.0.1:%u/x", .method = "POST", .headers = headers,
                    .header_count = 2, .body = "{}", .body_len = 2),
              OK);
    CHECK_TEXT(shop.body.data, "POST /x type=application/json extra= body={}");
    CHECK_INT(FETCH(&shop, "http://127.0.0.1:%u/x", .method = "POST"), OK);
    CHECK_TEXT(shop.body.data, "POST /x type=none extra=none body=none");
    CHECK_INT(shop.peak_connections, 1);
    shop_close(&shop);
}

TEST(redirects_are_not_followed)
{
    struct shop shop;
    shop_open(&shop, "127.0.0.1", NULL, NULL);
    CHECK_INT(FETCH(&shop, "http://127.0.0.1:%u/redirect", .timeout_ms = 60000), OK);
    CHECK_INT(shop.status, 302);
    shop_close(&shop);
}

TEST(denied_and_malformed_targets_fail_later_without_a_connection)
{
    struct shop shop;
    shop_open(&shop, "", NULL, NULL);
    CHECK_INT(FETCH(&shop, "http://127.0.0.1:%u/", .timeout_ms = 60000), ERR_DENIED);
    CHECK_INT(FETCH(&shop, "http://localhost:%u/", .timeout_ms = 60000), ERR_DENIED);
    CHECK_INT(FETCH(&shop, "http://u@127.0.0.1:%u/", .timeout_ms = 60000), ERR_DENIED);
    CHECK_INT(FETCH(&shop, "file:///etc/passwd?%u", .timeout_ms = 60000), ERR_DENIED);
    CHECK_INT(FETCH(&shop, "nonsense%u", .timeout_ms = 60000), ERR_INVALID);
    const struct http_header broken = {"X", "a\r\nHost: b"};
    CHECK_INT(FETCH(&shop, "http://8.8.8.8:%u/", .headers = &broken, .header_count = 1),
              ERR_INVALID);
    CHECK_INT(shop.peak_connections, 0);
    CHECK_INT(FETCH(&shop, "http://127.0.0.1:%u/", .scope = GUARD_OPERATOR), OK);
    shop_close(&shop);
}

TEST(names_are_resolved_by_us)
{
    struct shop shop;
    shop_open(&shop, "127.0.0.1 [::1]", NULL, NULL);
    CHECK_INT(FETCH(&shop, "http://localhost:%u/x", .timeout_ms = 60000), OK);
    CHECK_INT(shop.status, 200);
    shop_close(&shop);
}

TEST(an_answer_that_does_not_come_is_a_timeout)
{
    struct shop shop;
    shop_open(&shop, "127.0.0.1", NULL, NULL);
    CHECK_INT(FETCH(&shop, "http://127.0.0.1:%u/hold", .timeout_ms = 30), ERR_TIMEOUT);
    CHECK_INT(shop.status, 0);
    CHECK_INT(shop.done_count, 1);
    shop_close(&shop);
}

TEST(a_closed_port_is_a_fault)
{
    struct shop shop;
    shop_open(&shop, "127.0.0.1", NULL, NULL);
    struct http_server *server = TAKE(shop.server);
    struct net_addr addr = http_server_address(server);
    http_server_close(server);
    AUTO_MEM char *url = mem_printf("http://127.0.0.1:%u/", addr.port);
    const struct http_fetch_request request = {.method = "GET", .url = url};
    const struct http_fetch_fns fns = {NULL, on_done};
    http_fetch_start(shop.client, &request, &fns, &shop);
    turn_until_set(shop.loop, &shop.is_done);
    CHECK_INT(shop.fault.err, ERR_IO);
    CHECK_INT(shop.status, 0);
    shop_close(&shop);
}

TEST(long_answers_are_cut_or_refused)
{
    struct shop shop;
    shop_open(&shop, "127.0.0.1", NULL, NULL);
    CHECK_INT(FETCH(&shop, "http://127.0.0.1:%u/big", .max_body_bytes = 1000), ERR_LIMIT);
    CHECK_INT(FETCH(&shop, "http://127.0.0.1:%u/big", .max_body_bytes = 1000, .cut_body = true),
              OK);
    CHECK_INT(shop.body.len, 1000);
    CHECK(shop.is_cut && shop.status == 200);
    CHECK_INT(FETCH(&shop, "http://127.0.0.1:%u/big", .max_body_bytes = 100000), OK);
    CHECK_INT(shop.body.len, 100000);
    shop_close(&shop);
}

TEST(streams_arrive_piece_by_piece_and_can_be_stopped)
{
    static const char stream[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                                 "6\r\ndata: \r\n3\r\n1\n\n\r\n0\r\n\r\n";
    static const char endless[] = "HTTP/1.1 200 OK\r\n\r\ndata: 1\n\n";
    struct shop shop;
    shop_open(&shop, "127.0.0.1", NULL, NULL);
    CHECK_INT(FETCH_RAW(&shop, true, stream, .timeout_ms = 60000), OK);
    CHECK_TEXT(shop.streamed.data, "data: 1\n\n");
    shop.stop_after = 1;
    CHECK_INT(FETCH_RAW(&shop, true, endless, .timeout_ms = 60000), ERR_CLOSED);
    CHECK_INT(FETCH_RAW(&shop, true, endless, .stall_ms = 30), ERR_TIMEOUT);
    CHECK_INT(FETCH_RAW(&shop, true, "HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno"), OK);
    CHECK_INT(shop.status, 500);
    CHECK_TEXT(shop.body.data, "no");
    shop_close(&shop);
}

TEST(broken_answers_are_faults)
{
    static const char *const answers[] = {
        "SSH-2.0-OpenSSH\r\n", "\x15\x03\x01\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"};
    struct shop shop;
    shop_open(&shop, "127.0.0.1", NULL, NULL);
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
        CHECK_INT(FETCH_RAW(&shop, false, answers[i], .timeout_ms = 60000), ERR_IO);
    shop_close(&shop);
}

TEST(a_cancelled_fetch_says_nothing)
{
    struct shop shop;
    shop_open(&shop, "127.0.0.1", NULL, NULL);
    shop_start(&shop, (struct http_fetch_request){0}, "http://127.0.0.1:%u/x", false, false);
    http_fetch_cancel(shop.fetch);
    CHECK_INT(FETCH(&shop, "http://127.0.0.1:%u/y"), OK);
    shop_start(&shop, (struct http_fetch_request){0}, "http://127.0.0.1:%u/hold", false, false);
    shop.is_done = false;
    while (!shop.held) {
        shop_start(&shop, (struct http_fetch_request){0}, "http://127.0.0.1:%u/z", false, false);
        turn_until_set(shop.loop, &shop.is_done);
    }
    int before = shop.done_count;
    CHECK(before >= 2);
    shop_close(&shop); /* with the held one under way */
}

TEST(certificates_are_verified)
{
    char dir[] = "/tmp/earshot-client-XXXXXX";
    const char *const names[] = {"localhost"};
    AUTO_BUF cert = BUF_INIT(10000);
    AUTO_BUF key = BUF_INIT(10000);
    REQUIRE(mkdtemp(dir) && tls_self_signed(names, 1, &cert, &key, NULL) == OK);
    AUTO_MEM char *cert_path = mem_printf("%s/cert.pem", dir);
    AUTO_MEM char *key_path = mem_printf("%s/key.pem", dir);
    FILE *file = fopen(cert_path, "w");
    fputs(cert.data, file);
    fclose(file);
    file = fopen(key_path, "w");
    fputs(key.data, file);
    fclose(file);
    AUTO(tls_context) tls = NULL;
    REQUIRE(tls_server_new(cert_path, key_path, &tls, NULL) == OK);
    struct shop shop;
    shop_open(&shop, "127.0.0.1 ::1", tls, cert_path);
    CHECK_INT(FETCH(&shop, "https://localhost:%u/x", .timeout_ms = 60000), OK);
    CHECK_INT(shop.status, 200);
    CHECK_INT(FETCH(&shop, "https://127.0.0.1:%u/x", .timeout_ms = 60000), ERR_IO);
    shop_close(&shop);
    shop_open(&shop, "127.0.0.1 ::1", tls, NULL);
    CHECK_INT(FETCH(&shop, "https://localhost:%u/x", .timeout_ms = 60000), ERR_IO);
    shop_close(&shop);
    unlink(cert_path);
    unlink(key_path);
    rmdir(dir);
}

enum { STALL_MS = 500 }; /* more than a machine may hold up the loop between two turns */

/* Two streams whose answers arrive in one turn: the one that is read first cancels the other. */
struct race {
    struct loop *loop;
    struct racer {
        struct race *race;
        struct stream *stream;
        struct http_fetch *fetch;
    } racers[2];
    size_t accepted, asked;
    bool both_have_asked, is_done;
    struct timer after;
};

static void on_race_request(void *arg)
{
    struct race *race = arg;
    race->both_have_asked = ++race->asked == 2;
}

static void on_race_accept(void *arg, int take_fd, const struct net_addr *peer)
{
    static const struct stream_fns fns = {.on_read = on_race_request};
    struct race *race = arg;
    (void)peer;
    struct stream *stream = stream_open(race->loop, take_fd, NULL);
    race->racers[race->accepted++].stream = stream;
    stream_set(stream, &fns, race);
}

static int on_race_data(void *arg, int status, const char *data, size_t len)
{
    struct racer *racer = arg;
    struct racer *other = &racer->race->racers[racer == racer->race->racers];
    (void)status, (void)data, (void)len;
    http_fetch_cancel(TAKE(other->fetch));
    return 0;
}

static void on_race_done(void *arg, const struct http_fetch_result *result)
{
    struct racer *racer = arg;
    CHECK(racer->fetch != NULL); /* not the cancelled one */
    CHECK_INT(result->fault.err, ERR_TIMEOUT);
    timer_set_after(&racer->race->after, 2 * STALL_MS * 1000);
}

static void on_race_over(void *arg)
{
    ((struct race *)arg)->is_done = true;
}

TEST(a_fetch_cancelled_while_its_headers_arrive_is_touched_no_more)
{
    static const struct http_fetch_fns fns = {on_race_data, on_race_done};
    struct shop shop;
    struct race race = {0};
    struct listener *listener;
    shop_open(&shop, "127.0.0.1", NULL, NULL);
    race.loop = shop.loop;
    timer_init(&race.after, shop.loop, on_race_over, &race);
    const struct net_addr bind = net_addr_ipv4(127, 0, 0, 1, 0);
    REQUIRE(listener_open(shop.loop, &bind, on_race_accept, &race, &listener, NULL) == OK);
    AUTO_MEM char *url = mem_printf("http://127.0.0.1:%u/", listener_address(listener).port);
    const struct http_fetch_request request = {.method = "GET", .url = url, .stall_ms = STALL_MS};
    for (size_t i = 0; i < 2; i++) {
        race.racers[i].race = &race;
        race.racers[i].fetch = http_fetch_start(shop.client, &request, &fns, &race.racers[i]);
    }
    turn_until_set(shop.loop, &race.both_have_asked);
    static const char answer[] = "HTTP/1.1 200 OK\r\n\r\nfirst";
    for (size_t i = 0; i < 2; i++)
        CHECK_INT(stream_write(race.racers[i].stream, answer, sizeof(answer) - 1), OK);
    turn_until_set(shop.loop, &race.is_done); /* the stall of the cancelled one would be due */
    for (size_t i = 0; i < 2; i++)
        stream_abort(race.racers[i].stream);
    listener_close(listener);
    shop_close(&shop);
}
