#include "talk/quality.h"
#include "talk/talk.h"
#include "test.h"

TEST(percentiles_are_of_the_kept_times)
{
    struct quality quality = {0};
    CHECK_INT(quality_percentile(&quality.first_byte, 50), -1);
    for (int i = 1; i <= 100; i++)
        quality_add(&quality.first_byte, i * 1000);
    CHECK_INT(quality_percentile(&quality.first_byte, 50), 50);
    CHECK_INT(quality_percentile(&quality.first_byte, 95), 95);
}

TEST(the_slowest_turns_are_kept_slowest_first)
{
    struct quality quality = {0};
    for (int i = 0; i < 20; i++)
        quality_voice_to_voice(&quality, i, i + (i * 7 % 20) * 1000);
    struct talk_quality report;
    quality_report(&quality, &report);
    REQUIRE(report.slowest_count == TALK_SLOWEST);
    for (int i = 0; i < TALK_SLOWEST; i++)
        CHECK_INT(report.slowest[i].voice_to_voice_ms, 19 - i);
}

TEST(replies_of_a_long_call_are_all_counted)
{
    struct quality quality = {0};
    for (int i = 0; i < 3 * QUALITY_KEPT; i++)
        quality_voice_to_voice(&quality, i, i + 600000);
    struct talk_quality report;
    quality_report(&quality, &report);
    CHECK_INT(reply_times_count(&report.reply_times), 3 * QUALITY_KEPT);
    CHECK_INT(report.reply_times.counts[REPLY_FROM_594], 3 * QUALITY_KEPT);
}
