/* rtc/dtls: both roles against each other, on good and bad networks, and garbage. */
#include "rtc/dtls.h"

#include "base/attr.h"
#include "base/states.h"
#include "sim_net.h"
#include "test.h"

/* End 0 is the client. */
struct pair {
    struct sim_net *net;
    struct dtls_identity *identity[2];
    struct dtls *ends[2];
};

static void set_up(struct pair *pair, uint64_t seed, unsigned loss_percent)
{
    pair->net = sim_net_new(seed, 20000, loss_percent);
    for (unsigned i = 0; i < 2; i++) {
        CHECK_INT(dtls_identity_new(&pair->identity[i], NULL), OK);
        pair->ends[i] = dtls_new(pair->identity[i], i == 0);
    }
    dtls_start(pair->ends[0], pair->net->now_us);
}

static void tear_down(struct pair *pair)
{
    for (unsigned i = 0; i < 2; i++) {
        dtls_free(pair->ends[i]);
        dtls_identity_free(pair->identity[i]);
    }
    sim_net_free(pair->net);
}

static bool is_up(const struct pair *pair)
{
    return dtls_state(pair->ends[0]) == DTLS_UP && dtls_state(pair->ends[1]) == DTLS_UP;
}

static void flush(struct pair *pair)
{
    uint8_t out[1500];
    for (unsigned i = 0; i < 2; i++)
        for (size_t len; (len = dtls_output(pair->ends[i], out, sizeof(out), pair->net->now_us));) {
            CHECK(len <= 1200);
            sim_net_send(pair->net, 1 - i, out, len);
        }
}

static void run(struct pair *pair, int64_t until_us)
{
    struct sim_datagram datagram;
    while (pair->net->now_us < until_us && !is_up(pair)) {
        while (sim_net_receive(pair->net, &datagram)) {
            struct dtls *end = pair->ends[datagram.to];
            dtls_input(end, datagram.data, datagram.len, pair->net->now_us);
            CHECK_INT(dtls_read(end, datagram.data, sizeof(datagram.data)), 0);
        }
        flush(pair);
        if (is_up(pair))
            return;
        int64_t due = MIN(dtls_deadline_us(pair->ends[0]), dtls_deadline_us(pair->ends[1]));
        sim_net_advance(pair->net, MIN(due, until_us));
    }
}

static void check_agreement(struct pair *pair)
{
    struct dtls_keys keys[2];
    uint8_t seen[DTLS_FINGERPRINT_BYTES];
    for (unsigned i = 0; i < 2; i++) {
        CHECK_INT(dtls_keys(pair->ends[i], &keys[i]), OK);
        CHECK_INT(dtls_peer_fingerprint(pair->ends[i], seen), OK);
        CHECK(memcmp(seen, dtls_identity_fingerprint(pair->identity[1 - i]), sizeof(seen)) == 0);
    }
    CHECK_INT(keys[0].profile, DTLS_AEAD_AES_128_GCM);
    CHECK(memcmp(keys[0].local, keys[1].remote, sizeof(keys[0].local)) == 0);
    CHECK(memcmp(keys[0].remote, keys[1].local, sizeof(keys[0].local)) == 0);
    CHECK(memcmp(keys[0].local, keys[0].remote, sizeof(keys[0].local)) != 0);
}

TEST(dtls_both_roles_agree_on_keys)
{
    struct pair pair;
    set_up(&pair, 1, 0);
    run(&pair, SIM_START_US + 10000000);
    REQUIRE(is_up(&pair));
    CHECK(pair.net->now_us <= SIM_START_US + 90000); /* two round trips */
    check_agreement(&pair);
    tear_down(&pair);
}

TEST(dtls_gets_through_loss_and_reordering)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct pair pair;
        set_up(&pair, seed, 30);
        pair.net->jitter_us = 30000;
        run(&pair, SIM_START_US + 60000000);
        CHECK(is_up(&pair));
        if (is_up(&pair))
            check_agreement(&pair);
        tear_down(&pair);
    }
}

static size_t carry(struct pair *pair, unsigned to, uint8_t *out, size_t cap)
{
    struct sim_datagram datagram;
    flush(pair);
    sim_net_advance(pair->net, pair->net->now_us + 50000);
    size_t len = 0;
    while (sim_net_receive(pair->net, &datagram)) {
        dtls_input(pair->ends[datagram.to], datagram.data, datagram.len, pair->net->now_us);
        for (size_t more; (more = dtls_read(pair->ends[datagram.to], out, cap));)
            if (datagram.to == to)
                len = more;
    }
    return len;
}

TEST(dtls_carries_application_data)
{
    struct pair pair;
    set_up(&pair, 1, 0);
    uint8_t data[1000] = "hello", got[1500];
    CHECK_INT(dtls_write(pair.ends[0], data, 5), ERR_CLOSED); /* not up yet */
    run(&pair, SIM_START_US + 10000000);
    REQUIRE(is_up(&pair));
    for (unsigned from = 0; from < 2; from++) {
        CHECK_INT(dtls_write(pair.ends[from], data, sizeof(data)), OK);
        CHECK_INT(carry(&pair, 1 - from, got, sizeof(got)), sizeof(data));
        CHECK(memcmp(data, got, sizeof(data)) == 0);
    }
    CHECK_INT(dtls_write(pair.ends[0], got, 1201), ERR_LIMIT);
    dtls_close(pair.ends[0]);
    carry(&pair, 1, got, sizeof(got));
    CHECK_INT(dtls_state(pair.ends[1]), DTLS_CLOSED);
    CHECK_INT(dtls_write(pair.ends[1], data, 5), ERR_CLOSED);
    tear_down(&pair);
}

TEST(dtls_survives_garbage)
{
    struct pair pair;
    set_up(&pair, 1, 0);
    for (unsigned i = 0; i < 2000; i++) {
        uint8_t junk[200];
        for (size_t at = 0; at < sizeof(junk); at++)
            junk[at] = (uint8_t)sim_net_random(pair.net);
        junk[0] = (uint8_t)(20 + junk[0] % 44);
        junk[1] = 0xfe, junk[2] = 0xfd;
        dtls_input(pair.ends[1], junk, sim_net_random(pair.net) % sizeof(junk), pair.net->now_us);
    }
    if (dtls_state(pair.ends[1]) == DTLS_FAILED) {
        CHECK(dtls_reason(pair.ends[1])[0] != 0);
    } else {
        run(&pair, SIM_START_US + 10000000);
        CHECK(is_up(&pair));
    }
    tear_down(&pair);
}

TEST(dtls_ignores_garbage_once_up)
{
    struct pair pair;
    set_up(&pair, 1, 0);
    run(&pair, SIM_START_US + 10000000);
    REQUIRE(is_up(&pair));
    uint8_t junk[60], got[1500];
    for (unsigned i = 0; i < 1000; i++) {
        for (size_t at = 0; at < sizeof(junk); at++)
            junk[at] = (uint8_t)sim_net_random(pair.net);
        junk[0] = (uint8_t)(20 + junk[0] % 5);
        junk[1] = 0xfe, junk[2] = 0xfd;
        dtls_input(pair.ends[1], junk, sizeof(junk), pair.net->now_us);
        CHECK_INT(dtls_read(pair.ends[1], got, sizeof(got)), 0);
    }
    CHECK(is_up(&pair));
    CHECK_INT(dtls_write(pair.ends[0], junk, 10), OK);
    CHECK_INT(carry(&pair, 1, got, sizeof(got)), 10);
    tear_down(&pair);
}

/* Forged from the caller's address, without a key: sealed records that are too short to be any. */
TEST(dtls_drops_sealed_records_of_any_length)
{
    struct pair pair;
    uint8_t got[1500];
    for (int is_early = 0; is_early <= 1; is_early++) {
        set_up(&pair, 1, 0);
        if (is_early)
            flush(&pair);
        else
            run(&pair, SIM_START_US + 10000000);
        for (unsigned type = 20; type <= 23; type++) {
            for (uint8_t len = 0; len < 60; len++) {
                uint8_t forged[13 + 60] = {(uint8_t)type, 0xfe, 0xfd, 0,  1, 0, 0, 0, 0,
                                           0xff,          0xff, 0,    len};
                for (unsigned end = 0; end < 2; end++) {
                    dtls_input(pair.ends[end], forged, 13U + len, pair.net->now_us);
                    CHECK_INT(dtls_read(pair.ends[end], got, sizeof(got)), 0);
                }
            }
        }
        run(&pair, pair.net->now_us + 10000000);
        CHECK(is_up(&pair));
        CHECK_INT(dtls_write(pair.ends[0], (const uint8_t *)"0123456789", 10), OK);
        CHECK_INT(carry(&pair, 1, got, sizeof(got)), 10);
        tear_down(&pair);
    }
}

TEST(dtls_moves_as_the_table_says)
{
    enum { NO = STATES_REFUSED };
    static const int want[DTLS_STATES][DTLS_EVENTS] = {
        /* shake, finished, peer_closed, close, fault */
        [DTLS_NEW] = {DTLS_HANDSHAKE, NO, NO, DTLS_CLOSED, DTLS_FAILED},
        [DTLS_HANDSHAKE] = {DTLS_HANDSHAKE, DTLS_UP, NO, DTLS_CLOSED, DTLS_FAILED},
        [DTLS_UP] = {NO, NO, DTLS_CLOSED, DTLS_CLOSED, DTLS_FAILED},
        [DTLS_CLOSED] = {NO, NO, NO, DTLS_CLOSED, NO},
        [DTLS_FAILED] = {NO, NO, NO, DTLS_FAILED, NO},
    };
    for (int state = 0; state < DTLS_STATES; state++)
        for (int event = 0; event < DTLS_EVENTS; event++)
            CHECK_INT(states_next(&dtls_states, state, event, NULL), want[state][event]);
}
