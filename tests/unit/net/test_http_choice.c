#include "net/http_choice.h"

#include <stdio.h>

#include "base/attr.h"
#include "test.h"

TEST(gzip_is_sent_to_those_who_take_it_no_less_gladly_than_what_is_plain)
{
    static const struct {
        const char *sent;
        bool takes;
    } cases[] = {
        {"gzip", true},
        {"deflate, gzip, br", true},
        {"GZip", true},
        {"x-gzip", true},
        {"*", true},
        {"gzip;q=0.001", true},
        {"gzip ; Q=1.000", true},
        {"deflate;q=1.0,\tgzip;q=0.5 ", true},
        {"identity;q=0.5, gzip;q=0.5", true},
        {"identity;q=0, gzip;q=0.1", true},
        {"br, *;q=0.1", true},
        {"*;q=0, gzip", true},
        {"", false},
        {"identity", false},
        {"br, deflate", false},
        {"gzip;q=0", false},
        {"gzip; q=0", false},
        {"gzip;q=0.000", false},
        {"gzip;q=0, *", false},
        {"*;q=0", false},
        {"identity, gzip;q=0.9", false},
        {"*;q=0.8, gzip;q=0.7", false},
        {"gzipped, notgzip, gzi", false},
        {"gzip;q=2", false},
        {"gzip;q=1.001", false},
        {"gzip;q=0.0001", false},
        {"gzip;q=", false},
        {"gzip;q", false},
        {"gzip;level=9", false},
        {";q=1, , ;", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct http_header header = {"accept-encoding", cases[i].sent};
        if (!CHECK(http_takes_gzip(&header, 1) == cases[i].takes))
            printf("  of: %s\n", cases[i].sent);
    }
    CHECK(!http_takes_gzip(NULL, 0));
    const struct http_header two[] = {
        {"Accept-Encoding", "br"}, {"Host", "gzip"}, {"Accept-Encoding", "gzip;q=0.5"}};
    CHECK(http_takes_gzip(two, ARRAY_LEN(two)));
    CHECK(!http_takes_gzip(two, 2));
}

TEST(a_tag_is_found_among_those_that_the_client_has)
{
    static const struct {
        const char *sent, *tag;
        bool has;
    } cases[] = {
        {"\"a\"", "\"a\"", true},
        {"W/\"a\"", "\"a\"", true},
        {"\"a\"", "W/\"a\"", true},
        {"W/\"a\"", "W/\"a\"", true},
        {"\"x\", W/\"y\",\t\"a\"", "\"a\"", true},
        {", ,\"a\",", "\"a\"", true},
        {"\"x,\\\", \"a\"", "\"a\"", true},
        {"*", "\"a\"", true},
        {" * ", NULL, true},
        {"", "\"a\"", false},
        {"a", "\"a\"", false},
        {"\"a", "\"a\"", false},
        {"\"A\"", "\"a\"", false},
        {"\"ab\"", "\"a\"", false},
        {"w/\"a\"", "\"a\"", false},
        {"\"x\"", "\"a\"", false},
        {"\"x, \"a\"", "\"a\"", false},
        {"\"x\", *", "\"a\"", false},
        {"*, \"x\"", "\"a\"", false},
        {"\"a\"", NULL, false},
        {"\"\"", NULL, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct http_header header = {"if-none-match", cases[i].sent};
        if (!CHECK(http_has_already(&header, 1, cases[i].tag) == cases[i].has))
            printf("  of: %s\n", cases[i].sent);
    }
    CHECK(!http_has_already(NULL, 0, "\"a\""));
    const struct http_header two[] = {{"If-None-Match", "\"x\""}, {"If-None-Match", "\"a\""}};
    CHECK(http_has_already(two, 2, "\"a\""));
    CHECK(!http_has_already(two, 1, "\"a\""));
}
