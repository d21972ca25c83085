#include "cli/own_url.h"

#include <stdio.h>

#include "base/config.h"
#include "test.h"

struct given {
    const char *section, *name, *value;
};

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
