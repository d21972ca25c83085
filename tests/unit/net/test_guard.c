#include "net/guard.h"

#include <stdio.h>

#include "net/url.h"
#include "test.h"

/* Hosts as they stand in a URL. */
static const char *const public_hosts[] = {
    "8.8.8.8",         "1.1.1.1",        "9.255.255.255",         "11.0.0.0",
    "100.63.255.255",  "100.128.0.0",    "126.255.255.255",       "128.0.0.0",
    "169.253.255.255", "169.255.0.0",    "172.15.255.255",        "172.32.0.0",
    "192.0.1.0",       "192.0.3.0",      "192.167.255.255",       "192.169.0.0",
    "198.17.255.255",  "198.20.0.0",     "198.51.99.255",         "198.51.101.0",
    "203.0.112.255",   "203.0.114.0",    "223.255.255.255",       "192.88.98.255",
    "192.88.100.0",    "[2606:4700::1]", "[2a00:1450::1]",        "[2001:4860::8888]",
    "[2001:200::1]",   "[2001:db7::1]",  "[2001:db9::1]",         "[2003::1]",
    "[3ffe::1]",       "[2400:cb00::1]", "[::ffff:8.8.8.8]",      "[::ffff:808:808]",
    "a.example",       "example.com.",   "xn--bcher-kva.example", "1.example",
    "1a.2b",           "0xg.example",    "nolocalhost",           "localhost.example",
};

static const char *const denied_hosts[] = {
    /* this machine, in every spelling */
    "127.0.0.1",
    "127.0.0.2",
    "127.255.255.255",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0X7F000001",
    "017700000001",
    "0177.0.0.1",
    "0x7f.0.0.1",
    "127.0.0.01",
    "127.0.0.0x1",
    "00127.0.0.1",
    "127.0.0.1.",
    "2130706433.",
    "0x7f.1",
    "0177.1",
    "127.000.000.001",
    "4294967295",
    "4294967297",
    "0x100000001",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:127.0.0.1]",
    "[::127.0.0.1]",
    "[::7f00:1]",
    "localhost",
    "LOCALHOST",
    "LocalHost.",
    "a.localhost",
    "a.b.localhost.",
    /* any */
    "0.0.0.0",
    "0",
    "00",
    "0x0",
    "0.1.2.3",
    "0.255.255.255",
    "[::]",
    "[::ffff:0.0.0.0]",
    /* private */
    "10.0.0.0",
    "10.0.0.1",
    "10.255.255.255",
    "10.1",
    "012.0.0.1",
    "0xa.0.0.1",
    "167772161",
    "172.16.0.0",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.0.0",
    "192.168.1.1",
    "192.168.255.255",
    "192.168.257",
    "192.11010049",
    "0xc0a80101",
    "3232235777",
    "030052000401",
    "[::ffff:10.0.0.1]",
    "[::ffff:192.168.1.1]",
    "[::ffff:ac10:1]",
    "[fc00::]",
    "[fc00::1]",
    "[fd12:3456:789a::1]",
    "[fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]",
    /* carriers' networks */
    "100.64.0.0",
    "100.64.0.1",
    "100.127.255.255",
    "[::ffff:100.64.0.1]",
    /* link-local and metadata */
    "169.254.0.0",
    "169.254.169.254",
    "169.254.170.2",
    "169.254.255.255",
    "2852039166",
    "0xa9fea9fe",
    "0251.0376.0251.0376",
    "169.254.43518",
    "169.16689662",
    "[::ffff:169.254.169.254]",
    "[::ffff:a9fe:a9fe]",
    "[fe80::1]",
    "[fe80::a9fe:a9fe]",
    "[febf::1]",
    "[fec0::1]",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "[fd00:ec2::254]",
    "[fd20:ce::254]",
    /* protocol assignments, documentation, benchmarks */
    "192.0.0.0",
    "192.0.0.8",
    "192.0.0.170",
    "192.0.0.255",
    "192.0.2.0",
    "192.0.2.255",
    "192.88.99.1",
    "198.18.0.0",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.255",
    "[2001:db8::1]",
    "[2001:db8:ffff::1]",
    "[3fff::1]",
    "[3fff:fff::1]",
    "[100::1]",
    "[2001::1]",
    "[2001:0:4136:e378::1]",
    "[2001:2::1]",
    "[2001:10::1]",
    "[2001:20::1]",
    "[2001:1ff::1]",
    "[5f00::1]",
    /* multicast and reserved */
    "224.0.0.0",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.0",
    "254.1.1.1",
    "255.255.255.255",
    "[ff02::1]",
    "[ff0e::1]",
    "[::ffff:224.0.0.1]",
    "[::ffff:255.255.255.255]",
    /* IPv4 inside IPv6: NAT64, 6to4, IPv4-compatible, translated */
    "[64:ff9b::7f00:1]",
    "[64:ff9b::10.0.0.1]",
    "[64:ff9b::8.8.8.8]",
    "[64:ff9b:1::a00:1]",
    "[2002:7f00:1::]",
    "[2002:a00:1::1]",
    "[2002:c0a8:101::1]",
    "[2002:808:808::1]",
    "[::10.0.0.1]",
    "[::8.8.8.8]",
    "[::ffff:0:127.0.0.1]",
    "[::ffff:0:a00:1]",
    /* not handed out */
    "[4000::1]",
    "[8000::1]",
    "[1::1]",
    "[e000::1]",
    "[0200::1]",
};

static const struct {
    const char *url;
    enum err err;
} odd_urls[] = {
    {"http://user@8.8.8.8/", ERR_DENIED},
    {"http://a:b@8.8.8.8/", ERR_DENIED},
    {"http://8.8.8.8@127.0.0.1/", ERR_DENIED},
    {"http://127.0.0.1#@8.8.8.8/", ERR_DENIED},
    {"http://127.0.0.1?@8.8.8.8/", ERR_DENIED},
    {"http://8.8.8.8\\@127.0.0.1/", ERR_INVALID},
    {"http://127.0.0.1:80\\.a.example/", ERR_INVALID},
    {"http://127.0.0.1%2f.a.example/", ERR_INVALID},
    {"http://%31%32%37.0.0.1/", ERR_INVALID},
    {"http://\xe2\x91\xa0.0.0.1/", ERR_INVALID},
    {"http://127\xe3\x80\x82"
     "0.0.1/",
     ERR_INVALID},
    {"http://[::1%25lo]/", ERR_INVALID},
    {"http://[::1]a/", ERR_INVALID},
    {"http://[]/", ERR_INVALID},
    {"http:///127.0.0.1/", ERR_INVALID},
    {"http:127.0.0.1", ERR_INVALID},
    {"ftp://8.8.8.8/", ERR_DENIED},
    {"file:///etc/passwd", ERR_DENIED},
    {"gopher://8.8.8.8/", ERR_DENIED},
    {"dict://8.8.8.8/", ERR_DENIED},
    {"javascript://8.8.8.8/%0a", ERR_DENIED},
    {"ldap://8.8.8.8/", ERR_DENIED},
    {"unix:///run/x", ERR_DENIED},
    {"jar:http://8.8.8.8/", ERR_DENIED},
    {" http://8.8.8.8/", ERR_INVALID},
    {"http://8.8.8.8/\r\nX: y", ERR_INVALID},
    {"http://8.8.8.8:99999/", ERR_INVALID},
    {"", ERR_INVALID},
    {"nonsense", ERR_INVALID},
    {"https://127.0.0.1:443/", ERR_DENIED},
    {"wss://127.0.0.1/", ERR_DENIED},
    {"https://a.example:8443/x?y#z", OK},
};

static enum err check_host(const struct guard *guard, enum guard_scope scope, const char *host)
{
    char url[300];
    snprintf(url, sizeof(url), "http://%s:8080/path", host);
    return guard_check_url(guard, scope, url, NULL, NULL);
}

TEST(public_hosts_pass)
{
    for (size_t i = 0; i < sizeof(public_hosts) / sizeof(public_hosts[0]); i++)
        if (!CHECK_INT(check_host(NULL, GUARD_PUBLIC, public_hosts[i]), OK))
            CHECK_TEXT(public_hosts[i], "passes");
}

TEST(all_others_are_denied)
{
    for (size_t i = 0; i < sizeof(denied_hosts) / sizeof(denied_hosts[0]); i++)
        if (!CHECK_INT(check_host(NULL, GUARD_PUBLIC, denied_hosts[i]), ERR_DENIED))
            CHECK_TEXT(denied_hosts[i], "denied");
}

TEST(odd_urls_are_refused)
{
    for (size_t i = 0; i < sizeof(odd_urls) / sizeof(odd_urls[0]); i++)
        if (!CHECK_INT(guard_check_url(NULL, GUARD_PUBLIC, odd_urls[i].url, NULL, NULL),
                       odd_urls[i].err))
            CHECK_TEXT(odd_urls[i].url, "refused so");
}

_Static_assert(sizeof(public_hosts) / sizeof(public_hosts[0]) +
                       sizeof(denied_hosts) / sizeof(denied_hosts[0]) >=
                   150,
               "issue 3: at least 150 addresses");

TEST(the_operator_reaches_private_networks_but_no_metadata)
{
    static const char *const open[] = {"127.0.0.1", "[::1]",      "localhost",
                                       "10.1.2.3",  "172.16.0.1", "192.168.1.1",
                                       "[fd00::1]", "100.64.0.1", "8.8.8.8"};
    static const char *const shut[] = {"169.254.169.254", "[fe80::1]",      "[fd00:ec2::254]",
                                       "100.100.100.200", "224.0.0.1",      "0.0.0.0",
                                       "2130706433",      "192.0.2.1",      "[64:ff9b::a00:1]",
                                       "168.63.129.16",   "[2002:a00:1::1]"};
    for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++)
        if (!CHECK_INT(check_host(NULL, GUARD_OPERATOR, open[i]), OK))
            CHECK_TEXT(open[i], "open");
    for (size_t i = 0; i < sizeof(shut) / sizeof(shut[0]); i++)
        if (!CHECK_INT(check_host(NULL, GUARD_OPERATOR, shut[i]), ERR_DENIED))
            CHECK_TEXT(shut[i], "shut");
}

TEST(the_allow_list_opens_networks_and_ports)
{
    static const char list[] = "127.0.0.1:8000-8080, 10.1.0.0/16 [fd00::]/8:8080,[::1]:80\t"
                               "192.168.0.0/24:443, 2001:db8::/32";
    static const struct {
        const char *host;
        enum err err;
    } rows[] = {
        {"127.0.0.1", OK},         {"127.0.0.2", ERR_DENIED},   {"10.1.255.255", OK},
        {"10.2.0.0", ERR_DENIED},  {"[fd00::5]", OK},           {"[fe80::1]", ERR_DENIED},
        {"[::1]", ERR_DENIED},     {"192.168.0.1", ERR_DENIED}, {"[2001:db8::7]", OK},
        {"127.1", ERR_DENIED},     {"localhost", OK},           {"8.8.8.8", OK},
        {"[::ffff:10.1.0.1]", OK},
    };
    AUTO(guard) guard = NULL;
    struct fault fault = {0};
    if (!CHECK(guard_new(list, &guard, &fault) == OK))
        CHECK_TEXT(fault.text, "parsed");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (!CHECK_INT(check_host(guard, GUARD_PUBLIC, rows[i].host), rows[i].err))
            CHECK_TEXT(rows[i].host, "so");
    CHECK(guard_check_url(guard, GUARD_PUBLIC, "http://[::1]/", NULL, NULL) == OK);
    CHECK(guard_check_url(guard, GUARD_PUBLIC, "https://192.168.0.9/", NULL, NULL) == OK);
    CHECK(guard_check_url(guard, GUARD_PUBLIC, "http://127.0.0.1:8081/", NULL, NULL) == ERR_DENIED);
}

TEST(a_malformed_allow_list_is_refused_with_the_entry)
{
    static const char *const rows[] = {"10.0.0.0/33", "10.0.0.0/",   "10.0.0/8",      "host",
                                       "[::1",        "::1/129",     "10.0.0.0/8:",   "1.2.3.4:5-4",
                                       "1.2.3.4:x",   "1.2.3.4:1-",  "1.2.3.4:70000", "/8",
                                       "10.0.0.0/-1", "10.0.0.0/8/8"};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct guard *guard = NULL;
        struct fault fault = {0};
        if (!CHECK_INT(guard_new(rows[i], &guard, &fault), ERR_INVALID))
            CHECK_TEXT(rows[i], "refused");
        CHECK(strstr(fault.text, rows[i]) || i == 4);
        guard_free(guard);
    }
}

TEST(the_parsed_url_is_handed_out)
{
    struct url url;
    CHECK(guard_check_url(NULL, GUARD_PUBLIC, "https://A.example/x", &url, NULL) == OK);
    CHECK_TEXT(url.host, "a.example");
    CHECK_INT(url.port, 443);
}
