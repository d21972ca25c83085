#include "net/http_server.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/mem.h"
#include "net/http_conn.h"
#include "net/stream.h"
#include "turn.h"

/* A server with a few routes, and a client that writes raw bytes and keeps what comes back. */
struct site {
    struct loop *loop;
    struct http_server *server;
    struct stream *client;
    struct buf got;
    const char *wanted; /* in what came back */
    bool is_closed;
    struct http_exchange *held; /* by /hold */
    bool is_held;
    struct http_exchange *piecewise; /* by /pieces */
    int pieces_left, pieces_wanted;
    size_t piece_len;
    bool cuts, is_gone;
    struct stream_state upgraded;
    bool is_upgraded;
    int requests;
    struct http_exchange *asked; /* by /late */
    int gone;
    size_t long_bytes;            /* of /long */
    size_t body_bytes, body_room; /* 0: any */
};

static void answer_text(struct http_exchange *exchange, int status, const char *text)
{
    const struct http_answer answer = {.status = status, .body = text, .body_len = strlen(text)};
    http_answer(exchange, &answer);
}

static void answer_body(struct http_exchange *exchange)
{
    const struct http_request *request = http_exchange_request(exchange);
    char *text = arena_printf(http_exchange_arena(exchange), "state %d len %zu body %.20s",
                              (int)request->body_state, request->body_len,
                              request->body ? request->body : "none");
    answer_text(exchange, request->body_state == HTTP_BODY_TOO_LONG ? 413 : 200, text);
}

static void answer_file_size(struct http_exchange *exchange)
{
    const struct http_request *request = http_exchange_request(exchange);
    char *text = arena_printf(http_exchange_arena(exchange), "file %ld",
                              (long)lseek(request->body_fd, 0, SEEK_END));
    answer_text(exchange, 200, text);
}

static void answer_from_file(struct http_exchange *exchange)
{
    FILE *file = tmpfile();
    char *zeros = mem_zalloc(300000);
    fwrite(zeros, 1, 300000, file);
    mem_free(zeros);
    fputs("end of file", file);
    fflush(file);
    const struct http_answer answer = {
        .status = 200, .file_fd = dup(fileno(file)), .file_len = 300011};
    lseek(answer.file_fd, 0, SEEK_SET);
    fclose(file);
    http_answer(exchange, &answer);
}

/* Pieces of one letter each: a, b, c, ...; the last one is told with the end. */
static void on_wanted(void *arg)
{
    struct site *site = arg;
    AUTO_MEM char *piece = mem_zalloc(site->piece_len + 1);
    memset(piece, 'a' + ++site->pieces_wanted, site->piece_len);
    if (--site->pieces_left > 0)
        http_answer_piece(site->piecewise, piece, site->piece_len);
    else if (site->cuts)
        http_answer_cut(TAKE(site->piecewise));
    else
        http_answer_end(TAKE(site->piecewise), piece, site->piece_len);
}

static void on_pieces_gone(void *arg)
{
    struct site *site = arg;
    site->piecewise = NULL;
    site->is_gone = true;
}

static void answer_in_pieces(struct site *site, struct http_exchange *exchange)
{
    static const struct http_pieces_fns fns = {on_wanted, on_pieces_gone};
    AUTO_MEM char *first = mem_zalloc(site->piece_len + 1);
    memset(first, 'a', site->piece_len);
    const struct http_answer answer = {.status = 200, .body = first, .body_len = site->piece_len};
    site->piecewise = exchange;
    site->pieces_wanted = 0;
    if (!http_answer_begin(exchange, &answer, &fns, site))
        site->piecewise = NULL;
}

static void answer_long(struct http_exchange *exchange, size_t len)
{
    static const char last[] = "end of it";
    char *text = mem_zalloc(len + 1);
    memset(text, 'x', len);
    memcpy(text + len - sizeof(last) + 1, last, sizeof(last) - 1);
    const struct http_answer answer = {.status = 200, .take_body = text, .body_len = len};
    http_answer(exchange, &answer);
}

static void on_request(void *arg, struct http_exchange *exchange)
{
    struct site *site = arg;
    const char *path = http_exchange_request(exchange)->path;
    site->requests++;
    if (strcmp(path, "/hold") == 0) {
        site->held = exchange;
        site->is_held = true;
    } else if (strcmp(path, "/ws") == 0) {
        CHECK(http_exchange_request(exchange)->wants_upgrade);
        CHECK(http_upgrade(exchange, &site->upgraded) == OK);
        site->is_upgraded = true;
    } else if (strcmp(path, "/file") == 0) {
        answer_file_size(exchange);
    } else if (strcmp(path, "/download") == 0) {
        answer_from_file(exchange);
    } else if (strcmp(path, "/pieces") == 0) {
        answer_in_pieces(site, exchange);
    } else if (strcmp(path, "/long") == 0) {
        answer_long(exchange, site->long_bytes);
    } else if (strcmp(path, "/missing") == 0) {
        http_answer_error(exchange, 404, "NOT_FOUND", "no \"such\" thing");
    } else {
        answer_body(exchange);
    }
}

static void on_head(void *arg, struct http_exchange *exchange)
{
    const char *path = http_exchange_request(exchange)->path;
    struct site *site = arg;
    if (strcmp(path, "/early") == 0)
        answer_text(exchange, 401, "early");
    else if (strcmp(path, "/late") == 0)
        site->asked = exchange;
    else if (strcmp(path, "/file") == 0)
        http_body_want(exchange, &(struct http_body_choice){HTTP_BODY_FILE, 1000000});
    else
        http_body_want(exchange, &(struct http_body_choice){HTTP_BODY_MEMORY, 1000});
}

static void on_gone(void *arg, struct http_exchange *exchange)
{
    (void)exchange;
    ((struct site *)arg)->gone++;
}

static bool on_body(void *arg, struct http_exchange *exchange, size_t more_bytes)
{
    struct site *site = arg;
    (void)exchange;
    site->body_bytes += more_bytes;
    return site->body_room == 0 || site->body_bytes <= site->body_room;
}

static void client_on_read(void *arg)
{
    struct site *site = arg;
    size_t len;
    const char *data = stream_peek(site->client, &len);
    buf_append(&site->got, data, len);
    stream_consume(site->client, len);
}

static void client_on_closed(void *arg, enum err reason)
{
    (void)reason;
    ((struct site *)arg)->is_closed = true;
}

static void site_connect_from(struct site *site, const char *from)
{
    static const struct stream_fns fns = {client_on_read, NULL, client_on_closed};
    stream_close(site->client);
    site->client = NULL;
    site->is_closed = false;
    buf_reset(&site->got);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET};
    to.sin_addr.s_addr = inet_addr(from);
    REQUIRE(bind(fd, (struct sockaddr *)&to, sizeof(to)) == 0);
    to.sin_port = htons(http_server_address(site->server).port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0);
    REQUIRE(fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
    site->client = stream_open(site->loop, fd, NULL);
    stream_set(site->client, &fns, site);
}

static void site_connect(struct site *site)
{
    site_connect_from(site, "127.0.0.1");
}

static void site_open(struct site *site, const struct http_server_config *given)
{
    static const struct http_handler handler = {
        .on_head = on_head, .on_request = on_request, .on_gone = on_gone, .on_body = on_body};
    struct http_server_config config = given ? *given : (struct http_server_config){0};
    config.bind = net_addr_ipv4(127, 0, 0, 1, 0);
    *site = (struct site){.loop = loop_new("site"), .got = BUF_INIT(64 << 20)};
    REQUIRE(http_server_open(site->loop, &config, &handler, site, &site->server, NULL) == OK);
    site_connect(site);
}

static void site_close(struct site *site)
{
    stream_close(site->client);
    http_server_close(site->server);
    if (site->held)
        answer_text(site->held, 200, "nobody is there");
    loop_free(site->loop);
    buf_clear(&site->got);
}

static bool site_has_wanted(void *arg)
{
    struct site *site = arg;
    return strstr(site->got.data ? site->got.data : "", site->wanted);
}

/* Sends and waits until the answers hold `wanted`. */
static bool site_says(struct site *site, const char *send, const char *wanted)
{
    site->wanted = wanted;
    if (!CHECK(stream_write(site->client, send, strlen(send)) == OK))
        return false;
    if (turn_until(site->loop, site_has_wanted, site))
        return true;
    CHECK_TEXT(site->got.data, wanted);
    return false;
}

static bool site_has_no_connection(void *arg)
{
    return http_server_connections(((struct site *)arg)->server) == 0;
}

static int count_in(const char *text, const char *piece)
{
    int count = 0;
    for (; (text = strstr(text, piece)); text++)
        count++;
    return count;
}

#define REQUEST(line) line " HTTP/1.1\r\nHost: x\r\n"

TEST(requests_are_answered_on_one_connection)
{
    struct site site;
    site_open(&site, NULL);
    CHECK(site_says(&site, REQUEST("GET /a") "\r\n", "state 0 len 0 body none"));
    CHECK(strstr(site.got.data, "HTTP/1.1 200 OK\r\n") == site.got.data);
    CHECK(strstr(site.got.data, "\r\nDate: ") && strstr(site.got.data, " GMT\r\n"));
    CHECK(strstr(site.got.data, "\r\nContent-Length: 23\r\n"));
    CHECK(!strstr(site.got.data, "Connection: close"));
    buf_reset(&site.got);
    CHECK(site_says(&site, REQUEST("POST /a") "Content-Length: 5\r\n\r\nhello", "body hello"));
    CHECK_INT(http_server_connections(site.server), 1);
    site_close(&site);
}

TEST(pipelined_requests_are_answered_in_order)
{
    struct site site;
    site_open(&site, NULL);
    CHECK(site_says(
              &site,
              REQUEST("GET /hold") "\r\n" REQUEST("POST /b") "Content-Length: 3\r\n\r\nabc" REQUEST(
                  "GET /missing") "Connection: close\r\n\r\n",
              "") &&
          turn_until_set(site.loop, &site.is_held));
    CHECK_INT(site.requests, 1);
    answer_text(TAKE(site.held), 200, "first");
    CHECK(turn_until_set(site.loop, &site.is_closed));
    const char *first = strstr(site.got.data, "first"), *second = strstr(first, "body abc");
    CHECK(second && strstr(second, "\"error\":\"no \\\"such\\\" thing\",\"code\":\"NOT_FOUND\""));
    CHECK_INT(count_in(site.got.data, "HTTP/1.1 "), 3);
    site_close(&site);
}

TEST(a_chunked_body_arrives_whole)
{
    struct site site;
    site_open(&site, NULL);
    CHECK(site_says(&site,
                    REQUEST("POST /a") "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0"
                                       "\r\n\r\n" REQUEST("GET /b") "\r\n",
                    "body none"));
    CHECK(strstr(site.got.data, "len 5 body abcde"));
    site_close(&site);
}

TEST(head_has_the_length_but_no_body)
{
    struct site site;
    site_open(&site, NULL);
    CHECK(site_says(&site, REQUEST("HEAD /a") "\r\n" REQUEST("GET /missing") "\r\n", "NOT_FOUND"));
    CHECK(strstr(site.got.data, "Content-Length: 23\r\n") && !strstr(site.got.data, "state 0"));
    site_close(&site);
}

TEST(continue_is_sent_before_the_body_and_not_for_one_that_is_too_long)
{
    struct site site;
    site_open(&site, NULL);
    CHECK(site_says(&site, REQUEST("POST /a") "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n",
                    "HTTP/1.1 100 Continue\r\n\r\n"));
    CHECK(site_says(&site, "hi", "body hi"));
    buf_reset(&site.got);
    CHECK(site_says(&site,
                    REQUEST("POST /a") "Expect: 100-continue\r\nContent-Length: 2000\r\n\r\n",
                    "413 Content Too Large"));
    CHECK(!strstr(site.got.data, "100 Continue") && strstr(site.got.data, "Connection: close"));
    site_close(&site);
}

TEST(a_body_over_its_ceiling_still_gets_the_answer)
{
    struct site site;
    site_open(&site, NULL);
    AUTO_BUF big = BUF_INIT(1 << 20);
    buf_append_str(&big, REQUEST("POST /a") "Transfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 2000; i++)
        buf_append_str(&big, "a\r\n0123456789\r\n");
    CHECK(site_says(&site, big.data, "413 Content Too Large"));
    CHECK(turn_until_set(site.loop, &site.is_closed));
    site_close(&site);
}

TEST(a_body_can_be_spooled_to_a_file)
{
    struct site site;
    site_open(&site, NULL);
    AUTO_BUF big = BUF_INIT(1 << 20);
    buf_append_str(&big, REQUEST("POST /file") "Content-Length: 500000\r\n\r\n");
    size_t head_len = big.len;
    buf_reserve(&big, 500000);
    memset(big.data + head_len, 'x', 500000);
    big.len += 500000;
    big.data[big.len] = '\0';
    CHECK(site_says(&site, big.data, "file 500000"));
    site_close(&site);
}

TEST(a_file_can_be_the_answer)
{
    static const char download[] = REQUEST("GET /download") "Connection: close\r\n\r\n";
    struct site site;
    site_open(&site, NULL);
    CHECK(stream_write(site.client, download, strlen(download)) == OK);
    CHECK(turn_until_set(site.loop, &site.is_closed));
    CHECK(site.got.len > 300011);
    CHECK(memcmp(site.got.data + site.got.len - 11, "end of file", 11) == 0);
    site_close(&site);
}

TEST(smuggled_and_malformed_requests_are_refused_and_the_connection_closed)
{
    static const struct {
        const char *send, *wanted;
    } rows[] = {
        {REQUEST("POST /a") "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "400 Bad"},
        {REQUEST("POST /a") "Transfer-Encoding: identity\r\n\r\n", "501 Not"},
        {REQUEST("POST /a") "Transfer-Encoding: chunked\r\n\r\n5\nhello", "400 Bad"},
        {"GET / HTTP/1.1\nHost: x\n\n", "400 Bad"},
        {REQUEST("GET /a") "X: a\r\n b\r\n\r\n", "400 Bad"},
        {"GET / HTTP/3.0\r\n\r\n", "505 HTTP"},
        {REQUEST("POST /early") "Content-Length: 10\r\n\r\n", "401 Unauthorized"},
    };
    struct site site;
    site_open(&site, NULL);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        site_connect(&site);
        CHECK(site_says(&site, rows[i].send, rows[i].wanted));
        CHECK(turn_until_set(site.loop, &site.is_closed));
        if (!CHECK_INT(count_in(site.got.data, "\nDate: "), 1))
            CHECK_TEXT(site.got.data, "one answer");
    }
    CHECK_INT(site.requests, 0);
    site_close(&site);
}

TEST(a_head_over_its_ceiling_is_refused_at_once)
{
    struct site site;
    site_open(&site, NULL);
    AUTO_BUF big = BUF_INIT(1 << 20);
    buf_append_str(&big, REQUEST("GET /a") "X-Long: ");
    for (int i = 0; i < 9000; i++)
        buf_append_str(&big, "0123456789");
    CHECK(site_says(&site, big.data, "431 Request Header Fields Too Large"));
    CHECK(turn_until_set(site.loop, &site.is_closed));
    site_close(&site);
}

TEST(slow_clients_are_told_and_idle_ones_are_not)
{
    struct site site;
    const struct http_server_config config = {.head_ms = 30, .idle_ms = 30, .stall_ms = 30};
    site_open(&site, &config);
    CHECK(site_says(&site, "GET / HT", "408 Request Timeout"));
    CHECK(turn_until_set(site.loop, &site.is_closed));
    site_connect(&site);
    CHECK(site_says(&site, REQUEST("POST /a") "Content-Length: 5\r\n\r\nab", "408 Request"));
    CHECK(turn_until_set(site.loop, &site.is_closed));
    site_connect(&site);
    CHECK(site_says(&site, REQUEST("GET /a") "\r\n", "state 0"));
    buf_reset(&site.got);
    CHECK(turn_until_set(site.loop, &site.is_closed));
    CHECK_INT(site.got.len, 0);
    site_close(&site);
}

TEST(a_client_that_reads_nothing_is_cut)
{
    static const char download[] = REQUEST("GET /download") "\r\n";
    struct site site;
    const struct http_server_config config = {.stall_ms = 50};
    site_open(&site, &config);
    stream_pause(site.client, true);
    for (int i = 0; i < 100; i++) /* 30 MB of answers */
        CHECK(stream_write(site.client, download, strlen(download)) == OK);
    CHECK(turn_until(site.loop, site_has_no_connection, &site));
    site_close(&site);
}

static bool site_is_asked(void *arg)
{
    return ((struct site *)arg)->asked != NULL;
}

static bool site_has_lost_a_body(void *arg)
{
    return ((struct site *)arg)->gone == 1;
}

static const struct http_body_choice in_memory = {HTTP_BODY_MEMORY, 100000};

TEST(no_byte_of_a_body_is_read_before_it_is_wanted)
{
    struct site site;
    site_open(&site, NULL);
    AUTO_BUF body = BUF_INIT(1 << 20);
    buf_append_str(&body, REQUEST("POST /late") "Content-Length: 90000\r\n"
                                                "Expect: 100-continue\r\n\r\n");
    for (int i = 0; i < 9000; i++)
        buf_append_str(&body, "0123456789");
    CHECK(site_says(&site, body.data, "") && turn_until(site.loop, site_is_asked, &site));
    CHECK_INT(site.body_bytes, 0);
    CHECK_INT(site.got.len, 0); /* no 100 Continue either */
    CHECK(http_body_want(TAKE(site.asked), &in_memory));
    CHECK_INT(site.body_bytes, 90000); /* asked for at once, when it is declared */
    CHECK(site_says(&site, REQUEST("GET /b") "\r\n", "body none"));
    CHECK(strstr(site.got.data, "100 Continue") && strstr(site.got.data, "len 90000"));
    site_close(&site);
}

TEST(who_may_not_send_a_body_is_told_at_its_head)
{
    struct site site;
    site_open(&site, NULL);
    CHECK(site_says(&site, REQUEST("POST /late") "Content-Length: 1000000000\r\n\r\nxxxx", "") &&
          turn_until(site.loop, site_is_asked, &site));
    answer_text(TAKE(site.asked), 401, "no key");
    CHECK(turn_until_set(site.loop, &site.is_closed));
    CHECK(strstr(site.got.data, "401 Unauthorized") && strstr(site.got.data, "Connection: close"));
    CHECK_INT(site.body_bytes, 0);
    site_close(&site);
}

TEST(a_client_that_leaves_before_or_within_its_body_leaves_nothing)
{
    static const char half[] = REQUEST("POST /late") "Content-Length: 10\r\n\r\nhalf";
    struct site site;
    site_open(&site, NULL);
    CHECK(site_says(&site, half, "") && turn_until(site.loop, site_is_asked, &site));
    http_body_want(TAKE(site.asked), &in_memory);
    stream_abort(TAKE(site.client));
    CHECK(turn_until(site.loop, site_has_lost_a_body, &site));
    site_connect(&site);
    CHECK(site_says(&site, half, "") && turn_until(site.loop, site_is_asked, &site));
    http_server_drain(site.server);
    http_server_close(site.server);
    site.server = NULL;
    CHECK(!http_body_want(site.asked, &in_memory));
    answer_text(TAKE(site.asked), 200, "nobody is there");
    CHECK_INT(site.requests, 0);
    site_close(&site);
}

TEST(a_body_without_room_is_the_handlers_to_refuse)
{
    static const char *const sends[] = {
        REQUEST("POST /a") "Content-Length: 500\r\n\r\n",
        REQUEST("POST /a") "Transfer-Encoding: chunked\r\n\r\n64\r\n",
    };
    struct site site;
    site_open(&site, NULL);
    AUTO_BUF text = BUF_INIT(10000);
    for (size_t i = 0; i < 2; i++) {
        buf_reset(&text);
        buf_append_str(&text, sends[i]);
        for (int k = 0; k < 50; k++)
            buf_append_str(&text, "0123456789");
        site.body_bytes = 0;
        site.body_room = 99;
        site_connect(&site);
        CHECK(site_says(&site, text.data, "state 3"));
        CHECK(turn_until_set(site.loop, &site.is_closed));
    }
    CHECK_INT(site.gone, 0);
    site_close(&site);
}

TEST(a_body_that_was_quick_may_not_become_slow)
{
    struct site site;
    const struct http_server_config config = {.grace_ms = 100};
    site_open(&site, &config);
    AUTO_BUF big = BUF_INIT(1 << 20);
    buf_append_str(&big, REQUEST("POST /file") "Content-Length: 900000\r\n\r\n");
    for (int i = 0; i < 80000; i++)
        buf_append_str(&big, "0123456789");
    CHECK(site_says(&site, big.data, "408 Request Timeout")); /* 195 s of the least pace */
    CHECK_INT(site.gone, 1);
    site_close(&site);
}

TEST(a_reader_behind_its_least_pace_is_cut)
{
    static const char download[] = REQUEST("GET /download") "\r\n";
    struct site site;
    const struct http_server_config config = {.grace_ms = 50};
    site_open(&site, &config);
    stream_pause(site.client, true);
    for (int i = 0; i < 100; i++)
        CHECK(stream_write(site.client, download, strlen(download)) == OK);
    CHECK(turn_until(site.loop, site_has_no_connection, &site));
    site_close(&site);
}

TEST(long_answers_wait_for_their_readers_within_a_ceiling)
{
    struct site site;
    const struct http_server_config config = {.max_unread_bytes = 1000000};
    site_open(&site, &config);
    site.long_bytes = 900000;
    CHECK(site_says(&site, REQUEST("GET /long") "\r\n", "end of it"));
    buf_reset(&site.got);
    CHECK(site_says(&site, REQUEST("GET /long") "\r\n", "end of it")); /* given back */
    buf_reset(&site.got);
    site.long_bytes = 1100000;
    CHECK(site_says(&site, REQUEST("GET /long") "\r\n", "503 Service Unavailable"));
    buf_reset(&site.got);
    site.long_bytes = HTTP_ANSWER_MAX_BYTES + 1;
    CHECK(site_says(&site, REQUEST("GET /long") "\r\n", "500 Internal Server Error"));
    CHECK(strstr(site.got.data, "INTERNAL_ERROR"));
    site_close(&site);
}

TEST(an_early_answer_leaves_the_request_readable)
{
    struct site site;
    site_open(&site, NULL);
    CHECK(site_says(&site, REQUEST("GET /hold") "X-A: b\r\n\r\n", "") &&
          turn_until_set(site.loop, &site.is_held));
    http_answer_early(site.held, &(struct http_answer){.status = 503});
    CHECK(site_says(&site, REQUEST("GET /b") "\r\n", "body none"));
    CHECK(strstr(site.got.data, "503 Service") && http_exchange_is_gone(site.held));
    CHECK_TEXT(http_exchange_header(site.held, "x-a"), "b");
    answer_text(TAKE(site.held), 200, "too late");
    CHECK(site_says(&site, REQUEST("GET /c") "\r\n", "body none"));
    CHECK(!strstr(site.got.data, "too late"));
    site_close(&site);
}

TEST(what_a_dead_process_has_spooled_is_swept)
{
    char dir[] = "/tmp/spool-XXXXXX", path[64], kept[64];
    REQUIRE(mkdtemp(dir) != NULL);
    snprintf(path, sizeof(path), "%s/body-left", dir);
    snprintf(kept, sizeof(kept), "%s/earshot.db", dir);
    close(open(path, O_CREAT | O_WRONLY, 0600));
    close(open(kept, O_CREAT | O_WRONLY, 0600));
    struct site site;
    const struct http_server_config config = {.spool_dir = dir};
    site_open(&site, &config);
    CHECK(access(path, F_OK) != 0 && access(kept, F_OK) == 0);
    site_close(&site);
    unlink(kept);
    CHECK_INT(rmdir(dir), 0);
}

/* One more client of the same site. */
static void other_open(struct site *other, const struct site *site, const char *from)
{
    *other = *site;
    other->client = NULL;
    other->got = (struct buf)BUF_INIT(100000);
    site_connect_from(other, from);
}

static void other_close(struct site *other)
{
    stream_abort(other->client);
    buf_clear(&other->got);
}

TEST(connections_at_work_are_not_closed_for_new_ones)
{
    struct site site, other;
    const struct http_server_config config = {.max_connections = 1};
    site_open(&site, &config);
    CHECK(site_says(&site, REQUEST("GET /hold") "\r\n", "") &&
          turn_until_set(site.loop, &site.is_held));
    other_open(&other, &site, "127.0.0.1");
    CHECK(turn_until_set(site.loop, &other.is_closed));
    other_close(&other);
    answer_text(TAKE(site.held), 200, "served");
    CHECK(site_says(&site, "", "served"));
    site_close(&site);
}

TEST(idle_connections_of_the_biggest_holder_give_way)
{
    enum { HOARD = 7 };
    struct site site, hoard[HOARD], guest;
    const struct http_server_config config = {.max_connections = 8};
    site_open(&site, &config);
    CHECK(site_says(&site, REQUEST("GET /a") "\r\n", "state 0"));
    for (int i = 0; i < HOARD; i++) { /* half of all places, then the oldest of its own */
        other_open(&hoard[i], &site, "127.0.0.2");
        CHECK(site_says(&hoard[i], REQUEST("GET /a") "\r\n", "state 0"));
    }
    CHECK(http_server_connections(site.server) <= 5);
    CHECK(turn_until_set(site.loop, &hoard[0].is_closed));
    for (int i = 0; i < 5; i++) {
        char ip[16];
        snprintf(ip, sizeof(ip), "127.0.0.%d", 10 + i);
        other_open(&guest, &site, ip);
        CHECK(site_says(&guest, REQUEST("GET /a") "\r\n", "state 0"));
        other_close(&guest);
    }
    buf_reset(&site.got);
    CHECK(site_says(&site, REQUEST("GET /missing") "\r\n", "NOT_FOUND"));
    for (int i = 0; i < HOARD; i++)
        other_close(&hoard[i]);
    site_close(&site);
}

static bool other_gets_in(void *arg)
{
    struct site *other = arg;
    static const char get[] = REQUEST("GET /a") "\r\n";
    if (strstr(other->got.data ? other->got.data : "", "state 0"))
        return true;
    if (other->is_closed)
        site_connect_from(other, "127.0.0.2");
    if (stream_unsent(other->client) == 0)
        stream_write(other->client, get, strlen(get));
    return false;
}

TEST(a_connection_holds_its_place_until_its_socket_is_closed)
{
    struct site site, other;
    const struct http_server_config config = {.max_connections = 1};
    site_open(&site, &config);
    CHECK(site_says(&site, REQUEST("POST /early") "Content-Length: 100000\r\n\r\n", "early"));
    CHECK(turn_until(site.loop, site_has_no_connection, &site)); /* it drains for 2 s */
    other_open(&other, &site, "127.0.0.2");
    CHECK(turn_until_set(site.loop, &other.is_closed));
    stream_abort(TAKE(site.client));
    CHECK(turn_until(site.loop, other_gets_in, &other));
    other_close(&other);
    site_close(&site);
}

TEST(a_half_closed_client_gets_its_answer_and_one_that_left_harms_nothing)
{
    struct site site;
    site_open(&site, NULL);
    CHECK(site_says(&site, REQUEST("GET /hold") "\r\n", "") &&
          turn_until_set(site.loop, &site.is_held));
    stream_abort(TAKE(site.client));
    answer_text(TAKE(site.held), 200, "nobody is there");
    site_connect(&site);
    CHECK(site_says(&site, REQUEST("GET /a") "\r\n", "state 0"));
    site_close(&site);
}

TEST(an_upgrade_hands_the_connection_over_with_what_came_behind)
{
    struct site site;
    site_open(&site, NULL);
    CHECK(
        site_says(&site, REQUEST("GET /ws") "Connection: Upgrade\r\nUpgrade: x\r\n\r\nEARLY", ""));
    CHECK(turn_until_set(site.loop, &site.is_upgraded));
    CHECK_INT(http_server_connections(site.server), 0);
    CHECK_TEXT(site.upgraded.unread, "EARLY");
    CHECK_INT(write(site.upgraded.fd, "101!", 4), 4);
    CHECK(site_says(&site, "x", "101!"));
    stream_state_clear(&site.upgraded);
    site_close(&site);
}

/* Whoever has it now, perhaps on another loop, may keep the socket for hours. */
TEST(an_upgraded_connection_holds_its_place_until_it_is_closed)
{
    struct site site, other;
    const struct http_server_config config = {.max_connections = 1};
    site_open(&site, &config);
    CHECK(site_says(&site, REQUEST("GET /ws") "Connection: Upgrade\r\nUpgrade: x\r\n\r\n", ""));
    CHECK(turn_until_set(site.loop, &site.is_upgraded));
    other_open(&other, &site, "127.0.0.2");
    CHECK(turn_until_set(site.loop, &other.is_closed));
    struct stream *stream = stream_attach(site.loop, &site.upgraded);
    site_connect_from(&other, "127.0.0.2");
    CHECK(turn_until_set(site.loop, &other.is_closed));
    stream_abort(stream);
    CHECK(turn_until(site.loop, other_gets_in, &other));
    other_close(&other);
    site_close(&site);
}

TEST(an_upgraded_connection_outlives_its_server)
{
    struct site site;
    site_open(&site, NULL);
    CHECK(site_says(&site, REQUEST("GET /ws") "Connection: Upgrade\r\nUpgrade: x\r\n\r\n", ""));
    CHECK(turn_until_set(site.loop, &site.is_upgraded));
    http_server_close(TAKE(site.server));
    stream_state_clear(&site.upgraded);
    site_close(&site);
}

/* A client that does not read: what one call has handed to its socket is what the kernel holds. */
static int raw_client(struct site *site, const char *send)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int window = 1 << 20; /* the kernel grants some 200 KB of it */
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &window, sizeof(window));
    to.sin_port = htons(http_server_address(site->server).port);
    CHECK(connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0);
    CHECK(write(fd, send, strlen(send)) == (ssize_t)strlen(send));
    return fd;
}

static int bytes_that_wait(int fd)
{
    int bytes = 0;
    CHECK(ioctl(fd, FIONREAD, &bytes) == 0);
    return bytes;
}

enum { SLICE_BYTES = 128 * 1024, HEAD_BYTES = 1024 };

TEST(a_long_answer_leaves_in_slices)
{
    struct site site;
    site_open(&site, NULL);
    int fd = raw_client(&site, REQUEST("GET /hold") "\r\n");
    CHECK(turn_until_set(site.loop, &site.is_held));
    answer_long(TAKE(site.held), 25 << 20);
    CHECK(bytes_that_wait(fd) > 0);
    CHECK(bytes_that_wait(fd) <= SLICE_BYTES + HEAD_BYTES);
    close(fd);
    site_close(&site);
}

TEST(a_file_leaves_in_slices)
{
    struct site site;
    site_open(&site, NULL);
    int fd = raw_client(&site, REQUEST("GET /hold") "\r\n");
    CHECK(turn_until_set(site.loop, &site.is_held));
    answer_from_file(TAKE(site.held));
    CHECK(bytes_that_wait(fd) > 0);
    CHECK(bytes_that_wait(fd) <= SLICE_BYTES + HEAD_BYTES);
    close(fd);
    site_close(&site);
}

TEST(a_long_piece_leaves_in_slices)
{
    struct site site;
    site_open(&site, NULL);
    site.piece_len = 650 * 1024;
    site.pieces_left = 2;
    int fd = raw_client(&site, REQUEST("GET /hold") "\r\n");
    CHECK(turn_until_set(site.loop, &site.is_held));
    answer_in_pieces(&site, TAKE(site.held));
    CHECK(bytes_that_wait(fd) > 0);
    CHECK(bytes_that_wait(fd) <= SLICE_BYTES + HEAD_BYTES);
    CHECK_INT(site.pieces_wanted, 0);
    close(fd);
    CHECK(turn_until_set(site.loop, &site.is_gone));
    site_close(&site);
}

static bool site_has_bytes(void *arg)
{
    struct site *site = arg;
    return site->got.len >= site->long_bytes;
}

TEST(a_long_answer_arrives_whole)
{
    struct site site;
    site_open(&site, NULL);
    buf_clear(&site.got);
    buf_init(&site.got, 64 << 20);
    site.long_bytes = 25 << 20;
    CHECK(stream_write(site.client, REQUEST("GET /long") "\r\n",
                       strlen(REQUEST("GET /long") "\r\n")) == OK);
    CHECK(turn_until(site.loop, site_has_bytes, &site));
    CHECK(site_says(&site, "", "end of it"));
    site_close(&site);
}

static int open_files(void)
{
    int count = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

static void download(struct site *site)
{
    static const char get[] = REQUEST("GET /download") "\r\n";
    buf_reset(&site->got);
    CHECK(stream_write(site->client, get, sizeof(get) - 1) == OK);
    CHECK(turn_until(site->loop, site_has_bytes, site));
}

TEST(files_that_were_sent_are_closed_while_the_connection_stays)
{
    struct site site;
    site_open(&site, NULL);
    site.long_bytes = 300011;
    download(&site);
    int before = open_files();
    for (int i = 0; i < 5; i++)
        download(&site);
    CHECK_INT(open_files(), before);
    site_close(&site);
}

TEST(draining_ends_idle_connections_and_lets_the_others_finish)
{
    struct site site;
    site_open(&site, NULL);
    CHECK(site_says(&site, REQUEST("GET /hold") "\r\n", "") &&
          turn_until_set(site.loop, &site.is_held));
    http_server_drain(site.server);
    CHECK_INT(http_server_connections(site.server), 1);
    answer_text(TAKE(site.held), 200, "last words");
    CHECK(turn_until_set(site.loop, &site.is_closed));
    CHECK(strstr(site.got.data, "last words") && strstr(site.got.data, "Connection: close"));
    site_close(&site);
}

/* Answers in pieces. */

TEST(an_answer_in_pieces_is_chunked_and_the_connection_goes_on)
{
    struct site site;
    site_open(&site, NULL);
    site.piece_len = 3;
    site.pieces_left = 3;
    CHECK(site_says(&site, REQUEST("GET /pieces") "\r\n" REQUEST("GET /missing") "\r\n",
                    "NOT_FOUND"));
    CHECK(strstr(site.got.data, "\r\nTransfer-Encoding: chunked\r\n"));
    CHECK(strstr(site.got.data, "\r\n\r\n3\r\naaa\r\n3\r\nbbb\r\n3\r\nccc\r\n3\r\nddd\r\n0\r\n\r\n"
                                "HTTP/1.1 404"));
    CHECK_INT(http_server_connections(site.server), 1);
    site_close(&site);
}

TEST(an_answer_in_pieces_to_http_1_0_ends_with_the_connection)
{
    struct site site;
    site_open(&site, NULL);
    site.piece_len = 3;
    site.pieces_left = 2;
    CHECK(site_says(&site, "GET /pieces HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\n\r\n",
                    "aaabbbccc"));
    CHECK(turn_until_set(site.loop, &site.is_closed));
    CHECK(!strstr(site.got.data, "Transfer-Encoding"));
    site_close(&site);
}

TEST(head_of_an_answer_in_pieces_has_no_body)
{
    struct site site;
    site_open(&site, NULL);
    site.piece_len = 3;
    site.pieces_left = 2;
    CHECK(site_says(&site, REQUEST("HEAD /pieces") "\r\n" REQUEST("GET /missing") "\r\n",
                    "NOT_FOUND"));
    CHECK(strstr(site.got.data, "\r\n\r\nHTTP/1.1 404")); // nothing between
    CHECK_INT(site.pieces_wanted, 0);
    site_close(&site);
}

static bool has_waited(void *arg)
{
    int *turns = arg;
    return ++*turns > 40;
}

/* However long the answer, a client that does not read has one piece of it made, not all. */
TEST(a_piece_is_wanted_only_when_the_one_before_has_left)
{
    struct site site;
    int turns = 0;
    site_open(&site, NULL);
    site.piece_len = 4 << 20;
    site.pieces_left = 12;
    stream_pause(site.client, true);
    static const char get[] = REQUEST("GET /pieces") "Connection: close\r\n\r\n";
    CHECK(stream_write(site.client, get, strlen(get)) == OK);
    CHECK(turn_until(site.loop, has_waited, &turns));
    CHECK(site.pieces_wanted <= 2); /* what the sockets' buffers take */
    stream_pause(site.client, false);
    CHECK(turn_until_set(site.loop, &site.is_closed));
    CHECK_INT(site.pieces_wanted, 12);
    CHECK(site.got.len > 13u * (4 << 20));
    CHECK(strcmp(site.got.data + site.got.len - 7, "\r\n0\r\n\r\n") == 0);
    site_close(&site);
}

TEST(an_answer_that_cannot_be_finished_is_cut_without_its_last_chunk)
{
    struct site site;
    site_open(&site, NULL);
    site.piece_len = 3;
    site.pieces_left = 2;
    site.cuts = true;
    CHECK(site_says(&site, REQUEST("GET /pieces") "\r\n", "bbb"));
    CHECK(turn_until_set(site.loop, &site.is_closed));
    CHECK(!strstr(site.got.data, "0\r\n\r\n"));
    site_close(&site);
}

TEST(who_makes_pieces_learns_that_the_client_has_left)
{
    struct site site;
    const struct http_server_config config = {.stall_ms = 50};
    for (int is_silent = 0; is_silent < 2; is_silent++) {
        site_open(&site, &config);
        site.piece_len = 16 << 20;
        site.pieces_left = 1000;
        stream_pause(site.client, true);
        static const char get[] = REQUEST("GET /pieces") "\r\n";
        CHECK(stream_write(site.client, get, strlen(get)) == OK);
        if (!is_silent) {
            int turns = 0;
            CHECK(turn_until(site.loop, has_waited, &turns));
            stream_abort(TAKE(site.client));
        }
        CHECK(turn_until_set(site.loop, &site.is_gone));
        CHECK(site.pieces_wanted < 3);
        CHECK_INT(http_server_connections(site.server), 0);
        site_close(&site);
    }
}

TEST(pieces_end_when_the_server_closes)
{
    struct site site;
    site_open(&site, NULL);
    site.piece_len = 16 << 20;
    site.pieces_left = 1000;
    stream_pause(site.client, true);
    static const char get[] = REQUEST("GET /pieces") "\r\n";
    int turns = 0;
    CHECK(stream_write(site.client, get, strlen(get)) == OK);
    CHECK(turn_until(site.loop, has_waited, &turns));
    site_close(&site);
    CHECK(site.is_gone && !site.piecewise);
}

TEST(a_connection_moves_as_the_table_says)
{
    enum { NO = STATES_REFUSED };
    static const int want[CONN_STATES][CONN_EVENTS] = {
        /* ask, want, hand, reply, sent, end */
        [CONN_HEAD] = {CONN_ASKED, NO, NO, CONN_ANSWER, NO, CONN_CLOSED},
        [CONN_ASKED] = {NO, CONN_BODY, CONN_HANDLER, CONN_ANSWER, NO, CONN_CLOSED},
        [CONN_BODY] = {NO, NO, CONN_HANDLER, CONN_ANSWER, NO, CONN_CLOSED},
        [CONN_HANDLER] = {NO, NO, NO, CONN_ANSWER, NO, CONN_CLOSED},
        [CONN_ANSWER] = {NO, NO, NO, NO, CONN_HEAD, CONN_CLOSED},
        [CONN_CLOSED] = {NO, NO, NO, NO, NO, NO},
    };
    for (int state = 0; state < CONN_STATES; state++)
        for (int event = 0; event < CONN_EVENTS; event++)
            CHECK_INT(states_next(&conn_states, state, event, NULL), want[state][event]);
}
