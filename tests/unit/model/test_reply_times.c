#include "model/reply_times.h"

#include <math.h>
#include <stdlib.h>

#include "test.h"

static int by_size(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

TEST(percentiles_are_within_the_width_of_their_size)
{
    enum { REPLIES = 5000 };
    static int64_t all[REPLIES];
    struct reply_times times[2] = {0};
    unsigned seed = 3;
    for (int i = 0; i < REPLIES; i++) {
        seed = seed * 1664525U + 1013904223U;
        all[i] = llround(50 * pow(400, (seed >> 8) / 16777216.0 * ((seed >> 3) % 2 ? 1 : 0.5)));
        reply_times_add(&times[i % 2], all[i]);
    }
    reply_times_join(&times[0], &times[1]);
    CHECK_INT(reply_times_count(&times[0]), REPLIES);
    qsort(all, REPLIES, sizeof(all[0]), by_size);
    for (int percent = 1; percent <= 99; percent++) {
        double want = (double)all[REPLIES * percent / 100 - 1];
        double got = reply_times_percentile(&times[0], percent);
        if (fabs(got - want) > want * 0.15)
            test_fail(__FILE__, __LINE__, "p%d: %f, is %f", percent, got, want);
    }
}

TEST(a_percentile_lies_where_its_rank_does)
{
    struct reply_times times = {0};
    CHECK(isnan(reply_times_percentile(&times, 50)));
    reply_times_add(&times, 1000); /* 1000 to 1138 */
    CHECK_INT(llround(reply_times_percentile(&times, 50)), 1070);
    for (int i = 0; i < 9; i++)
        reply_times_add(&times, 1138);
    CHECK_INT(llround(reply_times_percentile(&times, 50)), 1063); /* the 5th of 10 */
    CHECK_INT(llround(reply_times_percentile(&times, 95)), 1132);
    for (int i = 0; i < 10; i++)
        reply_times_add(&times, 1139);
    CHECK_INT(llround(reply_times_percentile(&times, 50)), 1132);
    CHECK(reply_times_percentile(&times, 55) >= 1139);
}

TEST(the_first_and_the_last_size_take_all_that_there_is)
{
    struct reply_times times = {0};
    reply_times_add(&times, -5);
    reply_times_add(&times, 49);
    CHECK_INT(times.counts[REPLY_FROM_0], 2);
    reply_times_add(&times, 50);
    CHECK_INT(times.counts[REPLY_FROM_50], 1);
    reply_times_add(&times, 19999);
    reply_times_add(&times, 20000);
    reply_times_add(&times, INT64_MAX);
    CHECK_INT(times.counts[REPLY_FROM_17558], 1);
    CHECK_INT(times.counts[REPLY_FROM_20000], 2);
    CHECK_INT(llround(reply_times_percentile(&times, 99)), 20000);
}
