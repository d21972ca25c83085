#include "net/http_head.h"

#include "base/arena.h"
#include "test.h"

static const struct http_limits limits = {200, 1000, 10};

/* Finds and parses as the server does; 0 or the status of the refusal, -1: the head is not whole.
 */
static int read_head(struct arena *arena, const char *text, size_t len, struct http_head *head)
{
    size_t scanned = 0, head_len = 0;
    int status;
    const char *reason;
    if (http_head_find(text, len, &limits, &scanned, &head_len, &status) == ERR_AGAIN)
        return -1;
    return status ? status : http_head_parse(arena, text, head_len, &limits, head, &reason);
}

TEST(a_plain_request_is_taken_apart)
{
    static const char text[] = "POST /a/b?c=d%20e HTTP/1.1\r\nHost: x:80\r\nX-A:  1 \t\r\nx-b:\r\n"
                               "Content-Length: 12\r\nExpect: 100-continue\r\n\r\n";
    AUTO(arena) arena = arena_new(0);
    struct http_head head;
    REQUIRE(read_head(arena, text, sizeof(text) - 1, &head) == 0);
    CHECK_TEXT(head.method, "POST");
    CHECK_TEXT(head.target, "/a/b?c=d%20e");
    CHECK_TEXT(head.path, "/a/b");
    CHECK_TEXT(head.query, "c=d%20e");
    CHECK_TEXT(http_header_find(head.headers, head.header_count, "x-a"), "1");
    CHECK_TEXT(http_header_find(head.headers, head.header_count, "X-B"), "");
    CHECK_INT(head.content_length, 12);
    CHECK(head.keeps_alive && head.expects_continue && !head.wants_upgrade && !head.is_chunked);
}

TEST(targets_in_other_forms_give_their_path)
{
    static const struct {
        const char *line, *path, *query;
    } rows[] = {
        {"GET http://x/a?b HTTP/1.1", "/a", "b"},
        {"GET http://x HTTP/1.1", "/", NULL},
        {"GET https://x?q HTTP/1.1", "/", "q"},
        {"OPTIONS * HTTP/1.1", "*", NULL},
        {"GET /? HTTP/1.1", "/", ""},
        {"GET //x HTTP/1.1", "//x", NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena) arena = arena_new(0);
        struct http_head head;
        char *text = arena_printf(arena, "%s\r\nHost: x\r\n\r\n", rows[i].line);
        REQUIRE(read_head(arena, text, strlen(text), &head) == 0);
        CHECK_TEXT(head.path, rows[i].path);
        CHECK_TEXT(head.query, rows[i].query);
    }
}

#define LINE "GET / HTTP/1.1\r\n"
#define HOST "Host: x\r\n"

TEST(what_can_be_read_in_two_ways_is_refused)
{
    static const struct {
        const char *text;
        int status;
    } rows[] = {
        {LINE HOST "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
        {LINE HOST "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n", 400},
        {LINE HOST "Content-Length: 1\r\nContent-Length: 1\r\n\r\n", 400},
        {LINE HOST "Content-Length: 1, 1\r\n\r\n", 400},
        {LINE HOST "Content-Length: +1\r\n\r\n", 400},
        {LINE HOST "Content-Length: -1\r\n\r\n", 400},
        {LINE HOST "Content-Length: 0x1\r\n\r\n", 400},
        {LINE HOST "Content-Length:\r\n\r\n", 400},
        {LINE HOST "Content-Length: 99999999999999999999\r\n\r\n", 400},
        {LINE HOST "Content-Length : 1\r\n\r\n", 400},
        {LINE HOST "Transfer-Encoding: gzip\r\n\r\n", 501},
        {LINE HOST "Transfer-Encoding: gzip, chunked\r\n\r\n", 501},
        {LINE HOST "Transfer-Encoding: chunked, chunked\r\n\r\n", 501},
        {LINE HOST "Transfer-Encoding: xchunked\r\n\r\n", 501},
        {LINE HOST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
        {LINE HOST "Transfer-Encoding:\x0b"
                   "chunked\r\n\r\n",
         400},
        {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
        {LINE HOST "X: a\r\n folded\r\n\r\n", 400},
        {LINE HOST "X: a\r\n\tfolded\r\n\r\n", 400},
        {LINE " X: a\r\n" HOST "\r\n", 400},
        {"GET / HTTP/1.1\nHost: x\r\n\r\n", 400},
        {LINE "Host: x\n\r\n", 400},
        {LINE HOST "X: a\rb\r\n\r\n", 400},
        {LINE HOST "X a: 1\r\n\r\n", 400},
        {LINE HOST "X(a): 1\r\n\r\n", 400},
        {LINE HOST ": 1\r\n\r\n", 400},
        {LINE HOST "NoColon\r\n\r\n", 400},
        {LINE HOST "X: \x01\r\n\r\n", 400},
        {LINE HOST HOST "\r\n", 400},
        {LINE "\r\n", 400},
        {LINE "Host: a/b\r\n\r\n", 400},
        {LINE "Host: u@a\r\n\r\n", 400},
        {"GET  / HTTP/1.1\r\n" HOST "\r\n", 400},
        {"GET /a b HTTP/1.1\r\n" HOST "\r\n", 400},
        {"GET /#f HTTP/1.1\r\n" HOST "\r\n", 400},
        {"GET /\x80 HTTP/1.1\r\n" HOST "\r\n", 400},
        {"GET x HTTP/1.1\r\n" HOST "\r\n", 400},
        {"GET * HTTP/1.1\r\n" HOST "\r\n", 400},
        {"GET / HTTP/2.0\r\n" HOST "\r\n", 505},
        {"GET / HTTP/1.2\r\n" HOST "\r\n", 505},
        {"GET /\r\n\r\n", 505},
        {"F(O / HTTP/1.1\r\n" HOST "\r\n", 400},
        {"CONNECT host:443 HTTP/1.1\r\n" HOST "\r\n", 400},
        {"FORTY-CHARACTERS-ARE-TOO-MANY-FOR-A-NAME / HTTP/1.1\r\n" HOST "\r\n", 400},
        {LINE HOST "Expect: 200-ok\r\n\r\n", 417},
        {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena) arena = arena_new(0);
        struct http_head head;
        int status = read_head(arena, rows[i].text, strlen(rows[i].text), &head);
        if (!CHECK_INT(status, rows[i].status))
            CHECK_TEXT(rows[i].text, "refused so");
    }
}

TEST(a_nul_byte_is_refused)
{
    static const char text[] = LINE "Host: x\0y\r\n\r\n";
    AUTO(arena) arena = arena_new(0);
    struct http_head head;
    CHECK_INT(read_head(arena, text, sizeof(text) - 1, &head), 400);
}

TEST(ceilings_hold_while_the_head_still_comes)
{
    AUTO(arena) arena = arena_new(0);
    struct http_head head;
    char *text = arena_alloc(arena, 2000);
    memset(text, 'a', 1999);
    CHECK_INT(read_head(arena, text, 150, &head), -1);
    CHECK_INT(read_head(arena, text, 300, &head), 414);
    memcpy(text, LINE HOST "X: ", 28);
    CHECK_INT(read_head(arena, text, 900, &head), -1);
    CHECK_INT(read_head(arena, text, 1999, &head), 431);
    char *many = arena_printf(arena, LINE HOST "1:\r\n2:\r\n3:\r\n4:\r\n5:\r\n6:\r\n7:\r\n8:\r\n"
                                               "9:\r\n10:\r\n\r\n");
    CHECK_INT(read_head(arena, many, strlen(many), &head), 431);
}

TEST(the_end_of_a_head_is_found_wherever_the_bytes_are_cut)
{
    static const char text[] = LINE HOST "\r\nrest";
    for (size_t cut = 1; cut < sizeof(text) - 1; cut++) {
        size_t scanned = 0, len = 0;
        int status;
        enum err err = http_head_find(text, cut, &limits, &scanned, &len, &status);
        if (err == ERR_AGAIN)
            err = http_head_find(text, sizeof(text) - 1, &limits, &scanned, &len, &status);
        CHECK(err == OK && status == 0);
        CHECK_INT(len, sizeof(text) - 1 - 4);
    }
}

TEST(connection_lists_are_read)
{
    CHECK(http_list_has("keep-alive, Upgrade", "upgrade"));
    CHECK(http_list_has(" close ", "close"));
    CHECK(!http_list_has("closed", "close"));
    CHECK(!http_list_has("not close", "close"));
    CHECK(!http_list_has(NULL, "close"));
    CHECK(!http_list_has("", "close"));
}

TEST(any_token_is_a_method)
{
    static const char *const methods[] = {
        "GET",  "FOO",     "get",   "PURGE", "M-SEARCH",        "QUERY",
        "POST", "OPTIONS", "TRACE", "A",     "!#$%&'*+-.^_`|~9"};
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        AUTO(arena) arena = arena_new(0);
        struct http_head head;
        const char *reason = NULL;
        char *text = arena_printf(arena, "%s /a?b HTTP/1.1\r\nHost: x\r\n\r\n", methods[i]);
        CHECK_INT(http_head_parse(arena, text, strlen(text), &limits, &head, &reason), 0);
        CHECK_TEXT(head.method, methods[i]);
        CHECK_TEXT(head.path, "/a");
    }
}
