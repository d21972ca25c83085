/* rtc/port on loopback: many callers behind one socket, strangers, goodbyes inside callbacks. */
#include "rtc/port.h"

#include "base/attr.h"
#include "base/clock.h"
#include "base/loop.h"
#include "base/mem.h"
#include "net/udp.h"
#include "test.h"

enum { CALLERS = 24, LIMIT_US = 5000000 };

struct fixture;

struct end {
    struct fixture *fixture;
    struct port *port;
    struct peer *peer;
    bool is_connected, is_closed;
    unsigned packets, sent;
    char message[16];
};

struct fixture {
    struct loop *loop;
    struct dtls_identity *identity;
    struct port *server, *client;
    struct end hosts[CALLERS], callers[CALLERS];
    unsigned callers_used;
    struct timer limit, frame;
    bool (*is_done)(struct fixture *);
    bool has_timed_out;
};

static void on_event(void *arg, struct peer *peer, const struct peer_event *event, int64_t now_us)
{
    struct end *end = arg;
    (void)now_us;
    if (event->type == PEER_EVENT_CONNECTED)
        end->is_connected = true;
    if (event->type == PEER_EVENT_AUDIO)
        end->packets++;
    if (event->type == PEER_EVENT_DATA && event->data.type == DATA_EVENT_MESSAGE)
        memcpy(end->message, event->data.bytes, MIN(event->data.len, sizeof(end->message) - 1));
    if (event->type == PEER_EVENT_CLOSED) {
        end->is_closed = true;
        end->peer = NULL;
        port_peer_free(end->port, peer);
    }
    if (end->fixture->is_done(end->fixture))
        loop_stop(end->fixture->loop);
}

static void on_limit(void *arg)
{
    struct fixture *fixture = arg;
    fixture->has_timed_out = true;
    loop_stop(fixture->loop);
}

static void open_ports(struct fixture *fixture)
{
    memset(fixture, 0, sizeof(*fixture));
    fixture->loop = loop_new("port");
    CHECK_INT(dtls_identity_new(&fixture->identity, NULL), OK);
    struct net_addr loopback = net_addr_ipv4(127, 0, 0, 1, 0);
    struct port_config config = {.loop = fixture->loop,
                                 .loop_number = 3,
                                 .identity = fixture->identity,
                                 .binds = &loopback,
                                 .bind_count = 1};
    CHECK_INT(port_open(&config, &fixture->server, NULL), OK);
    CHECK_INT(port_open(&config, &fixture->client, NULL), OK);
    timer_init(&fixture->limit, fixture->loop, on_limit, fixture);
}

static void describe(struct end *to, struct end *from, bool is_dtls_client)
{
    struct peer_remote remote = {.ufrag = peer_ufrag(from->peer),
                                 .pwd = peer_pwd(from->peer),
                                 .is_dtls_client = is_dtls_client};
    memcpy(remote.fingerprint, peer_fingerprint(from->peer), sizeof(remote.fingerprint));
    CHECK_INT(peer_set_remote(to->peer, &remote, clock_now_us()), OK);
    peer_enable_data(to->peer, 5000, clock_now_us());
}

static void open_end(struct fixture *fixture, struct end *end, struct port *port,
                     enum peer_role role)
{
    end->fixture = fixture;
    end->port = port;
    struct port_peer_config config = {.role = role, .fn = on_event, .arg = end};
    CHECK_INT(port_peer_new(port, &config, &end->peer), OK);
}

static void add_caller(struct fixture *fixture)
{
    struct end *host = &fixture->hosts[fixture->callers_used];
    struct end *caller = &fixture->callers[fixture->callers_used++];
    open_end(fixture, host, fixture->server, PEER_LITE);
    open_end(fixture, caller, fixture->client, PEER_CONTROLLING);
    describe(host, caller, false);
    describe(caller, host, true);
    struct port_candidate candidates[4];
    size_t count = port_candidates(fixture->server, candidates, ARRAY_LEN(candidates));
    CHECK_INT(count, 1);
    CHECK_INT(peer_add_remote_candidate(caller->peer, &candidates[0].addr, candidates[0].priority),
              OK);
    port_pump(fixture->client, caller->peer);
}

static void run(struct fixture *fixture, bool (*is_done)(struct fixture *))
{
    fixture->is_done = is_done;
    timer_set_after(&fixture->limit, LIMIT_US);
    loop_run(fixture->loop);
    timer_stop(&fixture->limit);
    CHECK(!fixture->has_timed_out);
}

static void close_ports(struct fixture *fixture)
{
    for (unsigned i = 0; i < fixture->callers_used; i++) {
        port_peer_free(fixture->server, fixture->hosts[i].peer);
        port_peer_free(fixture->client, fixture->callers[i].peer);
    }
    port_close(fixture->server);
    port_close(fixture->client);
    loop_free(fixture->loop);
    dtls_identity_free(fixture->identity);
}

static bool are_connected(struct fixture *fixture)
{
    for (unsigned i = 0; i < fixture->callers_used; i++)
        if (!fixture->hosts[i].is_connected || !fixture->callers[i].is_connected)
            return false;
    return true;
}

static bool have_heard(struct fixture *fixture)
{
    for (unsigned i = 0; i < fixture->callers_used; i++)
        if (fixture->hosts[i].packets < 10 || fixture->callers[i].packets < 10)
            return false;
    return true;
}

static void send_frame(struct end *end)
{
    static const uint8_t payload[60];
    if (!end->peer || end->sent == 10)
        return;
    struct peer_opus opus = {.payload = payload,
                             .len = sizeof(payload),
                             .timestamp = end->sent++ * 960,
                             .payload_type = 111};
    peer_send_audio(end->peer, &opus, clock_now_us());
    port_pump(end->port, end->peer);
}

static void on_frame(void *arg)
{
    struct fixture *fixture = arg;
    for (unsigned i = 0; i < fixture->callers_used; i++) {
        send_frame(&fixture->hosts[i]);
        send_frame(&fixture->callers[i]);
    }
    timer_set_after(&fixture->frame, 2000);
}

TEST(port_serves_many_callers_on_one_socket)
{
    struct fixture fixture;
    open_ports(&fixture);
    for (unsigned i = 0; i < CALLERS; i++)
        add_caller(&fixture);
    run(&fixture, are_connected);
    timer_init(&fixture.frame, fixture.loop, on_frame, &fixture);
    timer_set_after(&fixture.frame, 0);
    run(&fixture, have_heard);
    timer_stop(&fixture.frame);
    struct port_stats stats;
    port_stats(fixture.server, &stats);
    CHECK_INT(stats.peers, CALLERS);
    CHECK_INT(stats.datagrams_unknown, 0);
    close_ports(&fixture);
}

static bool has_message(struct fixture *fixture)
{
    return fixture->hosts[0].message[0];
}

TEST(port_carries_messages)
{
    struct fixture fixture;
    open_ports(&fixture);
    add_caller(&fixture);
    uint16_t channel;
    struct data *data = peer_data(fixture.callers[0].peer);
    CHECK_INT(data_open(data, "_reliable", true, -1, &channel), OK);
    CHECK_INT(data_send(data, channel, "hello", 5, true), OK);
    run(&fixture, has_message);
    CHECK_TEXT(fixture.hosts[0].message, "hello");
    close_ports(&fixture);
}

static bool is_closed(struct fixture *fixture)
{
    return fixture->hosts[0].is_closed;
}

TEST(port_frees_a_peer_inside_its_callback)
{
    struct fixture fixture;
    open_ports(&fixture);
    add_caller(&fixture);
    run(&fixture, are_connected);
    port_peer_free(fixture.client, fixture.callers[0].peer);
    fixture.callers[0].peer = NULL;
    run(&fixture, is_closed);
    struct port_stats stats;
    port_stats(fixture.server, &stats);
    CHECK_INT(stats.peers, 0);
    close_ports(&fixture);
}

static bool has_counted_strangers(struct fixture *fixture)
{
    struct port_stats stats;
    port_stats(fixture->server, &stats);
    return stats.datagrams_unknown >= 6;
}

static void ignore_packets(void *arg, const struct udp_packet *packets, size_t count,
                           int64_t now_us)
{
    (void)arg, (void)packets, (void)count, (void)now_us;
}

static void look_again(void *arg)
{
    struct fixture *fixture = arg;
    if (fixture->is_done(fixture))
        loop_stop(fixture->loop);
    timer_set_after(&fixture->frame, 1000);
}

TEST(port_passes_strangers_by)
{
    struct fixture fixture;
    open_ports(&fixture);
    add_caller(&fixture);
    run(&fixture, are_connected);

    struct port_candidate candidate;
    CHECK_INT(port_candidates(fixture.server, &candidate, 1), 1);
    struct net_addr any = net_addr_ipv4(127, 0, 0, 1, 0);
    struct udp *stranger;
    REQUIRE(udp_open(fixture.loop, &any, ignore_packets, NULL, &stranger, NULL) == OK);
    uint8_t junk[64] = {0x80, 111};
    static const uint8_t firsts[] = {0x80, 22, 255, 0};
    for (size_t i = 0; i < sizeof(firsts); i++) {
        junk[0] = firsts[i];
        CHECK_INT(udp_send(stranger, NULL, &candidate.addr, junk, sizeof(junk)), OK);
    }
    static const char *const names[] = {"fffffffffffff:x", "03001aaaaaaaa:x"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) { /* no such slot, and a wrong name of a slot */
        uint8_t check[40] = "\x00\x01\x00\x14\x21\x12\xa4\x42"
                            "123456789012"
                            "\x00\x06\x00\x10";
        memcpy(check + 24, names[i], 16);
        CHECK_INT(udp_send(stranger, NULL, &candidate.addr, check, sizeof(check)), OK);
    }
    udp_flush(stranger);
    timer_init(&fixture.frame, fixture.loop, look_again, &fixture);
    timer_set_after(&fixture.frame, 0);
    run(&fixture, has_counted_strangers);
    timer_stop(&fixture.frame);
    udp_close(stranger);
    CHECK(peer_is_connected(fixture.hosts[0].peer));
    close_ports(&fixture);
}

TEST(port_names_its_candidates)
{
    AUTO(loop) loop = loop_new("port");
    AUTO(dtls_identity) identity = NULL;
    REQUIRE(dtls_identity_new(&identity, NULL) == OK);
    struct net_addr binds[2] = {net_addr_ipv4(127, 0, 0, 1, 0), net_addr_ipv4(127, 0, 0, 2, 0)};
    struct port_config config = {.loop = loop,
                                 .identity = identity,
                                 .binds = binds,
                                 .bind_count = 2,
                                 .public_address = net_addr_ipv4(203, 0, 113, 7, 0)};
    struct port *port;
    REQUIRE(port_open(&config, &port, NULL) == OK);
    struct port_candidate candidates[4];
    size_t count = port_candidates(port, candidates, ARRAY_LEN(candidates));
    CHECK_INT(count, 2); /* the same public address, each with its own port */
    CHECK(net_ip_equal(&candidates[0].addr, &config.public_address));
    CHECK(candidates[0].addr.port != 0 && candidates[0].priority > candidates[1].priority);
    port_close(port);

    config.binds = NULL;
    config.bind_count = 0;
    config.public_address = (struct net_addr){0};
    REQUIRE(port_open(&config, &port, NULL) == OK);
    CHECK(port_candidates(port, candidates, ARRAY_LEN(candidates)) >= 1);
    port_close(port);
}

TEST(port_says_what_it_cannot_bind)
{
    AUTO(loop) loop = loop_new("port");
    struct net_addr foreign = net_addr_ipv4(203, 0, 113, 7, 0);
    struct port_config config = {.loop = loop, .binds = &foreign, .bind_count = 1};
    struct port *port = NULL;
    struct fault fault = {0};
    CHECK_INT(port_open(&config, &port, &fault), ERR_IO);
    CHECK(strstr(fault.text, "203.0.113.7") != NULL);
}
