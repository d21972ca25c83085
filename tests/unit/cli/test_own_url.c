#include "cli/own_url.h"

#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "test.h"

struct given {
    const char *section, *name, *value;
};

/* text: NULL, when the settings hold. */
static void check(const struct given *given, const char *text)
{
    AUTO(config) config = NULL;
    struct fault fault = {0};
    char *const nothing[] = {NULL};
    REQUIRE(config_load(NULL, nothing, &config, &fault) == OK);
    if (given->name)
        REQUIRE(config_set(config, given->section, given->name, given->value, &fault) == OK);
    CHECK_INT(own_url_check(config, &fault), text ? ERR_INVALID : OK);
    CHECK_TEXT(fault.text, text ? text : "");
}

static void url_of(const char *listen, const struct given *given, char out[OWN_URL_SIZE])
{
    AUTO(config) config = NULL;
    struct fault fault = {0};
    char *const nothing[] = {NULL};
    struct net_addr address;
    REQUIRE(config_load(NULL, nothing, &config, &fault) == OK);
    if (given->name)
        CHECK_INT(config_set(config, given->section, given->name, given->value, &fault), OK);
    REQUIRE(net_addr_parse(listen, &address) == OK);
    own_url(config, &address, out);
}

TEST(own_url_has_the_scheme_that_the_service_speaks)
{
    static const struct {
        const char *listen;
        struct given given;
        const char *url;
    } rows[] = {
        {"127.0.0.1:8080", {0}, "http://127.0.0.1:8080"},
        {"[::1]:8080", {0}, "http://[::1]:8080"},
        {"192.0.2.1:8080", {0}, "https://192.0.2.1:8080"},
        {"192.0.2.1:8080", {"tls", "mode", "off"}, "http://192.0.2.1:8080"},
        {"127.0.0.1:8080", {"tls", "cert", "/x.pem"}, "https://127.0.0.1:8080"},
        {"127.0.0.1:8080", {"service", "public_url", "https://x.example/"}, "https://x.example"},
        {"0.0.0.0:8080", {"service", "public_url", "http://x.example//"}, "http://x.example"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char url[OWN_URL_SIZE] = "";
        url_of(rows[i].listen, &rows[i].given, url);
        CHECK_TEXT(url, rows[i].url);
    }
}

TEST(own_url_of_any_address_names_one_of_the_machine)
{
    static const char *const any[] = {"0.0.0.0:8080", "[::]:8080", ":8080"};
    struct net_addr first;
    char host[NET_ADDR_SIZE], url[OWN_URL_SIZE], want[OWN_URL_SIZE];
    REQUIRE(net_local_addresses(&first, 1) == 1);
    first.port = 8080;
    net_addr_print(&first, host);
    snprintf(want, sizeof(want), "https://%s", host);
    for (size_t i = 0; i < ARRAY_LEN(any); i++) {
        url_of(any[i], &(struct given){0}, url);
        CHECK_TEXT(url, want);
    }
}

TEST(own_url_check_names_the_setting_that_does_not_hold)
{
    static const struct {
        struct given given;
        const char *fault; /* NULL: none */
    } rows[] = {
        {{0}, NULL},
        {{"service", "public_url", "https://voice.example/earshot/"}, NULL},
        {{"service", "public_url", "voice.example"},
         "service.public_url: 'voice.example' is no URL"},
        {{"service", "public_url", "ws://x.example"},
         "service.public_url: 'ws://x.example' is no URL"},
        {{"service", "public_url", "https://"}, "service.public_url: the URL has no host"},
        {{"service", "public_url", "https://a b"},
         "service.public_url: the URL has a space, backslash or control byte"},
        {{"service", "public_url", "https://x.example; script-src *"},
         "service.public_url: the URL has a space, backslash or control byte"},
        {{"service", "public_url", "https://x.example;*"},
         "service.public_url: the URL's host has a character no host has"},
        {{"service", "public_url", "https://me:pw@x.example"},
         "service.public_url: the URL carries credentials"},
        {{"service", "public_url", "https://x.example/?a=1"},
         "service.public_url: has a query or a fragment"},
        {{"tls", "cert", "/x.pem"}, "tls.key: is not set, though tls.cert is"},
        {{"tls", "key", "/x.pem"}, "tls.cert: is not set, though tls.key is"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check(&rows[i].given, rows[i].fault);
}

TEST(own_url_check_refuses_what_would_be_cut)
{
    char url[OWN_URL_SIZE + 1];
    int len = snprintf(url, sizeof(url), "https://x.example/");
    memset(url + len, 'p', sizeof(url) - 1 - (size_t)len);
    url[OWN_URL_SIZE] = '\0';
    check(&(struct given){"service", "public_url", url},
          "service.public_url: is longer than 255 bytes");
    url[OWN_URL_SIZE - 1] = '\0';
    check(&(struct given){"service", "public_url", url}, NULL);
}
