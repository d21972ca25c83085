#include "net/url.h"

#include <stdlib.h>

#include "test.h"

TEST(urls_are_taken_apart)
{
    static const struct {
        const char *text, *host, *target, *host_header;
        int port;
    } rows[] = {
        {"http://a.example", "a.example", "/", "a.example", 80},
        {"HTTPS://A.Example/x", "a.example", "/x", "a.example", 443},
        {"http://a.example?q=1", "a.example", "/?q=1", "a.example", 80},
        {"http://a.example/?q=1#f", "a.example", "/?q=1", "a.example", 80},
        {"http://a.example#f?x", "a.example", "/", "a.example", 80},
        {"http://a.example:8080/p/../q", "a.example", "/p/../q", "a.example:8080", 8080},
        {"http://a.example:80/", "a.example", "/", "a.example", 80},
        {"http://a.example:/", "a.example", "/", "a.example", 80},
        {"wss://[2001:db8::1]:9/x", "2001:db8::1", "/x", "[2001:db8::1]:9", 9},
        {"ws://127.0.0.1", "127.0.0.1", "/", "127.0.0.1", 80},
        {"http://a.example/\xc3\xa9?\xc3\xa9", "a.example", "/%C3%A9?%C3%A9", "a.example", 80},
        {"http://a_b.example/", "a_b.example", "/", "a_b.example", 80},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct url url;
        AUTO_BUF target = BUF_INIT(1000);
        AUTO_BUF host = BUF_INIT(1000);
        REQUIRE(url_parse(rows[i].text, &url, NULL) == OK);
        CHECK_TEXT(url.host, rows[i].host);
        CHECK_INT(url.port, rows[i].port);
        CHECK(url_write_target(&url, &target) == OK && url_write_host(&url, &host) == OK);
        CHECK_TEXT(target.data, rows[i].target);
        CHECK_TEXT(host.data, rows[i].host_header);
    }
}

TEST(urls_that_could_be_read_in_two_ways_are_refused)
{
    static const struct {
        const char *text;
        enum err err;
    } rows[] = {
        {"", ERR_INVALID},
        {"a.example", ERR_INVALID},
        {"//a.example/", ERR_INVALID},
        {"http:/a.example", ERR_INVALID},
        {"ftp://a.example/", ERR_UNSUPPORTED},
        {"file:///etc/passwd", ERR_UNSUPPORTED},
        {"gopher://a.example/", ERR_UNSUPPORTED},
        {"http://", ERR_INVALID},
        {"http:///x", ERR_INVALID},
        {"http://:80/", ERR_INVALID},
        {"http://user@a.example/", ERR_DENIED},
        {"http://user:pass@a.example/", ERR_DENIED},
        {"http://a.example@b.example/", ERR_DENIED},
        {"http://@a.example/", ERR_DENIED},
        {"http://a.example\\@b.example/", ERR_INVALID},
        {"http://a.example /", ERR_INVALID},
        {" http://a.example/", ERR_INVALID},
        {"http://a.example/\n", ERR_INVALID},
        {"http://a.example/a b", ERR_INVALID},
        {"http://a.example:0/", ERR_INVALID},
        {"http://a.example:65536/", ERR_INVALID},
        {"http://a.example:+80/", ERR_INVALID},
        {"http://a.example:8 0/", ERR_INVALID},
        {"http://a%2eexample/", ERR_INVALID},
        {"http://a..example/", ERR_INVALID},
        {"http://.example/", ERR_INVALID},
        {"http://[::1/", ERR_INVALID},
        {"http://[::1]x/", ERR_INVALID},
        {"http://[a.example]/", ERR_INVALID},
        {"http://[fe80::1%25eth0]/", ERR_INVALID},
        {"http://\xc3\xa9.example/", ERR_INVALID},
        {"http://a,b/", ERR_INVALID},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct url url;
        struct fault fault = {0};
        if (!CHECK_INT(url_parse(rows[i].text, &url, &fault), rows[i].err))
            CHECK_TEXT(rows[i].text, fault.text);
    }
}

TEST(percent_encoding_round_trips)
{
    static const char text[] = "a b&c=d/\xf0\x9f\x98\x80?~-._%+";
    AUTO_BUF encoded = BUF_INIT(1000);
    AUTO_BUF decoded = BUF_INIT(1000);
    REQUIRE(url_encode(text, sizeof(text) - 1, &encoded) == OK);
    CHECK_TEXT(encoded.data, "a%20b%26c%3Dd%2F%F0%9F%98%80%3F~-._%25%2B");
    REQUIRE(url_decode(encoded.data, encoded.len, true, &decoded) == OK);
    CHECK_TEXT(decoded.data, text);
}

TEST(broken_escapes_are_refused)
{
    static const char *const rows[] = {"%", "%4", "a%zz", "%00", "%4%", "x%g1"};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO_BUF out = BUF_INIT(100);
        CHECK_INT(url_decode(rows[i], strlen(rows[i]), false, &out), ERR_INVALID);
    }
}

TEST(queries_are_searched_and_walked)
{
    AUTO_BUF out = BUF_INIT(100);
    CHECK(url_query_get("a=1&b=x%20y+z&b=2&c", "b", &out) == OK);
    CHECK_TEXT(out.data, "x y z");
    CHECK_INT(url_query_get("a=1", "b", &out), ERR_NOT_FOUND);
    CHECK_INT(url_query_get(NULL, "b", &out), ERR_NOT_FOUND);
    CHECK_INT(url_query_get("b=%zz", "b", &out), ERR_INVALID);
    const char *cursor = "a=1&&%62=2&c&d=%q";
    AUTO_BUF name = BUF_INIT(100);
    AUTO_BUF value = BUF_INIT(100);
    AUTO_BUF seen = BUF_INIT(100);
    while (url_query_next(&cursor, &name, &value))
        buf_printf(&seen, "%s=%s;", name.data, value.data ? value.data : "");
    CHECK_TEXT(seen.data, "a=1;b=2;c=;d=%q;");
}
