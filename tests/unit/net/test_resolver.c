/* The resolver against a name server of the test's own; what is checked is an order or a count,
 * never how long something took. */
#include "net/resolver.h"

#include <stdio.h>

#include "base/loop.h"
#include "base/mem.h"
#include "name_server.h"
#include "turn.h"

enum { MANY = 300 };

struct world {
    struct loop *loop;
    struct guard *guard;
    struct name_server names;
    struct resolver *resolver;
    int told, dead_told, busy_told, wanted;
    bool is_done;
    struct fault fault;
    size_t count;
    struct net_addr addrs[RESOLVER_MAX_ADDRESSES];
};

static void world_open(struct world *world)
{
    *world = (struct world){.loop = loop_new("test")};
    name_server_open(&world->names, world->loop);
    REQUIRE(guard_new("", &world->guard, NULL) == OK);
    REQUIRE(resolver_new(world->loop, world->guard, world->names.address, &world->resolver, NULL) ==
            OK);
}

static void world_close(struct world *world)
{
    resolver_free(world->resolver);
    name_server_close(&world->names);
    loop_free(world->loop);
    guard_free(world->guard);
}

static void on_resolved(void *arg, const struct net_addr *addrs, size_t count,
                        const struct fault *fault)
{
    struct world *world = arg;
    world->fault = *fault;
    world->count = count;
    memcpy(world->addrs, addrs, count * sizeof(*addrs));
    world->is_done = ++world->told == world->wanted;
}

static void on_dead(void *arg, const struct net_addr *addrs, size_t count,
                    const struct fault *fault)
{
    struct world *world = arg;
    (void)addrs, (void)count;
    world->dead_told += fault->err != ERR_BUSY;
    world->busy_told += fault->err == ERR_BUSY;
}

static struct resolve *ask(struct world *world, const char *tenant, const char *host,
                           resolve_fn *fn)
{
    const struct resolve_target target = {host, 443, GUARD_PUBLIC, tenant};
    return resolve_start(world->resolver, &target, fn, world);
}

static void await(struct world *world, int wanted)
{
    world->wanted = world->told + wanted;
    world->is_done = false;
    turn_until_set(world->loop, &world->is_done);
}

static enum err resolve_as(struct world *world, const char *tenant, const char *host)
{
    int before = world->told;
    ask(world, tenant, host, on_resolved);
    CHECK_INT(world->told, before); /* never inside the call */
    await(world, 1);
    return world->fault.err;
}

static enum err resolve(struct world *world, const char *host)
{
    return resolve_as(world, "ws_1", host);
}

static const uint8_t good[][4] = {{8, 8, 8, 8}, {1, 1, 1, 1}};
static const uint8_t mixed[][4] = {{8, 8, 8, 8}, {10, 0, 0, 1}};

TEST(every_address_of_a_name_is_guarded)
{
    struct world world;
    world_open(&world);
    name_server_say(&world.names, 2, good);
    CHECK_INT(resolve(&world, "a.example"), OK);
    CHECK_INT(world.count, 2);
    CHECK_INT(world.addrs[0].port, 443);
    name_server_say(&world.names, 2, mixed);
    CHECK_INT(resolve(&world, "a.example"), ERR_DENIED);
    CHECK_INT(world.count, 0);
    world.names.says_no_such_name = true;
    CHECK_INT(resolve(&world, "b.example"), ERR_NOT_FOUND);
    world.names.says_no_such_name = false;
    name_server_say(&world.names, 0, good);
    CHECK_INT(resolve(&world, "c.example"), ERR_NOT_FOUND);
    world.names.says_failed = true;
    CHECK_INT(resolve(&world, "d.example"), ERR_IO);
    world_close(&world);
}

TEST(literal_addresses_are_guarded_without_a_question)
{
    struct world world;
    world_open(&world);
    CHECK_INT(resolve(&world, "8.8.8.8"), OK);
    CHECK_INT(resolve(&world, "10.0.0.1"), ERR_DENIED);
    CHECK_INT(resolve(&world, "::1"), ERR_DENIED);
    CHECK_INT(world.names.questions, 0);
    world_close(&world);
}

TEST(an_answer_is_remembered_and_guarded_again)
{
    struct world world;
    world_open(&world);
    world.names.ttl_s = 60;
    name_server_say(&world.names, 1, &mixed[1]);
    const struct resolve_target inside = {"a.example", 443, GUARD_OPERATOR, "ws_1"};
    resolve_start(world.resolver, &inside, on_resolved, &world);
    await(&world, 1);
    CHECK_INT(world.fault.err, OK);
    CHECK_INT(resolve(&world, "a.example"), ERR_DENIED);
    CHECK_INT(resolve_as(&world, "ws_2", "a.example"), ERR_DENIED);
    CHECK_INT(world.names.questions, 2); /* A and AAAA, once */
    world.names.says_no_such_name = true;
    CHECK_INT(resolve(&world, "no.example"), ERR_NOT_FOUND);
    world.names.says_no_such_name = false;
    CHECK_INT(resolve(&world, "no.example"), ERR_NOT_FOUND);
    CHECK_INT(world.names.questions, 4);
    CHECK_INT(resolve_as(&world, NULL, "no.example"), ERR_DENIED); /* the operator's own cache */
    CHECK_INT(world.names.questions, 6);
    world.names.ttl_s = 0;
    CHECK_INT(resolve(&world, "b.example"), ERR_DENIED);
    CHECK_INT(resolve(&world, "b.example"), ERR_DENIED);
    CHECK_INT(world.names.questions, 10);
    world_close(&world);
}

TEST(who_asks_at_once_shares_a_look_up)
{
    struct world world;
    world_open(&world);
    name_server_say(&world.names, 2, good);
    ask(&world, "ws_1", "a.example", on_resolved);
    ask(&world, "ws_1", "a.example", on_resolved);
    resolve_cancel(ask(&world, "ws_1", "a.example", on_resolved));
    ask(&world, "ws_1", "b.example", on_resolved);
    await(&world, 3);
    CHECK_INT(world.names.questions, 4); /* A and AAAA for each of two names */
    CHECK(world.names.ports[0] != world.names.ports[2] ||
          world.names.ports[1] != world.names.ports[3]); /* each has ports of its own */
    world_close(&world);
}

TEST(names_that_never_answer_delay_nobody_elses)
{
    struct world world;
    world_open(&world);
    name_server_say(&world.names, 2, good);
    for (int i = 0; i < MANY; i++) {
        char host[32];
        snprintf(host, sizeof(host), "dead-%d.example", i);
        ask(&world, "ws_hostile", host, on_dead);
    }
    CHECK_INT(resolve_as(&world, "ws_2", "a.example"), OK);
    CHECK_INT(resolve_as(&world, NULL, "engine.example"), OK);
    CHECK_INT(resolve_as(&world, "ws_3", "b.example"), OK);
    CHECK_INT(world.dead_told, 0);              /* all of the hostile one's still wait */
    CHECK_INT(world.busy_told, MANY - 4 - 256); /* but for what its line does not hold */
    CHECK(world.names.dead_under_way <= 4);
    world_close(&world); /* with all of them under way */
}

TEST(cancelled_look_ups_leave_the_line)
{
    struct world world;
    struct resolve *asked[20];
    world_open(&world);
    name_server_say(&world.names, 2, good);
    for (int i = 0; i < 20; i++) {
        char host[32];
        snprintf(host, sizeof(host), i < 3 ? "dead-%d.example" : "host-%d.example", i);
        asked[i] = ask(&world, "ws_1", host, i < 3 ? on_dead : on_resolved);
    }
    for (int i = 0; i < 19; i++)
        resolve_cancel(asked[i]);
    await(&world, 1);
    CHECK_INT(world.told, 1);
    CHECK(world.names.questions <= 2 * (3 + 2)); /* 3 dead, 1 begun and cancelled, the last */
    world_close(&world);
}

static void on_told_asks_again(void *arg, const struct net_addr *addrs, size_t count,
                               const struct fault *fault)
{
    struct world *world = arg;
    if (world->told < 3)
        ask(world, "ws_1", world->told % 2 ? "8.8.8.8" : "a.example", on_told_asks_again);
    on_resolved(arg, addrs, count, fault);
}

TEST(a_callback_may_ask_again)
{
    struct world world;
    world_open(&world);
    name_server_say(&world.names, 2, good);
    ask(&world, "ws_1", "a.example", on_told_asks_again);
    await(&world, 4);
    CHECK_INT(world.told, 4);
    world_close(&world);
}

TEST(the_machines_own_names_are_known)
{
    struct world world = {.loop = loop_new("test")};
    REQUIRE(resolver_new(world.loop, NULL, NULL, &world.resolver, NULL) == OK);
    CHECK_INT(resolve(&world, "localhost"), ERR_DENIED);
    const struct resolve_target target = {"localhost", 443, GUARD_OPERATOR, NULL};
    resolve_start(world.resolver, &target, on_resolved, &world);
    await(&world, 1);
    CHECK(world.fault.err == OK && net_addr_is_loopback(&world.addrs[0]));
    resolver_free(world.resolver);
    loop_free(world.loop);
}

static void on_checked(void *arg, const struct fault *fault)
{
    struct world *world = arg;
    world->fault = *fault;
    world->is_done = ++world->told == world->wanted;
}

TEST(a_url_is_checked_before_it_is_saved)
{
    static const struct {
        const char *url;
        bool is_known;
        enum err err;
    } rows[] = {
        {"https://a.example/hook", true, OK},
        {"http://10.0.0.1/hook", true, ERR_DENIED},
        {"nonsense", true, ERR_INVALID},
        {"https://b.example/hook", false, ERR_NOT_FOUND},
        {"http://redis:6379/", false, ERR_DENIED},
        {"http://metadata.google.internal/", false, ERR_DENIED},
        {"http://printer.local./", false, ERR_DENIED},
    };
    struct world world;
    world_open(&world);
    name_server_say(&world.names, 1, good);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        world.names.says_no_such_name = !rows[i].is_known;
        resolver_check_url(world.resolver, "ws_1", rows[i].url, on_checked, &world);
        await(&world, 1);
        if (!CHECK_INT(world.fault.err, rows[i].err))
            CHECK_TEXT(rows[i].url, world.fault.text);
    }
    world_close(&world);
}

TEST(a_resolver_that_stops_tells_all_who_wait)
{
    struct world world;
    world_open(&world);
    for (int i = 0; i < 10; i++) {
        char host[32];
        snprintf(host, sizeof(host), "dead-%d.example", i);
        ask(&world, "ws_1", host, on_resolved);
    }
    resolver_check_url(world.resolver, "ws_1", "http://dead.example", on_checked, &world);
    resolver_stop(world.resolver);
    await(&world, 11);
    CHECK_INT(world.fault.err, ERR_CLOSED);
    CHECK_INT(resolve(&world, "a.example"), ERR_CLOSED);
    world_close(&world);
}

TEST(a_resolver_can_go_with_everything_under_way)
{
    struct world world;
    world_open(&world);
    ask(&world, "ws_1", "dead.example", on_resolved);
    ask(&world, NULL, "dead.example", on_resolved);
    ask(&world, "ws_1", "8.8.8.8", on_resolved);
    resolver_check_url(world.resolver, "ws_1", "http://dead.example", on_checked, &world);
    resolver_check_url(world.resolver, "ws_1", "nonsense", on_checked, &world);
    world_close(&world);
    CHECK_INT(world.told, 0);
}
