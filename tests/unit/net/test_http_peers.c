#include "net/http_peers.h"

#include <stdio.h>

#include "base/mem.h"
#include "test.h"

static struct net_addr address(const char *text)
{
    struct net_addr addr = {0};
    if (net_ip_parse(text, &addr) != OK)
        test_fail(__FILE__, __LINE__, "%s is no address", text);
    return addr;
}

static bool join(struct http_peers *peers, const char *ip, struct http_place *place)
{
    struct net_addr addr = address(ip);
    struct http_place *victim;
    return http_peers_join(peers, &addr, false, place, &victim);
}

static struct http_place *victim_for(struct http_peers *peers, const char *ip)
{
    struct net_addr addr = address(ip);
    struct http_place place, *victim;
    bool has_joined = http_peers_join(peers, &addr, false, &place, &victim);
    CHECK(!has_joined);
    if (has_joined)
        http_peers_leave(peers, &place);
    return victim;
}

TEST(one_address_gets_its_share_and_no_more)
{
    AUTO(http_peers) peers = http_peers_new(100, 30);
    struct http_place places[100] = {0}, other;
    int joined = 0;
    for (int i = 0; i < 100; i++)
        joined += join(peers, "10.0.0.1", &places[i]);
    CHECK_INT(joined, 30);
    CHECK(!victim_for(peers, "10.0.0.1")); /* all are at work */
    CHECK(join(peers, "10.0.0.2", &other));
    http_peers_set_idle(peers, &places[7], true);
    http_peers_set_idle(peers, &places[3], true);
    CHECK(victim_for(peers, "10.0.0.1") == &places[7]); /* its own, the longest idle one */
    http_peers_leave(peers, &places[7]);
    CHECK(join(peers, "10.0.0.1", &places[7]));
}

TEST(an_ipv6_site_is_one_address)
{
    AUTO(http_peers) peers = http_peers_new(100, 10);
    struct http_place places[100] = {0};
    char ip[64];
    int joined = 0;
    for (int i = 0; i < 50; i++) {
        snprintf(ip, sizeof(ip), "2001:db8:0:1::%x", i + 1);
        joined += join(peers, ip, &places[i]);
    }
    CHECK_INT(joined, 10);
    CHECK(join(peers, "2001:db8:0:2::1", &places[60]));
}

TEST(the_last_places_are_for_those_who_have_none)
{
    AUTO(http_peers) peers = http_peers_new(90, 90);
    struct http_place places[90] = {0};
    char ip[64];
    size_t joined = 0;
    while (join(peers, "10.0.0.1", &places[joined]))
        joined++;
    CHECK_INT(joined, 45);
    for (int i = 0; joined < 90; i++) {
        snprintf(ip, sizeof(ip), "10.0.1.%d", i);
        REQUIRE(join(peers, ip, &places[joined]));
        joined++;
    }
    CHECK(!victim_for(peers, "10.9.9.9")); /* full, and nobody is idle */
}

TEST(when_all_is_full_the_biggest_hoard_gives_way)
{
    AUTO(http_peers) peers = http_peers_new(10, 10);
    struct http_place hoard[5] = {0}, small[2] = {0}, busy[3] = {0};
    for (int i = 0; i < 5; i++) {
        REQUIRE(join(peers, "10.0.0.1", &hoard[i]));
        http_peers_set_idle(peers, &hoard[i], true);
    }
    for (int i = 0; i < 2; i++) {
        REQUIRE(join(peers, "10.0.0.2", &small[i]));
        http_peers_set_idle(peers, &small[i], true);
    }
    REQUIRE(join(peers, "10.0.0.3", &busy[0]) && join(peers, "10.0.0.4", &busy[1]) &&
            join(peers, "10.0.0.5", &busy[2]));
    CHECK(victim_for(peers, "10.0.0.6") == &hoard[0]);
    http_peers_set_idle(peers, &hoard[0], false); /* it has begun a request */
    CHECK(victim_for(peers, "10.0.0.6") == &hoard[1]);
    for (int i = 1; i < 4; i++)
        http_peers_set_idle(peers, &hoard[i], false);
    CHECK(victim_for(peers, "10.0.0.6") == &small[0]); /* two idle ones against one */
    http_peers_leave(peers, &small[0]);
    CHECK(join(peers, "10.0.0.6", &small[0]));
}

TEST(a_proxy_is_bound_by_the_ceiling_for_all_alone)
{
    AUTO(http_peers) peers = http_peers_new(20, 2);
    struct net_addr proxy = address("10.0.0.1");
    struct http_place places[20] = {0}, *victim;
    for (int i = 0; i < 20; i++)
        CHECK(http_peers_join(peers, &proxy, true, &places[i], &victim));
    http_peers_set_idle(peers, &places[4], true);
    CHECK(victim_for(peers, "10.0.0.2") == &places[4]);
}
