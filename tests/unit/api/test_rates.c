/* Failed authentications of an address and of the networks around it; requests of a key. */
#include "api/rates.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/config.h"
#include "base/loop.h"
#include "base/mem.h"
#include "store/store.h"
#include "test.h"

struct fix {
    char dir[64];
    struct config *config;
    struct store *store;
    struct loop *loop;
    struct rates *rates;
};

static void fix_open(struct fix *fix)
{
    static char *no_environment[] = {NULL};
    struct fault fault = {0};
    *fix = (struct fix){.loop = loop_new("rates"), .dir = "/tmp/earshot-rates-XXXXXX"};
    REQUIRE(mkdtemp(fix->dir) != NULL);
    CHECK(config_load(NULL, no_environment, &fix->config, &fault) == OK);
    CHECK(config_set(fix->config, "rate", "limit", "60", &fault) == OK);
    CHECK(config_set(fix->config, "rate", "burst", "2", &fault) == OK);
    CHECK(config_set(fix->config, "auth", "fail_limit", "5", &fault) == OK);
    const struct store_config store = {
        .data_dir = fix->dir, .database_url = "", .node_name = "", .master_key = ""};
    REQUIRE(store_open(&store, &fix->store, &fault) == OK);
    fix->rates = rates_new(fix->config, fix->loop, fix->store);
}

static void fix_close(struct fix *fix)
{
    AUTO_MEM char *remove = mem_printf("rm -rf %s", fix->dir);
    CHECK(rates_is_idle(fix->rates)); /* one node has nobody to tell */
    rates_free(fix->rates);
    store_close(fix->store);
    loop_free(fix->loop);
    config_free(fix->config);
    CHECK_INT(system(remove), 0);
}

static bool fails(struct fix *fix, const char *address)
{
    struct net_addr client;
    struct limit_state state;
    CHECK(net_ip_parse(address, &client) == OK);
    bool may = rates_failure(fix->rates, &client, &state);
    CHECK(may || state.retry_s > 0);
    return may;
}

TEST(each_key_has_its_burst)
{
    struct fix fix;
    struct limit_state state;
    fix_open(&fix);
    CHECK(rates_request(fix.rates, "one", &state) && rates_request(fix.rates, "one", &state));
    CHECK(!rates_request(fix.rates, "one", &state));
    CHECK_INT(state.per_minute, 60);
    CHECK(state.retry_s > 0);
    CHECK(rates_request(fix.rates, "two", &state));
    fix_close(&fix);
}

TEST(an_address_fails_so_often)
{
    struct fix fix;
    fix_open(&fix);
    for (int i = 0; i < 5; i++)
        CHECK(fails(&fix, "198.51.100.1"));
    CHECK(!fails(&fix, "198.51.100.1"));
    CHECK(fails(&fix, "198.51.100.2"));
    fix_close(&fix);
}

/* Whoever has one of the addresses of a /64 has them all; who has a /32 has many /64. */
TEST(a_network_fails_so_often)
{
    struct fix fix;
    char address[64];
    int in_64 = 0, in_48 = 0, in_32 = 0;
    fix_open(&fix);
    for (int i = 0; i < 100; i++) {
        snprintf(address, sizeof(address), "2001:db8:1:1::%x", i + 1);
        in_64 += fails(&fix, address);
    }
    CHECK_INT(in_64, 5);
    for (int i = 0; i < 100; i++) {
        snprintf(address, sizeof(address), "2001:db9:1:%x::1", i + 1);
        in_48 += fails(&fix, address);
    }
    CHECK_INT(in_48, 4 * 5);
    for (int i = 0; i < 200; i++) {
        snprintf(address, sizeof(address), "2001:dba:%x::1", i + 1);
        in_32 += fails(&fix, address);
    }
    CHECK_INT(in_32, 16 * 5);
    struct net_addr client;
    struct limit_state state;
    CHECK(net_ip_parse("2001:dba:ffff::1", &client) == OK);
    CHECK(!rates_failure(fix.rates, &client, &state));
    CHECK_INT(state.per_minute, 16 * 5);
    fix_close(&fix);
}
