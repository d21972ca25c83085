#include "rtc/budget.h"

#include "test.h"

enum { AUDIO_BYTES = 160 };

/* So many packets a second for so long; returns how many were let through. */
static unsigned send(struct budget *budget, enum demux_kind kind, unsigned a_second, unsigned s,
                     int64_t *now_us, bool is_good)
{
    unsigned passed = 0;
    for (unsigned i = 0; i < a_second * s; i++) {
        *now_us += 1000000 / a_second;
        if (!budget_take(budget, kind, AUDIO_BYTES, *now_us))
            continue;
        passed++;
        if (is_good)
            budget_was_good(budget);
    }
    return passed;
}

TEST(what_a_browser_sends_is_never_dropped)
{
    struct budget budget = {0};
    int64_t now_us = 1000000;
    for (int i = 0; i < 200; i++) /* it connects, by many pairs of addresses */
        CHECK(budget_take(&budget, DEMUX_STUN, 120, now_us));
    CHECK_INT(send(&budget, DEMUX_RTP, 100, 60, &now_us, true), 6000);
    now_us += 3000000;
    for (int i = 0; i < 300; i++) /* a gap of three seconds comes at once */
        CHECK(budget_take(&budget, DEMUX_RTP, 400, now_us));
    for (int i = 0; i < 60; i++) /* the longest message */
        CHECK(budget_take(&budget, DEMUX_DTLS, 1200, now_us));
    CHECK_INT(budget.all_dropped, 0);
}

TEST(a_flood_is_dropped_and_ends_with_its_sender)
{
    struct budget budget = {0};
    int64_t now_us = 1000000;
    unsigned passed = send(&budget, DEMUX_RTP, 5000, 4, &now_us, true);
    CHECK(passed >= 1000 && passed <= 1550);
    CHECK(!budget_is_flooded(&budget));
    CHECK(budget_take(&budget, DEMUX_STUN, 100, now_us)); /* another kind has its own */
    CHECK(budget_take(&budget, DEMUX_DTLS, 1200, now_us));
    send(&budget, DEMUX_RTP, 5000, 7, &now_us, true);
    CHECK(budget_is_flooded(&budget));
}

TEST(a_burst_now_and_then_is_no_flood)
{
    struct budget budget = {0};
    int64_t now_us = 1000000;
    for (int i = 0; i < 20; i++) {
        send(&budget, DEMUX_RTP, 5000, 1, &now_us, true);
        now_us += 14000000;
        CHECK(!budget_is_flooded(&budget));
    }
}

TEST(forged_packets_do_not_put_a_caller_out)
{
    struct budget budget = {0};
    int64_t now_us = 1000000;
    for (int i = 0; i < 30; i++) {
        send(&budget, DEMUX_RTP, 5000, 1, &now_us, false);
        send(&budget, DEMUX_STUN, 2, 1, &now_us, true);
    }
    CHECK(!budget_is_flooded(&budget));
    CHECK(budget.all_dropped > 100000);
}

TEST(large_packets_are_bounded_by_their_bytes)
{
    struct budget budget = {0};
    int64_t now_us = 1000000;
    size_t bytes = 0;
    for (int i = 0; i < 10000; i++) {
        now_us += 1000;
        bytes += budget_take(&budget, DEMUX_RTCP, 1200, now_us) ? 1200 : 0;
    }
    CHECK(bytes <= 128 * 1024 + 10 * 33 * 1024);
}
