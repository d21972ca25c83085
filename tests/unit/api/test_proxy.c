/* Whose address counts: the peer's, or what trusted proxies say. */
#include "api/proxy.h"

#include "net/addr.h"
#include "net/http_server.h"
#include "test.h"

enum { LINES_MAX = 3 };

struct forwarded_case {
    const char *trusted, *peer;
    const char *lines[LINES_MAX]; /* of X-Forwarded-For, in their order */
    const char *want;
};

TEST(proxies_tell_the_client)
{
    static const struct forwarded_case cases[] = {
        {"", "10.0.0.1", {"1.2.3.4"}, "10.0.0.1"},
        {"10.0.0.0/8", "10.0.0.1", {NULL}, "10.0.0.1"},
        {"10.0.0.0/8", "10.0.0.1", {"1.2.3.4"}, "1.2.3.4"},
        {"10.0.0.0/8", "10.0.0.1", {"6.6.6.6, 1.2.3.4, 10.9.9.9"}, "1.2.3.4"},
        {"10.0.0.0/8", "11.0.0.1", {"1.2.3.4"}, "11.0.0.1"},
        {"10.0.0.0/9", "10.128.0.1", {"1.2.3.4"}, "10.128.0.1"},
        {"::1, fd00::/8", "fd00::7", {"2001:db8::1"}, "2001:db8::1"},
        /* several lines are one list */
        {"10.0.0.0/8", "10.0.0.1", {"6.6.6.6", "1.2.3.4"}, "1.2.3.4"},
        {"10.0.0.0/8", "10.0.0.1", {"6.6.6.6, 5.5.5.5", "10.1.1.1"}, "5.5.5.5"},
        {"10.0.0.0/8", "10.0.0.1", {"127.0.0.1", "6.6.6.6", "10.1.1.1, 10.2.2.2"}, "6.6.6.6"},
        {"10.0.0.0/8", "10.0.0.1", {"6.6.6.6", "", " , "}, "6.6.6.6"},
        {"10.0.0.0/8", "10.0.0.1", {"10.3.3.3", "10.1.1.1"}, "10.3.3.3"},
        /* ports and brackets */
        {"127.0.0.0/8", "127.0.0.1", {"1.2.3.4:567"}, "1.2.3.4"},
        {"127.0.0.0/8", "127.0.0.1", {"[2001:db8::1]:567"}, "2001:db8::1"},
        {"127.0.0.0/8", "127.0.0.1", {"[2001:db8::1]"}, "2001:db8::1"},
        {"127.0.0.0/8", "127.0.0.1", {"\t1.2.3.4 ,\t127.0.0.2:99 "}, "1.2.3.4"},
        /* what is no address is nobody, and above all not the proxy */
        {"127.0.0.0/8", "127.0.0.1", {"nonsense"}, "::"},
        {"127.0.0.0/8", "127.0.0.1", {"unknown, 127.0.0.1"}, "::"},
        {"127.0.0.0/8", "127.0.0.1", {"1.2.3.4, _hidden"}, "::"},
        {"127.0.0.0/8", "127.0.0.1", {"1.2.3.4:99999"}, "::"},
        {"127.0.0.0/8", "127.0.0.1", {"127.0.0.1:x"}, "::"},
        {"127.0.0.0/8", "127.0.0.1", {":80"}, "::"},
        {"127.0.0.0/8", "127.0.0.1", {"127.0.0.1 127.0.0.1"}, "::"},
        {"127.0.0.0/8",
         "127.0.0.1",
         {"11111111111111111111111111111111111111111111111111111111111111111"},
         "::"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct proxies *proxies;
        struct net_addr client;
        char got[NET_IP_SIZE];
        struct http_header headers[LINES_MAX + 1] = {{"Host", "x"}};
        struct http_request http = {.headers = headers, .header_count = 1};
        for (size_t k = 0; k < LINES_MAX && cases[i].lines[k]; k++)
            headers[http.header_count++] = (struct http_header){
                k % 2 ? "x-forwarded-for" : "X-Forwarded-For", cases[i].lines[k]};
        REQUIRE(proxies_new(cases[i].trusted, &proxies, NULL) == OK);
        REQUIRE(net_ip_parse(cases[i].peer, &http.peer) == OK);
        proxies_client(proxies, &http, &client);
        net_ip_print(&client, got);
        if (!CHECK_TEXT(got, cases[i].want))
            CHECK_TEXT(cases[i].lines[0], "the case");
        proxies_free(proxies);
    }
}

TEST(proxies_refuse_what_is_no_network)
{
    static const char *const bad[] = {"10.0.0.0/33", "nonsense", "10.0.0.0/", "10.0.0.0/x"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct proxies *proxies;
        struct fault fault = {0};
        CHECK_INT(proxies_new(bad[i], &proxies, &fault), ERR_INVALID);
        CHECK(fault.text[0]);
    }
}
