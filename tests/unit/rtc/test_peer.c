/* rtc/peer: a controlling peer and a lite one against each other on a simulated network. */
#include "rtc/peer.h"

#include "base/attr.h"
#include "rtc/demux.h"
#include "rtc/ice.h"
#include "rtc/rtcp.h"
#include "sim_net.h"
#include "test.h"

/* End 0 is the client (controlling), end 1 the lite side. */
struct call {
    struct sim_net *net;
    struct dtls_identity *identity[2];
    struct peer *ends[2];
    unsigned counts[2][PEER_EVENT_FAILED + 1];
    unsigned audio_bytes[2];
    uint16_t last_sequence[2];
    char message[2][64];
    bool is_offered_by_lite; /* the lite side sends the first description: DTLS roles turn */
};

static void set_up(struct call *call, uint64_t seed, unsigned loss_percent)
{
    memset(call, 0, sizeof(*call));
    call->net = sim_net_new(seed, 20000, loss_percent);
    for (unsigned i = 0; i < 2; i++) {
        CHECK_INT(dtls_identity_new(&call->identity[i], NULL), OK);
        struct peer_config config = {.role = i == 0 ? PEER_CONTROLLING : PEER_LITE,
                                     .identity = call->identity[i]};
        call->ends[i] = peer_new(&config, call->net->now_us);
    }
}

static void tear_down(struct call *call)
{
    for (unsigned i = 0; i < 2; i++) {
        peer_free(call->ends[i]);
        dtls_identity_free(call->identity[i]);
    }
    sim_net_free(call->net);
}

static void describe(struct call *call, unsigned to)
{
    struct peer *other = call->ends[1 - to];
    struct peer_remote remote = {.ufrag = peer_ufrag(other),
                                 .pwd = peer_pwd(other),
                                 .is_dtls_client = (to == 0) != call->is_offered_by_lite};
    memcpy(remote.fingerprint, peer_fingerprint(other), sizeof(remote.fingerprint));
    CHECK_INT(peer_set_remote(call->ends[to], &remote, call->net->now_us), OK);
    peer_enable_data(call->ends[to], 5000, call->net->now_us);
    struct net_addr addr = sim_net_addr(1 - to);
    CHECK_INT(peer_add_remote_candidate(call->ends[to], &addr, 1), OK);
}

static void take_event(struct call *call, unsigned end, const struct peer_event *event)
{
    call->counts[end][event->type]++;
    if (event->type == PEER_EVENT_AUDIO) {
        call->audio_bytes[end] += (unsigned)event->audio.len;
        call->last_sequence[end] = event->audio.sequence;
    }
    if (event->type == PEER_EVENT_DATA && event->data.type == DATA_EVENT_MESSAGE)
        memcpy(call->message[end], event->data.bytes,
               MIN(event->data.len, sizeof(call->message[end]) - 1));
}

static void turn(struct call *call, unsigned end)
{
    struct peer_datagram out;
    struct peer_event event;
    while (peer_event(call->ends[end], &event))
        take_event(call, end, &event);
    while (peer_output(call->ends[end], &out, call->net->now_us)) {
        CHECK(out.len <= PEER_MTU_BYTES);
        sim_net_send(call->net, 1 - end, out.data, out.len);
    }
    while (peer_event(call->ends[end], &event))
        take_event(call, end, &event);
}

static void feed(struct peer *peer, const struct net_addr *local, const struct net_addr *from,
                 uint8_t *data, size_t len, int64_t now_us)
{
    struct demux_packet packet;
    struct ice_path path = {*local, *from};
    demux_read(data, len, &packet);
    peer_input(peer, &path, &packet, now_us);
}

static void run(struct call *call, int64_t for_us)
{
    int64_t until_us = call->net->now_us + for_us;
    struct sim_datagram datagram;
    for (unsigned steps = 0; call->net->now_us < until_us; steps++) {
        REQUIRE(steps < 100000); /* a deadline in the past would spin */
        while (sim_net_receive(call->net, &datagram)) {
            feed(call->ends[datagram.to], &datagram.local, &datagram.from, datagram.data,
                 datagram.len, call->net->now_us);
            turn(call, datagram.to);
        }
        turn(call, 0);
        turn(call, 1);
        int64_t due = MIN(peer_deadline_us(call->ends[0]), peer_deadline_us(call->ends[1]));
        sim_net_advance(call->net, MIN(due, until_us));
    }
}

static void run_until_connected(struct call *call, int64_t limit_us)
{
    int64_t until_us = call->net->now_us + limit_us;
    while (call->net->now_us < until_us &&
           !(call->counts[0][PEER_EVENT_CONNECTED] && call->counts[1][PEER_EVENT_CONNECTED]))
        run(call, 10000);
    CHECK_INT(call->counts[0][PEER_EVENT_CONNECTED], 1);
    CHECK_INT(call->counts[1][PEER_EVENT_CONNECTED], 1);
}

static void connect_ends(struct call *call)
{
    describe(call, 1);
    describe(call, 0);
    run_until_connected(call, 30000000);
}

/* Both ends speak for so many frames of 20 ms. */
static void speak(struct call *call, unsigned frames)
{
    uint8_t payload[80] = {0};
    for (unsigned i = 0; i < frames; i++) {
        struct peer_opus opus = {.payload = payload,
                                 .len = sizeof(payload),
                                 .timestamp = i * 960,
                                 .payload_type = 111,
                                 .is_first = i == 0};
        peer_send_audio(call->ends[0], &opus, call->net->now_us);
        peer_send_audio(call->ends[1], &opus, call->net->now_us);
        run(call, 20000);
    }
}

TEST(peers_connect_and_speak)
{
    struct call call;
    set_up(&call, 1, 0);
    connect_ends(&call);
    CHECK(call.net->now_us <= SIM_START_US + 200000); /* four round trips of 40 ms */
    speak(&call, 500);
    run(&call, 100000);
    for (unsigned i = 0; i < 2; i++) {
        struct peer_stats stats;
        peer_stats(call.ends[i], &stats);
        CHECK_INT(call.counts[i][PEER_EVENT_AUDIO], 500);
        CHECK_INT(call.audio_bytes[i], 500 * 80);
        CHECK_INT(stats.packets_received, 500);
        CHECK_INT(stats.packets_lost, 0);
        CHECK_INT(stats.packets_refused, 0);
        CHECK(stats.rtt_ms > 39 && stats.rtt_ms < 41);
        CHECK(stats.jitter_ms >= 0 && stats.jitter_ms < 0.5);
        CHECK(stats.remote_loss == 0);
    }
    tear_down(&call);
}

TEST(peers_connect_when_the_lite_side_offers)
{
    struct call call;
    set_up(&call, 1, 0);
    call.is_offered_by_lite = true;
    /* The client answers, its checks and ClientHello arrive before its description does. */
    struct peer *lite = call.ends[1];
    describe(&call, 0);
    run(&call, 500000);
    CHECK(!peer_is_connected(lite));
    describe(&call, 1);
    run_until_connected(&call, 5000000);
    tear_down(&call);
}

TEST(peers_connect_over_bad_networks)
{
    for (uint64_t seed = 0; seed < 12; seed++) {
        struct call call;
        set_up(&call, seed, 25);
        call.net->jitter_us = 40000;
        connect_ends(&call);
        tear_down(&call);
    }
}

TEST(peers_count_what_was_lost)
{
    struct call call;
    set_up(&call, 3, 0);
    connect_ends(&call);
    speak(&call, 50);
    unsigned before = call.counts[0][PEER_EVENT_AUDIO];
    call.net->is_cut = true;
    speak(&call, 10);
    call.net->is_cut = false;
    speak(&call, 2);
    CHECK_INT(call.counts[0][PEER_EVENT_AUDIO], before + 2);

    struct peer_stats stats;
    peer_stats(call.ends[0], &stats);
    CHECK(stats.packets_lost >= 9 && stats.packets_lost <= 11);
    tear_down(&call);
}

TEST(peers_carry_messages_both_ways)
{
    struct call call;
    set_up(&call, 1, 5);
    connect_ends(&call);
    uint16_t channel;
    REQUIRE(data_open(peer_data(call.ends[0]), "_reliable", true, -1, &channel) == OK);
    REQUIRE(data_send(peer_data(call.ends[0]), channel, "hello", 5, true) == OK);
    run(&call, 10000000);
    CHECK_TEXT(call.message[1], "hello");
    REQUIRE(data_find(peer_data(call.ends[1]), "_reliable", &channel) == OK);
    REQUIRE(data_send(peer_data(call.ends[1]), channel, "welcome", 7, true) == OK);
    run(&call, 10000000);
    CHECK_TEXT(call.message[0], "welcome");
    tear_down(&call);
}

/* The channel says in FORWARD-TSN chunks what it has given up. */
TEST(peer_goes_on_after_a_live_caller_gave_messages_up)
{
    struct call call;
    uint16_t lossy, reliable;
    set_up(&call, 1, 0);
    connect_ends(&call);
    struct data *data = peer_data(call.ends[0]);
    REQUIRE(data_open(data, "_reliable", true, -1, &reliable) == OK);
    REQUIRE(data_open(data, "_lossy", false, 0, &lossy) == OK);
    run(&call, 500000);
    call.net->loss_percent = 40;
    for (unsigned i = 0; i < 2000; i++) { /* more than stay open ahead of a gap */
        REQUIRE(data_send(data, lossy, "lost", 4, true) == OK);
        run(&call, 20000);
    }
    call.net->loss_percent = 0;
    CHECK(call.counts[1][PEER_EVENT_DATA] < 2000);
    run(&call, 5000000);
    REQUIRE(data_send(data, lossy, "last", 4, true) == OK);
    run(&call, 500000);
    CHECK_TEXT(call.message[1], "last");
    REQUIRE(data_send(data, reliable, "more", 4, true) == OK);
    run(&call, 500000);
    CHECK_TEXT(call.message[1], "more");
    tear_down(&call);
}

TEST(peer_tells_of_silence_and_return)
{
    struct call call;
    set_up(&call, 1, 0);
    connect_ends(&call);
    speak(&call, 10);
    call.net->is_cut = true;
    run(&call, 9000000);
    CHECK_INT(call.counts[1][PEER_EVENT_SILENT], 0);
    run(&call, 2000000);
    CHECK_INT(call.counts[1][PEER_EVENT_SILENT], 1);
    CHECK(peer_is_silent(call.ends[1]));
    run(&call, 20000000);
    call.net->is_cut = false;
    run(&call, 4000000); /* a consent check comes through */
    CHECK_INT(call.counts[1][PEER_EVENT_BACK], 1);
    CHECK(!peer_is_silent(call.ends[1]));
    unsigned before = call.counts[1][PEER_EVENT_AUDIO];
    speak(&call, 10);
    run(&call, 100000);
    CHECK_INT(call.counts[1][PEER_EVENT_AUDIO], before + 10);
    tear_down(&call);
}

TEST(peer_refuses_another_certificate)
{
    struct call call;
    set_up(&call, 1, 0);
    describe(&call, 0);
    struct peer_remote remote = {
        .ufrag = peer_ufrag(call.ends[0]), .pwd = peer_pwd(call.ends[0]), .fingerprint = {1, 2}};
    CHECK_INT(peer_set_remote(call.ends[1], &remote, call.net->now_us), OK);
    run(&call, 5000000);
    CHECK_INT(call.counts[1][PEER_EVENT_CONNECTED], 0);
    CHECK_INT(call.counts[1][PEER_EVENT_FAILED], 1);
    tear_down(&call);
}

TEST(peer_fails_when_nobody_answers)
{
    struct call call;
    set_up(&call, 1, 0);
    call.net->is_cut = true;
    describe(&call, 0);
    run(&call, 40000000);
    CHECK_INT(call.counts[0][PEER_EVENT_FAILED], 1);
    tear_down(&call);
}

TEST(peer_tells_of_a_clean_end)
{
    struct call call;
    set_up(&call, 1, 0);
    connect_ends(&call);
    peer_close(call.ends[0], call.net->now_us);
    run(&call, 1000000);
    CHECK_INT(call.counts[1][PEER_EVENT_CLOSED], 1);
    CHECK(!peer_is_connected(call.ends[1]));
    tear_down(&call);
}

TEST(peer_keeps_its_session_through_an_ice_restart)
{
    struct call call;
    set_up(&call, 1, 0);
    connect_ends(&call);
    struct peer_remote remote = {.ufrag = "anotherone", .pwd = "0123456789012345678901"};
    memcpy(remote.fingerprint, peer_fingerprint(call.ends[0]), sizeof(remote.fingerprint));
    CHECK_INT(peer_set_remote(call.ends[1], &remote, call.net->now_us), OK);
    speak(&call, 50);
    run(&call, 100000);
    CHECK_INT(call.counts[1][PEER_EVENT_AUDIO], 50);
    remote.fingerprint[0] ^= 1;
    CHECK_INT(peer_set_remote(call.ends[1], &remote, call.net->now_us), ERR_CONFLICT);
    remote.fingerprint[0] ^= 1;
    remote.is_dtls_client = true;
    CHECK_INT(peer_set_remote(call.ends[1], &remote, call.net->now_us), ERR_CONFLICT);
    tear_down(&call);
}

TEST(peer_takes_nothing_but_checks_from_elsewhere)
{
    struct call call;
    set_up(&call, 1, 0);
    connect_ends(&call);
    struct net_addr local = sim_net_addr(1), stranger = net_addr_ipv4(10, 0, 0, 9, 9);
    struct peer_stats before, after;
    peer_stats(call.ends[1], &before);
    for (unsigned first = 0; first < 256; first++) {
        uint8_t junk[100] = {(uint8_t)first, 200, 0, 24};
        feed(call.ends[1], &local, &stranger, junk, sizeof(junk), call.net->now_us);
        CHECK(!peer_has_path(call.ends[1], &local, &stranger));
    }
    peer_stats(call.ends[1], &after);
    CHECK_INT(after.packets_refused - before.packets_refused, 256);
    speak(&call, 5);
    run(&call, 100000);
    CHECK_INT(call.counts[1][PEER_EVENT_AUDIO], 5);
    tear_down(&call);
}

TEST(peer_survives_garbage_on_its_own_path)
{
    struct call call;
    set_up(&call, 1, 0);
    connect_ends(&call);
    struct net_addr local = sim_net_addr(1), from = sim_net_addr(0);
    for (unsigned i = 0; i < 20000; i++) {
        uint8_t junk[200];
        for (size_t at = 0; at < sizeof(junk); at += 4) {
            uint32_t word = sim_net_random(call.net);
            memcpy(junk + at, &word, 4);
        }
        feed(call.ends[1], &local, &from, junk, sim_net_random(call.net) % sizeof(junk),
             call.net->now_us);
        turn(&call, 1);
    }
    CHECK(peer_is_connected(call.ends[1]));
    speak(&call, 5);
    run(&call, 100000);
    CHECK_INT(call.counts[1][PEER_EVENT_AUDIO], 5);
    tear_down(&call);
}

/* The client's own packets, far too many of them: they are dropped, and their sender is told of. */
TEST(a_peer_that_floods_is_dropped_and_told_once)
{
    struct call call;
    set_up(&call, 1, 0);
    connect_ends(&call);
    uint8_t payload[80] = {0};
    unsigned sent = 0;
    while (sent < 60000) {
        for (int i = 0; i < 8; i++, sent++) {
            struct peer_opus opus = {.payload = payload,
                                     .len = sizeof(payload),
                                     .timestamp = sent * 960,
                                     .payload_type = 111};
            peer_send_audio(call.ends[0], &opus, call.net->now_us);
        }
        run(&call, 2000);
    }
    struct peer_stats stats;
    peer_stats(call.ends[1], &stats);
    CHECK(stats.packets_received < 5000);
    CHECK(stats.packets_dropped > 50000);
    CHECK_INT(call.counts[1][PEER_EVENT_FLOODED], 1);
    CHECK_INT(call.counts[0][PEER_EVENT_FLOODED], 0);
    CHECK_INT(call.counts[1][PEER_EVENT_SILENT], 0);
    tear_down(&call);
}
