/* Whose address counts: the peer's, or what trusted proxies say. */
#include "api/internal.h"
#include "test.h"

struct forwarded_case {
    const char *trusted, *peer, *header, *want;
};

TEST(proxies_tell_the_client)
{
    static const struct forwarded_case cases[] = {
        {"", "10.0.0.1", "1.2.3.4", "10.0.0.1"},
        {"10.0.0.0/8", "10.0.0.1", NULL, "10.0.0.1"},
        {"10.0.0.0/8", "10.0.0.1", "1.2.3.4", "1.2.3.4"},
        {"10.0.0.0/8", "10.0.0.1", "6.6.6.6, 1.2.3.4, 10.9.9.9", "1.2.3.4"},
        {"10.0.0.0/8", "11.0.0.1", "1.2.3.4", "11.0.0.1"},
        {"10.0.0.0/9", "10.128.0.1", "1.2.3.4", "10.128.0.1"},
        {"::1, fd00::/8", "fd00::7", "2001:db8::1", "2001:db8::1"},
        {"10.0.0.1", "10.0.0.1", "nonsense", "10.0.0.1"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct proxies *proxies;
        struct net_addr peer;
        char got[NET_IP_SIZE];
        REQUIRE(proxies_new(cases[i].trusted, &proxies, NULL) == OK);
        REQUIRE(net_ip_parse(cases[i].peer, &peer) == OK);
        proxies_client(proxies, &peer, cases[i].header, got);
        CHECK_TEXT(got, cases[i].want);
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
