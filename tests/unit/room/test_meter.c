#include "room/meter.h"
#include "rtc/peer.h"
#include "test.h"

static unsigned tick(struct meter *meter, int level_dbov, bool is_agent_speaking)
{
    struct peer_stats stats = {0};
    meter_hear(meter, level_dbov);
    return meter_tick(meter, &stats, is_agent_speaking) & (METER_CALLER | METER_AGENT);
}

TEST(two_loud_ticks_make_a_caller_who_speaks)
{
    struct meter meter;
    meter_init(&meter);
    CHECK_INT(tick(&meter, -20, false), 0);
    CHECK_INT(tick(&meter, -20, false), METER_CALLER);
    CHECK(meter.is_caller_speaking);
    CHECK_INT(tick(&meter, -60, false), 0);
    CHECK_INT(tick(&meter, -20, false), 0);
    CHECK_INT(tick(&meter, -60, false), 0);
    CHECK_INT(tick(&meter, -60, false), METER_CALLER);
    CHECK(!meter.is_caller_speaking);
}

TEST(a_level_that_says_nothing_is_silence)
{
    struct meter meter;
    meter_init(&meter);
    CHECK_INT(tick(&meter, 1, false), 0);
    CHECK_INT(tick(&meter, 1, false), 0);
    CHECK(!meter.is_caller_speaking);
}

TEST(the_agents_speech_is_told_at_once_and_once)
{
    struct meter meter;
    meter_init(&meter);
    CHECK_INT(tick(&meter, -127, true), METER_AGENT);
    CHECK_INT(tick(&meter, -127, true), 0);
    CHECK_INT(tick(&meter, -127, false), METER_AGENT);
}

/* Looked at in the 1st, 13th, 25th ... tick. */
TEST(quality_follows_the_loss_since_the_last_look)
{
    static const struct {
        uint64_t received, lost; /* since the call began */
        enum connection_quality want;
        bool is_told;
    } rows[] = {
        {0, 0, QUALITY_EXCELLENT, true},      /* nothing came: nothing is known to be bad */
        {1000, 10, QUALITY_EXCELLENT, false}, /* 1 % */
        {2000, 60, QUALITY_GOOD, true},       /* 5 % of the last 1,050 */
        {3000, 160, QUALITY_POOR, true},      /* 9 % */
        {4000, 300, QUALITY_POOR, false},     /* 12 % */
        {10, 0, QUALITY_EXCELLENT, true},     /* the stream began anew */
    };
    struct meter meter;
    meter_init(&meter);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct peer_stats stats = {.packets_received = rows[i].received,
                                   .packets_lost = rows[i].lost};
        bool is_told = meter_tick(&meter, &stats, false) & METER_QUALITY;
        CHECK_INT(is_told, rows[i].is_told);
        CHECK_INT(meter.quality, rows[i].want);
        for (int k = 1; k < 12; k++)
            CHECK_INT(meter_tick(&meter, &stats, false) & METER_QUALITY, 0);
    }
}

TEST(a_fresh_token_is_due_each_five_minutes)
{
    struct meter meter;
    struct peer_stats stats = {0};
    int due = 0;
    meter_init(&meter);
    for (int64_t us = 0; us < INT64_C(600) * 1000 * 1000; us += METER_TICK_US)
        due += (meter_tick(&meter, &stats, false) & METER_TOKEN) != 0;
    CHECK_INT(due, 2);
}
