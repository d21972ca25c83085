/* The HTTP client between tenants, and against servers that wish it ill. What is checked is a
 * count, a bound or an order, never how long something took. */
#include <malloc.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "hostile_server.h"
#include "name_server.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "net/resolver.h"
#include "net/tls.h"
#include "pem_files.h"
#include "turn.h"

#define GOOD_ANSWER "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

struct shop {
    struct loop *loop;
    struct guard *guard;
    struct name_server names;
    struct resolver *resolver;
    struct http_client *client;
    struct hostile_server good, bad;
    int done, bad_done, bad_busy;
    bool is_done;
    struct fault fault;
    int status;
    size_t body_len;
};

static void shop_open(struct shop *shop, struct fair_limits tenants)
{
    shop->loop = loop_new("test");
    name_server_open(&shop->names, shop->loop);
    REQUIRE(guard_new("127.0.0.0/8", &shop->guard, NULL) == OK);
    REQUIRE(resolver_new(shop->loop, shop->guard, shop->names.address, &shop->resolver, NULL) ==
            OK);
    const struct http_client_config config = {.resolver = shop->resolver, .tenants = tenants};
    shop->client = http_client_new(shop->loop, &config);
    shop->good.first = GOOD_ANSWER;
    hostile_server_open(&shop->good, shop->loop);
    hostile_server_open(&shop->bad, shop->loop);
}

static void shop_close(struct shop *shop)
{
    http_client_free(shop->client);
    resolver_free(shop->resolver);
    hostile_server_close(&shop->good);
    hostile_server_close(&shop->bad);
    name_server_close(&shop->names);
    loop_free(shop->loop);
    guard_free(shop->guard);
}

static void on_done(void *arg, const struct http_fetch_result *result)
{
    struct shop *shop = arg;
    shop->fault = result->fault;
    shop->status = result->status;
    shop->body_len = result->body_len;
    shop->done++;
    shop->is_done = true;
}

static void on_bad_done(void *arg, const struct http_fetch_result *result)
{
    struct shop *shop = arg;
    shop->bad_done += result->fault.err != ERR_BUSY;
    shop->bad_busy += result->fault.err == ERR_BUSY;
}

static struct http_fetch *start(struct shop *shop, const char *tenant, const char *host,
                                const struct hostile_server *server,
                                void (*done)(void *arg, const struct http_fetch_result *result))
{
    const struct http_fetch_fns fns = {NULL, done};
    AUTO_MEM char *url = mem_printf("http://%s:%u/", host, server->port);
    const struct http_fetch_request request = {
        .method = "GET", .url = url, .tenant = tenant, .timeout_ms = 60000};
    return http_fetch_start(shop->client, &request, &fns, shop);
}

static void await(struct shop *shop)
{
    shop->is_done = false;
    turn_until_set(shop->loop, &shop->is_done);
}

static enum err fetch_good(struct shop *shop, const char *tenant)
{
    start(shop, tenant, "127.0.0.1", &shop->good, on_done);
    await(shop);
    return shop->fault.err;
}

TEST(owners_never_share_a_connection)
{
    struct shop shop = {0};
    shop_open(&shop, (struct fair_limits){0});
    for (int i = 0; i < 3; i++) {
        CHECK_INT(fetch_good(&shop, "ws_1"), OK);
        CHECK_INT(fetch_good(&shop, "ws_2"), OK);
        CHECK_INT(fetch_good(&shop, NULL), OK);
    }
    CHECK_INT(shop.good.requests, 9);
    CHECK_INT(shop.good.accepted, 3); /* each owner has used its own one again */
    shop_close(&shop);
}

TEST(endpoints_that_hang_delay_only_their_own_tenant)
{
    enum { MANY = 50, UNDER_WAY = 4, WAITING = 30 };
    struct shop shop = {0};
    struct http_fetch *hanging[MANY];
    shop_open(&shop, (struct fair_limits){.running_per_key = UNDER_WAY,
                                          .running = 2 * UNDER_WAY,
                                          .waiting_per_key = WAITING});
    for (int i = 0; i < MANY; i++)
        hanging[i] = start(&shop, "ws_hostile", "127.0.0.1", &shop.bad, on_bad_done);
    CHECK_INT(fetch_good(&shop, "ws_2"), OK);
    CHECK_INT(fetch_good(&shop, NULL), OK);
    for (int i = 0; i < 2 * UNDER_WAY; i++)
        CHECK_INT(fetch_good(&shop, "ws_3"), OK);
    CHECK_INT(shop.bad_done, 0);
    CHECK_INT(shop.bad.accepted, UNDER_WAY);
    CHECK_INT(shop.bad_busy, MANY - UNDER_WAY - WAITING);
    shop.bad.first = GOOD_ANSWER;
    for (int i = 0; i < UNDER_WAY; i++) /* their places go to those that wait */
        http_fetch_cancel(hanging[i]);
    while (shop.bad_done < WAITING)
        CHECK_INT(fetch_good(&shop, "ws_2"), OK);
    CHECK_INT(shop.bad_done, WAITING);
    shop_close(&shop);
}

TEST(waiting_for_a_turn_counts_to_the_time)
{
    struct shop shop = {0};
    shop_open(&shop, (struct fair_limits){.running_per_key = 1});
    start(&shop, "ws_1", "127.0.0.1", &shop.bad, on_bad_done);
    const struct http_fetch_fns fns = {NULL, on_done};
    AUTO_MEM char *url = mem_printf("http://127.0.0.1:%u/", shop.good.port);
    const struct http_fetch_request request = {
        .method = "GET", .url = url, .tenant = "ws_1", .timeout_ms = 30};
    http_fetch_start(shop.client, &request, &fns, &shop);
    await(&shop);
    CHECK_INT(shop.fault.err, ERR_TIMEOUT);
    CHECK(strstr(shop.fault.text, "behind others of the workspace"));
    CHECK_INT(shop.good.accepted, 0);
    shop_close(&shop);
}

TEST(a_client_that_stops_ends_what_waits)
{
    struct shop shop = {0};
    shop_open(&shop, (struct fair_limits){.running_per_key = 1});
    start(&shop, "ws_1", "127.0.0.1", &shop.bad, on_bad_done);
    start(&shop, "ws_1", "127.0.0.1", &shop.bad, on_bad_done);
    http_client_stop(shop.client);
    CHECK_INT(fetch_good(&shop, "ws_2"), ERR_CLOSED);
    CHECK_INT(shop.bad_done, 2);
    shop_close(&shop);
}

static void fetch_hostile(struct shop *shop, int64_t timeout_ms, bool cut)
{
    const struct http_fetch_fns fns = {NULL, on_done};
    AUTO_MEM char *url = mem_printf("http://127.0.0.1:%u/", shop->bad.port);
    const struct http_fetch_request request = {.method = "GET",
                                               .url = url,
                                               .tenant = "ws_1",
                                               .timeout_ms = timeout_ms,
                                               .max_body_bytes = 64 * 1024,
                                               .cut_body = cut,
                                               .wants_headers = true};
    http_fetch_start(shop->client, &request, &fns, shop);
    await(shop);
}

#define LONG_LINE                                                                                  \
    "X-Filler: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n"

TEST(what_a_server_can_send_is_bounded)
{
    enum { MOST_BYTES = 16 * 1024 * 1024 /* the sockets' own buffers included */ };
    static const struct {
        const char *what, *first, *again;
        bool cuts;
        enum err err;
    } rows[] = {
        {"endless headers", "HTTP/1.1 200 OK\r\n", LONG_LINE, true, ERR_LIMIT},
        {"short headers", "HTTP/1.1 200 OK\r\n", "a:\r\n", true, ERR_LIMIT},
        {"one endless header", "HTTP/1.1 200 OK\r\nX: ", "aaaaaaaaaaaaaaaaaaaaaaaaa", true, ERR_IO},
        {"interim answers", "", "HTTP/1.1 100 Continue\r\n\r\n", true, ERR_LIMIT},
        {"interim answers with headers", "", "HTTP/1.1 103 Early\r\n" LONG_LINE "\r\n", true,
         ERR_LIMIT},
        {"no status line", "", "aaaaaaaaaaaaaaaaaaaaaaa", true, ERR_IO},
        {"a chunk extension", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;",
         "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", true, ERR_LIMIT},
        {"chunks of one byte", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
         "1\r\nx\r\n", true, OK},
        {"endless trailers", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
         LONG_LINE, true, ERR_LIMIT},
        {"an endless body", "HTTP/1.1 200 OK\r\n\r\n", "aaaaaaaaaaaaaaaaaaaaaaaaaaaa", true, OK},
        {"an endless body refused", "HTTP/1.1 200 OK\r\n\r\n", "aaaaaaaaaaaaaaaaaaaa", false,
         ERR_LIMIT},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct shop shop = {0};
        shop_open(&shop, (struct fair_limits){0});
        shop.bad.first = rows[i].first;
        shop.bad.again = rows[i].again;
        fetch_hostile(&shop, 60000, rows[i].cuts);
        bool is_right = CHECK_INT(shop.fault.err, rows[i].err) && CHECK(shop.body_len <= 65536) &&
                        CHECK(shop.bad.sent_bytes < MOST_BYTES) &&
                        CHECK_INT(fetch_good(&shop, "ws_1"), OK);
        if (!is_right)
            test_fail(__FILE__, __LINE__, "%s: %s; sent %zu", rows[i].what, shop.fault.text,
                      shop.bad.sent_bytes);
        shop_close(&shop);
    }
}

TEST(a_server_that_is_slow_or_silent_meets_the_limit)
{
    static const struct {
        const char *first;
        int64_t pause_us;
        bool closes;
        enum err err;
    } rows[] = {
        {NULL, 0, false, ERR_TIMEOUT},
        {"HTTP/1.1 200 OK\r\nX-Slow: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 10000, false, ERR_TIMEOUT},
        {"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nabc", 0, false, ERR_TIMEOUT},
        {"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nabc", 0, true, ERR_IO},
        {"HTTP/1.1 200", 0, true, ERR_IO},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct shop shop = {0};
        shop_open(&shop, (struct fair_limits){0});
        shop.bad.first = rows[i].first;
        shop.bad.pause_us = rows[i].pause_us;
        shop.bad.closes = rows[i].closes;
        fetch_hostile(&shop, rows[i].closes ? 60000 : 150, true);
        CHECK_INT(shop.fault.err, rows[i].err);
        CHECK_INT(fetch_good(&shop, "ws_1"), OK);
        shop_close(&shop);
    }
}

/* 10,000 zeros as gzip: 45 bytes. */
static const char zeros_as_gzip[] =
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xed\xc1\x01\x0d\x00\x00\x00\xc2\xa0\xf7\x4f\x6d\x0e"
    "\x37\xa0\x00\x00\x00\x00\x00\x00\x00\x00\x80\x37\x03\x9a\xde\x1d\x27\x10\x27\x00\x00";

TEST(what_is_packed_stays_packed)
{
    struct shop shop = {0};
    AUTO_BUF answer = BUF_INIT(1000);
    shop_open(&shop, (struct fair_limits){0});
    buf_append_str(&answer,
                   "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 44\r\n\r\n");
    buf_append(&answer, zeros_as_gzip, 44);
    shop.bad.first = answer.data;
    shop.bad.first_len = answer.len;
    fetch_hostile(&shop, 60000, true);
    CHECK_INT(shop.fault.err, OK);
    CHECK_INT(shop.body_len, 44);
    shop_close(&shop);
}

TEST(idle_pools_are_few)
{
    struct shop shop = {0};
    shop_open(&shop, (struct fair_limits){0});
    for (int i = 0; i < 300; i++) {
        char tenant[16];
        snprintf(tenant, sizeof(tenant), "ws_%d", i);
        CHECK_INT(fetch_good(&shop, tenant), OK);
    }
    int before = shop.good.accepted;
    CHECK_INT(fetch_good(&shop, "ws_299"), OK); /* still has its connection */
    CHECK_INT(shop.good.accepted, before);
    CHECK_INT(fetch_good(&shop, "ws_0"), OK); /* had to go */
    CHECK_INT(shop.good.accepted, before + 1);
    shop_close(&shop);
}

static void fetch_hosts(struct shop *shop, int from, int count)
{
    for (int i = from; i < from + count; i++) {
        char host[32];
        snprintf(host, sizeof(host), "h%d.example", i);
        start(shop, "ws_1", host, &shop->good, on_done);
        await(shop);
        CHECK_INT(shop->fault.err, OK);
    }
}

TEST(names_that_were_used_leave_nothing_behind)
{
    enum { HOSTS = 256 }; /* after so many the pool is replaced */
    static const uint8_t here[][4] = {{127, 0, 0, 1}};
    struct shop shop = {0};
    shop_open(&shop, (struct fair_limits){0});
    name_server_say(&shop.names, 1, here); /* with a TTL of 0: the name cache is no matter */
    fetch_hosts(&shop, 0, HOSTS + 1);
    size_t before = mallinfo2().uordblks;
    fetch_hosts(&shop, HOSTS + 1, 4 * HOSTS);
#ifndef __SANITIZE_ADDRESS__
    CHECK(mallinfo2().uordblks < before + 64 * 1024); /* libcurl keeps 550 bytes of each */
#endif
    (void)before;
    shop_close(&shop);
}

static void answer_yes(void *arg, struct http_exchange *exchange)
{
    static const struct http_answer answer = {.status = 200, .body = "yes", .body_len = 3};
    (void)arg;
    http_answer(exchange, &answer);
}

static void fetch_from(struct shop *shop, struct http_client *client, const char *tenant,
                       uint16_t port)
{
    const struct http_fetch_fns fns = {NULL, on_done};
    AUTO_MEM char *url = mem_printf("https://127.0.0.1:%u/", port);
    const struct http_fetch_request request = {
        .method = "GET", .url = url, .tenant = tenant, .timeout_ms = 60000};
    http_fetch_start(client, &request, &fns, shop);
    await(shop);
}

TEST(authorities_are_read_once_and_not_for_each_connection)
{
    static const struct http_handler handler = {NULL, answer_yes};
    struct pem_files files;
    struct shop shop = {0};
    AUTO(tls_context) server_tls = NULL, *client_tls = NULL;
    struct http_server *server;
    shop_open(&shop, (struct fair_limits){0});
    REQUIRE(pem_files_make(&files, "localhost"));
    REQUIRE(tls_server_new(files.cert, files.key, &server_tls, NULL) == OK);
    REQUIRE(tls_client_new(files.cert, &client_tls, NULL) == OK);
    const struct http_server_config config = {.bind = net_addr_ipv4(127, 0, 0, 1, 0),
                                              .tls = server_tls};
    REQUIRE(http_server_open(shop.loop, &config, &handler, NULL, &server, NULL) == OK);
    const struct http_client_config clients = {.resolver = shop.resolver, .tls = client_tls};
    struct http_client *client = http_client_new(shop.loop, &clients);
    pem_files_remove(&files); /* whoever reads them now has none */
    fetch_from(&shop, client, "ws_1", http_server_address(server).port);
    CHECK_INT(shop.fault.err, OK);
    fetch_from(&shop, client, "ws_2", http_server_address(server).port);
    CHECK_INT(shop.fault.err, OK);
    fetch_from(&shop, shop.client, "ws_1", http_server_address(server).port);
    CHECK_INT(shop.fault.err, ERR_IO); /* a client with the system's authorities alone */
    http_client_free(client);
    http_server_close(server);
    shop_close(&shop);
    tls_context_free(TAKE(client_tls));
}

/* An address of this machine that lets nobody in: it listens, and all of its places are taken. */
struct crowded {
    int listener, visitors[4];
};

static void crowded_open(struct crowded *crowded, uint32_t ip, uint16_t port)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(port)};
    name.sin_addr.s_addr = htonl(ip);
    crowded->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(bind(crowded->listener, (struct sockaddr *)&name, sizeof(name)) == 0);
    REQUIRE(listen(crowded->listener, 0) == 0);
    for (size_t i = 0; i < ARRAY_LEN(crowded->visitors); i++) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        connect(fd, (struct sockaddr *)&name, sizeof(name));
        crowded->visitors[i] = fd;
    }
}

static void crowded_close(struct crowded *crowded)
{
    for (size_t i = 0; i < ARRAY_LEN(crowded->visitors); i++)
        close(crowded->visitors[i]);
    close(crowded->listener);
}

static struct http_fetch *start_connecting(struct shop *shop, const char *host)
{
    const struct http_fetch_fns fns = {NULL, on_done};
    AUTO_MEM char *url = mem_printf("http://%s:%u/", host, shop->good.port);
    const struct http_fetch_request request = {
        .method = "GET", .url = url, .tenant = "ws_1", .timeout_ms = 60000, .connect_ms = 6000};
    return http_fetch_start(shop->client, &request, &fns, shop);
}

TEST(an_address_that_refuses_yields_to_the_next)
{
    static const uint8_t both[][4] = {{127, 0, 0, 2}, {127, 0, 0, 1}};
    struct shop shop = {0};
    shop_open(&shop, (struct fair_limits){0});
    name_server_say(&shop.names, 2, both);
    start_connecting(&shop, "a.example");
    await(&shop);
    CHECK_INT(shop.fault.err, OK);
    CHECK_INT(shop.status, 200);
    shop_close(&shop);
}

/* It has half of the time for connecting. */
TEST(an_address_that_lets_nobody_in_yields_to_the_next)
{
    static const uint8_t both[][4] = {{127, 0, 0, 2}, {127, 0, 0, 1}};
    struct shop shop = {0};
    struct crowded crowded;
    shop_open(&shop, (struct fair_limits){0});
    crowded_open(&crowded, 0x7F000002, shop.good.port);
    name_server_say(&shop.names, 2, both);
    start_connecting(&shop, "a.example");
    await(&shop);
    CHECK_INT(shop.fault.err, OK);
    CHECK_INT(shop.status, 200);
    crowded_close(&crowded);
    shop_close(&shop);
}

TEST(a_fetch_given_up_while_it_connects_leaves_no_watch)
{
    static const uint8_t first[][4] = {{127, 0, 0, 2}};
    struct shop shop = {0};
    struct crowded crowded;
    shop_open(&shop, (struct fair_limits){0});
    crowded_open(&crowded, 0x7F000002, shop.good.port);
    name_server_say(&shop.names, 1, first);
    struct http_fetch *given_up = start_connecting(&shop, "a.example");
    CHECK_INT(fetch_good(&shop, "ws_1"), OK); /* by now the other one is on its way */
    http_fetch_cancel(given_up);
    CHECK_INT(fetch_good(&shop, "ws_1"), OK);
    crowded_close(&crowded);
    shop_close(&shop);
}
