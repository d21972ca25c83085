/* Resolver and dialer, with a name server of the test's own that can change its answers. */
#include "net/dial.h"

#include <stdio.h>

#include "base/loop.h"
#include "base/pool.h"
#include "net/listen.h"
#include "net/names.h"
#include "net/resolver.h"
#include "net/stream.h"
#include "net/udp.h"
#include "turn.h"

/* Answers A questions with the addresses set; AAAA with none. */
struct name_server {
    struct udp *udp;
    uint8_t ips[4][4];
    size_t count;
    bool says_no_such_name, is_silent;
    int questions;
};

static void answer_question(struct name_server *server, const struct udp_packet *question)
{
    uint8_t out[512] = {0};
    size_t len = question->len;
    if (len > 300 || server->is_silent)
        return;
    memcpy(out, question->data, len);
    size_t end = 12; /* of the question's name */
    while (end < len && out[end])
        end += out[end] + 1u;
    bool is_a = out[end + 2] == 1;
    len = end + 5;
    out[2] = 0x81;
    out[3] = server->says_no_such_name ? 0x83 : 0x80;
    size_t count = is_a && !server->says_no_such_name ? server->count : 0;
    out[6] = 0;
    out[7] = (uint8_t)count;
    memset(out + 8, 0, 4);
    for (size_t i = 0; i < count; i++) {
        const uint8_t head[] = {0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4};
        memcpy(out + len, head, sizeof(head));
        memcpy(out + len + sizeof(head), server->ips[i], 4);
        len += sizeof(head) + 4;
    }
    udp_send(server->udp, &question->local, &question->peer, out, len);
}

static void on_question(void *arg, const struct udp_packet *packets, size_t count, int64_t now_us)
{
    struct name_server *server = arg;
    (void)now_us;
    for (size_t i = 0; i < count; i++)
        answer_question(server, &packets[i]);
    server->questions += (int)count;
    udp_flush(server->udp);
}

struct world {
    struct loop *loop;
    struct pool *pool;
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
    char server[NET_ADDR_SIZE];
    *world = (struct world){.loop = loop_new("test"), .pool = pool_new("test", 2, 0)};
    REQUIRE(udp_open(world->loop, &any, on_question, &world->names, &world->names.udp, NULL) == OK);
    REQUIRE(listener_open(world->loop, &any, on_accept, world, &world->listener, NULL) == OK);
    world->port = listener_address(world->listener).port;
    struct net_addr address = udp_address(world->names.udp);
    net_addr_print(&address, server);
    REQUIRE(guard_new(allow, &world->guard, NULL) == OK);
    REQUIRE(resolver_new(world->pool, world->guard, server, &world->resolver, NULL) == OK);
    world->dialer = dialer_new(world->resolver, NULL);
}

static void world_close(struct world *world)
{
    stream_close(world->stream);
    pool_free(world->pool);
    udp_close(world->names.udp);
    listener_close(world->listener);
    dialer_free(world->dialer);
    resolver_free(world->resolver);
    loop_free(world->loop);
    guard_free(world->guard);
}

static void names_say(struct world *world, size_t count, const uint8_t ips[][4])
{
    world->names.count = count;
    memcpy(world->names.ips, ips, count * 4);
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
    const struct resolve_target target = {host, 443, GUARD_PUBLIC};
    resolve_start(world->resolver, &target, world->loop, on_resolved, world);
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
    const struct dial_target target = {.host = host, .port = world->port, .timeout_ms = 3000};
    world->is_done = false;
    dial_start(world->loop, world->dialer, &target, on_dialled, world);
    CHECK(!world->is_done);
    turn_until_set(world->loop, &world->is_done);
    return world->fault.err;
}

static const uint8_t good[][4] = {{8, 8, 8, 8}, {1, 1, 1, 1}};
static const uint8_t mixed[][4] = {{8, 8, 8, 8}, {10, 0, 0, 1}};
static const uint8_t here[][4] = {{127, 0, 0, 1}};
static const uint8_t metadata[][4] = {{169, 254, 169, 254}};

TEST(every_address_of_a_name_is_guarded)
{
    struct world world;
    world_open(&world, "");
    names_say(&world, 2, good);
    CHECK_INT(resolve(&world, "a.example"), OK);
    CHECK_INT(world.count, 2);
    CHECK_INT(world.addrs[0].port, 443);
    names_say(&world, 2, mixed);
    CHECK_INT(resolve(&world, "a.example"), ERR_DENIED);
    CHECK_INT(world.count, 0);
    world.names.says_no_such_name = true;
    CHECK_INT(resolve(&world, "a.example"), ERR_NOT_FOUND);
    world.names.says_no_such_name = false;
    names_say(&world, 0, good);
    CHECK_INT(resolve(&world, "a.example"), ERR_NOT_FOUND);
    world_close(&world);
}

TEST(literal_addresses_are_guarded_without_a_question)
{
    struct world world;
    world_open(&world, "");
    CHECK_INT(resolve(&world, "8.8.8.8"), OK);
    CHECK_INT(resolve(&world, "10.0.0.1"), ERR_DENIED);
    CHECK_INT(resolve(&world, "::1"), ERR_DENIED);
    CHECK_INT(world.names.questions, 0);
    world_close(&world);
}

TEST(a_name_that_changes_its_answer_is_denied_at_the_connection)
{
    struct world world;
    world_open(&world, "");
    names_say(&world, 1, good);
    CHECK_INT(resolve(&world, "rebind.example"), OK); /* as when it is saved */
    names_say(&world, 1, here);
    CHECK_INT(dial(&world, "rebind.example"), ERR_DENIED);
    names_say(&world, 1, metadata);
    CHECK_INT(dial(&world, "rebind.example"), ERR_DENIED);
    CHECK_INT(world.accepted, 0);
    world_close(&world);
}

TEST(an_allowed_network_is_connected_to)
{
    struct world world;
    world_open(&world, "127.0.0.0/8");
    names_say(&world, 1, here);
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
    names_say(&world, 2, dead_first);
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
    names_say(&world, 1, here);
    const struct dial_target target = {.host = "a.example", .port = world.port};
    dial_cancel(dial_start(world.loop, world.dialer, &target, on_dialled, &world));
    const struct resolve_target name = {"a.example", 1, GUARD_PUBLIC};
    resolve_cancel(resolve_start(world.resolver, &name, world.loop, on_resolved, &world));
    CHECK_INT(dial(&world, "127.0.0.1"), OK);
    world_close(&world);
}

static void on_checked(void *arg, const struct fault *fault)
{
    struct world *world = arg;
    world->is_done = true;
    world->fault = *fault;
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
        {"https://a.example/hook", false, ERR_NOT_FOUND},
        {"http://redis:6379/", false, ERR_DENIED},
        {"http://metadata.google.internal/", false, ERR_DENIED},
        {"http://printer.local./", false, ERR_DENIED},
    };
    struct world world;
    world_open(&world, "");
    names_say(&world, 1, good);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        world.is_done = false;
        world.names.says_no_such_name = !rows[i].is_known;
        resolver_check_url(world.resolver, rows[i].url, world.loop, on_checked, &world);
        turn_until_set(world.loop, &world.is_done);
        if (!CHECK_INT(world.fault.err, rows[i].err))
            CHECK_TEXT(rows[i].url, world.fault.text);
    }
    world_close(&world);
}

static void count_answer(void *arg, const struct net_addr *addrs, size_t count,
                         const struct fault *fault)
{
    struct world *world = arg;
    (void)addrs;
    CHECK(count == 2 && !fault->err);
    world->is_done = ++world->accepted == 3;
}

TEST(requests_for_one_name_share_a_look_up)
{
    struct world world;
    world_open(&world, "");
    names_say(&world, 2, good);
    struct names *names = names_new(world.resolver, world.loop);
    const struct resolve_target target = {"a.example", 443, GUARD_PUBLIC};
    const struct resolve_target other = {"b.example", 443, GUARD_PUBLIC};
    names_resolve(names, &target, count_answer, &world);
    names_resolve(names, &target, count_answer, &world);
    names_cancel(names_resolve(names, &target, count_answer, &world));
    names_resolve(names, &other, count_answer, &world);
    turn_until_set(world.loop, &world.is_done);
    CHECK_INT(world.names.questions, 4); /* A and AAAA for each of two names */
    names_resolve(names, &target, count_answer, &world);
    names_free(names); /* with one under way */
    CHECK_INT(resolve(&world, "c.example"), OK);
    CHECK_INT(world.accepted, 3);
    world_close(&world);
}
