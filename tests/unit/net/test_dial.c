#include "net/dial.h"

#include <stdio.h>

#include "base/loop.h"
#include "name_server.h"
#include "net/listen.h"
#include "net/resolver.h"
#include "net/stream.h"
#include "turn.h"

struct world {
    struct loop *loop;
    struct guard *guard;
    struct name_server names;
    struct resolver *resolver;
    struct dialer *dialer;
    struct listener *listener;
    uint16_t port;
    int accepted;
    bool is_done;
    struct fault fault;
    size_t count;
    struct net_addr addrs[RESOLVER_MAX_ADDRESSES];
    struct stream *stream;
};

static void on_accept(void *arg, int take_fd, const struct net_addr *peer)
{
    struct world *world = arg;
    (void)peer;
    world->accepted++;
    stream_close(stream_open(world->loop, take_fd, NULL));
}

static void world_open(struct world *world, const char *allow)
{
    struct net_addr any = net_addr_ipv4(127, 0, 0, 1, 0);
    *world = (struct world){.loop = loop_new("test")};
    name_server_open(&world->names, world->loop);
    REQUIRE(listener_open(world->loop, &any, on_accept, world, &world->listener, NULL) == OK);
    world->port = listener_address(world->listener).port;
    REQUIRE(guard_new(allow, &world->guard, NULL) == OK);
    REQUIRE(resolver_new(world->loop, world->guard, world->names.address, &world->resolver, NULL) ==
            OK);
    world->dialer = dialer_new(world->resolver, NULL);
}

static void world_close(struct world *world)
{
    stream_close(world->stream);
    name_server_close(&world->names);
    listener_close(world->listener);
    dialer_free(world->dialer);
    resolver_free(world->resolver);
    loop_free(world->loop);
    guard_free(world->guard);
}

static void on_resolved(void *arg, const struct net_addr *addrs, size_t count,
                        const struct fault *fault)
{
    struct world *world = arg;
    world->is_done = true;
    world->fault = *fault;
    world->count = count;
    memcpy(world->addrs, addrs, count * sizeof(*addrs));
}

static enum err resolve(struct world *world, const char *host)
{
    world->is_done = false;
    const struct resolve_target target = {host, 443, GUARD_PUBLIC, "ws_1"};
    resolve_start(world->resolver, &target, on_resolved, world);
    CHECK(!world->is_done);
    turn_until_set(world->loop, &world->is_done);
    return world->fault.err;
}

static void on_dialled(void *arg, struct stream *take_stream, const struct fault *fault)
{
    struct world *world = arg;
    world->is_done = true;
    world->fault = *fault;
    stream_close(world->stream);
    world->stream = take_stream;
}

static enum err dial(struct world *world, const char *host)
{
    const struct dial_target target = {.host = host, .port = world->port, .timeout_ms = 60000};
    world->is_done = false;
    dial_start(world->dialer, &target, on_dialled, world);
    CHECK(!world->is_done);
    turn_until_set(world->loop, &world->is_done);
    return world->fault.err;
}

static const uint8_t good[][4] = {{8, 8, 8, 8}, {1, 1, 1, 1}};
static const uint8_t here[][4] = {{127, 0, 0, 1}};
static const uint8_t metadata[][4] = {{169, 254, 169, 254}};

TEST(a_name_that_changes_its_answer_is_denied_at_the_connection)
{
    struct world world;
    world_open(&world, "");
    name_server_say(&world.names, 1, good);
    CHECK_INT(resolve(&world, "rebind.example"), OK); /* as when it is saved */
    name_server_say(&world.names, 1, here);
    CHECK_INT(dial(&world, "rebind.example"), ERR_DENIED);
    name_server_say(&world.names, 1, metadata);
    CHECK_INT(dial(&world, "rebind.example"), ERR_DENIED);
    CHECK_INT(world.accepted, 0);
    world_close(&world);
}

TEST(an_allowed_network_is_connected_to)
{
    struct world world;
    world_open(&world, "127.0.0.0/8");
    name_server_say(&world.names, 1, here);
    CHECK_INT(dial(&world, "a.example"), OK);
    REQUIRE(world.stream);
    CHECK_INT(stream_peer(world.stream).port, world.port);
    world_close(&world);
}

TEST(a_dead_address_yields_to_the_next)
{
    static const uint8_t dead_first[][4] = {{127, 0, 0, 99}, {127, 0, 0, 1}};
    struct world world;
    world_open(&world, "127.0.0.0/8");
    name_server_say(&world.names, 2, dead_first);
    CHECK_INT(dial(&world, "a.example"), OK);
    listener_close(TAKE(world.listener));
    CHECK_INT(dial(&world, "a.example"), ERR_IO);
    CHECK(strstr(world.fault.text, "refused"));
    world_close(&world);
}

TEST(a_cancelled_dial_or_look_up_says_nothing)
{
    struct world world;
    world_open(&world, "127.0.0.0/8");
    name_server_say(&world.names, 1, here);
    const struct dial_target target = {.host = "a.example", .port = world.port};
    dial_cancel(dial_start(world.dialer, &target, on_dialled, &world));
    const struct resolve_target name = {"a.example", 1, GUARD_PUBLIC, "ws_1"};
    resolve_cancel(resolve_start(world.resolver, &name, on_resolved, &world));
    CHECK_INT(dial(&world, "127.0.0.1"), OK);
    world_close(&world);
}
