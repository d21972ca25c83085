#include "net/addr.h"

#include "test.h"

TEST(addresses_parse_and_print)
{
    static const struct {
        const char *text, *printed;
    } rows[] = {
        {"1.2.3.4:80", "1.2.3.4:80"}, {"1.2.3.4", "1.2.3.4:0"},
        {"[::1]:8080", "[::1]:8080"}, {"[2001:DB8::1]", "[2001:db8::1]:0"},
        {"::1", "[::1]:0"},           {"[::ffff:10.0.0.1]:9", "10.0.0.1:9"},
        {":80", "[::]:80"},           {"0.0.0.0:65535", "0.0.0.0:65535"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct net_addr addr;
        char text[NET_ADDR_SIZE];
        REQUIRE(net_addr_parse(rows[i].text, &addr) == OK);
        net_addr_print(&addr, text);
        CHECK_TEXT(text, rows[i].printed);
    }
}

TEST(malformed_addresses_are_refused)
{
    static const char *const rows[] = {"",           "1.2.3",       "1.2.3.4:",  "1.2.3.4:65536",
                                       "1.2.3.4:-1", "1.2.3.4:80x", "01.2.3.4",  "[::1",
                                       "[::1]80",    "[]:80",       "host:80",   "1.2.3.4 ",
                                       "[1::2::3]",  "256.1.1.1",   "0x7f.0.0.1"};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct net_addr addr;
        if (!CHECK(net_addr_parse(rows[i], &addr) == ERR_INVALID))
            CHECK_TEXT(rows[i], "refused");
    }
}

TEST(limits_count_a_whole_ipv6_site_as_one)
{
    static const struct {
        const char *text;
        unsigned bits;
        const char *site;
    } rows[] = {
        {"1.2.3.4", 64, "1.2.3.4"},
        {"::ffff:1.2.3.4", 64, "1.2.3.4"},
        {"2001:db8:1:2:3:4:5:6", 64, "2001:db8:1:2::/64"},
        {"2001:db8:1:2::", 64, "2001:db8:1:2::/64"},
        {"2001:db8:1:2:3:4:5:6", 48, "2001:db8:1::/48"},
        {"2001:db8:1:2:3:4:5:6", 32, "2001:db8::/32"},
        {"::1", 64, "::/64"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct net_addr addr;
        char site[NET_ADDR_SIZE];
        REQUIRE(net_ip_parse(rows[i].text, &addr) == OK);
        net_ip_print_site(&addr, rows[i].bits, site);
        CHECK_TEXT(site, rows[i].site);
    }
}

TEST(addresses_know_their_kind)
{
    struct net_addr addr = net_addr_ipv4(127, 9, 9, 9, 1);
    CHECK(net_addr_is_ipv4(&addr) && net_addr_is_loopback(&addr) && !net_addr_is_any(&addr));
    REQUIRE(net_ip_parse("::1", &addr) == OK);
    CHECK(!net_addr_is_ipv4(&addr) && net_addr_is_loopback(&addr));
    REQUIRE(net_ip_parse("0.0.0.0", &addr) == OK);
    CHECK(net_addr_is_any(&addr));
    REQUIRE(net_ip_parse("::", &addr) == OK);
    CHECK(net_addr_is_any(&addr) && !net_addr_is_loopback(&addr));
    REQUIRE(net_ip_parse("fe80::1", &addr) == OK);
    CHECK(net_addr_is_link_local(&addr));
    REQUIRE(net_ip_parse("169.254.169.254", &addr) == OK);
    CHECK(net_addr_is_link_local(&addr));
}

TEST(local_addresses_end_with_loopback)
{
    struct net_addr addrs[32];
    size_t count = net_local_addresses(addrs, 32);
    REQUIRE(count >= 1);
    CHECK(net_addr_is_loopback(&addrs[count - 1]));
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            CHECK(!net_ip_equal(&addrs[i], &addrs[j]));
}
