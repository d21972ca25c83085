/* The pool against programs that are no speech programs: one that ends at once, one that hangs,
 * none at all. The real one is tested in tests/voice. */
#include "vendor/voice_pool.h"

#include <stdio.h>

#include "base/attr.h"
#include "base/loop.h"
#include "base/mem.h"
#include "rig.h"
#include "test.h"

struct peer {
    struct loop *loop;
    struct voice_pool *pool;
    struct voice_session session;
    unsigned frames, losses;
    enum engine_error error; /* of the last loss */
    char why[64];
};

static void on_frame(void *arg, const struct voice_frame *frame)
{
    struct peer *peer = arg;
    (void)frame;
    peer->frames++;
}

static void on_lost(void *arg, enum engine_error error, const char *why)
{
    struct peer *peer = arg;
    peer->losses++;
    peer->error = error;
    snprintf(peer->why, sizeof(peer->why), "%s", why);
    loop_stop(peer->loop);
}

static void peer_open(struct peer *peer, const char *program)
{
    *peer = (struct peer){.loop = loop_new("peer")};
    peer->pool = voice_pool_new(peer->loop, program, 1);
}

static enum err session_open(struct peer *peer)
{
    struct fault fault = {0};
    peer->session = (struct voice_session){.on_frame = on_frame, .on_lost = on_lost, .arg = peer};
    enum err err = voice_session_open(peer->pool, VOICE_HEARING, &peer->session, &fault);
    CHECK(err == OK || fault.text[0]);
    return err;
}

static void peer_close(struct peer *peer)
{
    voice_session_close(&peer->session);
    voice_pool_free(peer->pool);
    loop_free(peer->loop);
}

#ifndef TESTS_AT_ONCE /* a program says so in its meson.build */
#define TESTS_AT_ONCE 1
#endif

__attribute__((constructor)) static void run_several(void)
{
    test_at_once = TESTS_AT_ONCE; /* some wait long for a clock */
}

static void wait_for_losses(const struct peer *peer, unsigned losses)
{
    LOOP_AWAIT(peer->loop, peer->losses >= losses);
    CHECK_INT(peer->losses, losses);
}

TEST(voice_pool_leaves_a_program_alone_that_ends_at_once)
{
    struct peer peer;
    peer_open(&peer, "/bin/false");
    for (unsigned i = 1; i <= 3; i++) {
        REQUIRE(session_open(&peer) == OK);
        wait_for_losses(&peer, i);
        CHECK_INT(peer.error, ENGINE_TRANSIENT);
        CHECK(peer.session.worker == NULL);
        CHECK_INT(voice_pool_workers(peer.pool, VOICE_HEARING), 0);
    }
    CHECK_INT(session_open(&peer), ERR_BUSY);
    voice_session_send(&peer.session, VOICE_PUSH, 0, "x", 1); /* to a lost one: dropped */
    peer_close(&peer);
}

TEST(voice_pool_gives_up_a_program_that_hangs)
{
    struct peer peer;
    static char samples[VOICE_BODY_MAX_BYTES];
    peer_open(&peer, HANG_PROGRAM);
    REQUIRE(session_open(&peer) == OK);
    for (int i = 0; i < 40; i++)
        voice_session_send(&peer.session, VOICE_PUSH, 0, samples, sizeof(samples));
    CHECK_INT(peer.losses, 0); /* never inside the call */
    wait_for_losses(&peer, 1);
    CHECK_TEXT(peer.why, "the speech process hangs");
    peer_close(&peer);
}

TEST(voice_pool_rests_longer_after_each_row_of_deaths)
{
    struct peer peer;
    peer_open(&peer, "/bin/false");
    int64_t last_us = 0;
    for (int row = 0; row < 2; row++) {
        for (unsigned i = 1; i <= 3; i++) {
            REQUIRE(session_open(&peer) == OK);
            wait_for_losses(&peer, 3 * (unsigned)row + i);
        }
        int64_t rest_us = voice_pool_rest_us(peer.pool);
        CHECK(rest_us > last_us + VOICE_REST_US / 2 && rest_us <= VOICE_REST_US << row);
        last_us = rest_us;
        CHECK_INT(session_open(&peer), ERR_BUSY);
        if (row == 0)
            loop_run_for(peer.loop, rest_us + 10000);
    }
    peer_close(&peer);
}

TEST(voice_pool_kills_a_program_that_owes_an_answer_for_too_long)
{
    struct peer peer;
    peer_open(&peer, HANG_PROGRAM);
    REQUIRE(session_open(&peer) == OK);
    voice_session_send(&peer.session, VOICE_PUSH, 0, "x", 1); /* nothing is owed for that */
    loop_run_for(peer.loop, 200000);
    int64_t from_us = loop_now_us(peer.loop);
    voice_session_send(&peer.session, VOICE_SPEAK, 1, "Hello", 5);
    loop_run_for(peer.loop, VOICE_DEADLINE_US + 2000000);
    CHECK_INT(peer.losses, 1);
    CHECK_TEXT(peer.why, "the speech process hangs");
    CHECK(loop_now_us(peer.loop) - from_us >= VOICE_DEADLINE_US);
    CHECK_INT(voice_pool_workers(peer.pool, VOICE_HEARING), 0);
    REQUIRE(session_open(&peer) == OK); /* in a new one */
    voice_session_send(&peer.session, VOICE_SPEAK, 1, "Hello", 5);
    voice_session_send(&peer.session, VOICE_CANCEL, 1, NULL, 0);
    loop_run_for(peer.loop, VOICE_DEADLINE_US + 500000);
    CHECK_INT(peer.losses, 1); /* it was told to be silent */
    peer_close(&peer);
}

TEST(voice_pool_gives_no_workspace_more_than_half)
{
    enum { MOST = 64 };
    struct voice_session sessions[MOST] = {0};
    struct fault fault = {0};
    struct peer peer;
    unsigned greedy = 0, other = 0;
    peer_open(&peer, HANG_PROGRAM);
    for (int i = 0; i < MOST; i++) {
        sessions[i] = (struct voice_session){
            .on_frame = on_frame, .on_lost = on_lost, .arg = &peer, .workspace = "usr_greedy"};
        bool is_open = voice_session_open(peer.pool, VOICE_SPEAKING, &sessions[i], &fault) == OK;
        greedy += is_open;
        if (is_open)
            continue;
        snprintf(sessions[i].workspace, sizeof(sessions[i].workspace), "usr_other");
        other += voice_session_open(peer.pool, VOICE_SPEAKING, &sessions[i], &fault) == OK;
    }
    CHECK_INT(greedy, MOST / 2);
    CHECK_INT(other, MOST / 2);
    for (int i = 0; i < MOST; i++)
        voice_session_close(&sessions[i]);
    peer_close(&peer);
}

/* Calls of two workspaces, in whose worker a line of one kills. */
struct pair {
    struct loop *loop;
    struct voice_pool *pool;
    struct peer bad, good;
};

static enum err pair_open(struct pair *pair, struct peer *peer, const char *workspace)
{
    struct fault fault = {0};
    peer->loop = pair->loop;
    peer->pool = pair->pool;
    peer->session = (struct voice_session){.on_frame = on_frame, .on_lost = on_lost, .arg = peer};
    snprintf(peer->session.workspace, sizeof(peer->session.workspace), "%s", workspace);
    return voice_session_open(pair->pool, VOICE_SPEAKING, &peer->session, &fault);
}

TEST(voice_pool_counts_a_line_that_kills_against_its_workspace)
{
    struct pair pair = {.loop = loop_new("pair")};
    pair.pool = voice_pool_new(pair.loop, KILLED_PROGRAM, 1);
    REQUIRE(pair_open(&pair, &pair.good, "usr_good") == OK);
    for (unsigned i = 1; i <= 4; i++) { /* the first in a common worker, the others apart */
        REQUIRE(pair_open(&pair, &pair.bad, "usr_bad") == OK);
        CHECK_INT(voice_pool_workers(pair.pool, VOICE_SPEAKING), i == 1 ? 1 : 2);
        voice_session_send(&pair.bad.session, VOICE_SPEAK, 10 + i, "die", 3);
        wait_for_losses(&pair.bad, i);
        CHECK_INT(pair.bad.session.saying, 10 + i);
        wait_for_losses(&pair.good, 1);
        CHECK_INT(pair.bad.error, ENGINE_BAD_REQUEST);
        CHECK_INT(pair.good.error, ENGINE_INTERRUPTED);
        if (i == 1)
            REQUIRE(pair_open(&pair, &pair.good, "usr_good") == OK);
    }
    CHECK_INT(pair_open(&pair, &pair.bad, "usr_bad"), ERR_LIMIT); /* it has to pause */
    CHECK_INT(voice_refusal(ERR_LIMIT), ENGINE_CROWDED);
    CHECK_INT(voice_pool_rest_us(pair.pool), 0);
    struct peer other = {0};
    REQUIRE(pair_open(&pair, &other, "usr_other") == OK);
    voice_session_send(&other.session, VOICE_SPEAK, 1, "die", 3);
    wait_for_losses(&other, 1);
    wait_for_losses(&pair.good, 2);
    CHECK_INT(pair_open(&pair, &other, "usr_other"), OK); /* apart too, where it need not pause */
    CHECK_INT(pair_open(&pair, &pair.bad, "usr_bad"), ERR_LIMIT);
    voice_session_close(&other.session);
    REQUIRE(pair_open(&pair, &pair.good, "usr_good") == OK);
    CHECK(pair.good.session.worker != NULL);
    voice_session_close(&pair.good.session);
    REQUIRE(pair_open(&pair, &pair.good, "usr_good") == OK);
    voice_session_close(&pair.good.session);
    voice_pool_free(pair.pool);
    loop_free(pair.loop);
}

TEST(voice_pool_blames_no_line_for_a_worker_that_is_killed)
{
    struct pair pair = {.loop = loop_new("pair")};
    pair.pool = voice_pool_new(pair.loop, KILLED_PROGRAM, 1);
    REQUIRE(pair_open(&pair, &pair.good, "usr_good") == OK);
    REQUIRE(pair_open(&pair, &pair.bad, "usr_bad") == OK);
    voice_session_send(&pair.bad.session, VOICE_SPEAK, 1, "kill", 4);
    wait_for_losses(&pair.bad, 1);
    CHECK_INT(pair.bad.error, ENGINE_TRANSIENT);
    CHECK_INT(pair.good.error, ENGINE_TRANSIENT);
    REQUIRE(pair_open(&pair, &pair.good, "usr_good") == OK);
    REQUIRE(pair_open(&pair, &pair.bad, "usr_bad") == OK);
    CHECK_INT(voice_pool_workers(pair.pool, VOICE_SPEAKING), 1);
    voice_session_close(&pair.good.session);
    voice_session_close(&pair.bad.session);
    voice_pool_free(pair.pool);
    loop_free(pair.loop);
}

TEST(voice_pool_takes_a_suspect_out_of_all_common_workers)
{
    struct pair pair = {.loop = loop_new("pair")};
    struct peer others[3], twin;
    pair.pool = voice_pool_new(pair.loop, KILLED_PROGRAM, 2);
    REQUIRE(pair_open(&pair, &pair.bad, "usr_bad") == OK);
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        others[i] = (struct peer){0};
        REQUIRE(pair_open(&pair, &others[i], "usr_other") == OK);
    }
    twin = (struct peer){0};
    REQUIRE(pair_open(&pair, &twin, "usr_bad") == OK); /* in a second one */
    REQUIRE(pair_open(&pair, &pair.good, "usr_good") == OK);
    CHECK_INT(voice_pool_workers(pair.pool, VOICE_SPEAKING), 2);
    CHECK(twin.session.worker == pair.good.session.worker);
    voice_session_send(&pair.bad.session, VOICE_SPEAK, 1, "die", 3);
    wait_for_losses(&pair.bad, 1);
    CHECK_INT(twin.losses, 1);
    CHECK_INT(twin.error, ENGINE_INTERRUPTED);
    CHECK(twin.session.worker == NULL);
    CHECK_INT(pair.good.losses, 0);
    voice_session_close(&pair.good.session);
    voice_pool_free(pair.pool);
    loop_free(pair.loop);
}

TEST(voice_pool_without_a_program_is_an_error)
{
    struct peer peer;
    peer_open(&peer, "/nowhere/earshot-voice");
    enum err err = session_open(&peer);
    if (!err) {
        wait_for_losses(&peer, 1);
    } else {
        CHECK_INT(err, ERR_IO);
    }
    peer_close(&peer);
}

TEST(voice_pool_closes_sessions_without_a_word)
{
    struct peer peer;
    peer_open(&peer, HANG_PROGRAM);
    REQUIRE(session_open(&peer) == OK);
    voice_session_close(&peer.session);
    voice_session_close(&peer.session);
    loop_run_for(peer.loop, 100000);
    CHECK_INT(peer.losses, 0);
    CHECK_INT(voice_pool_workers(peer.pool, VOICE_HEARING), 1);
    peer_close(&peer);
}
