#include "model/timing.h"

#include <math.h>

#include "test.h"

static struct turn_timing timing_of(const double after_ms[POINT_COUNT])
{
    struct turn_timing timing = {.at_wall_ms = 1};
    for (int i = 0; i < POINT_COUNT; i++)
        timing.after_ms[i] = after_ms[i];
    return timing;
}

static void check_step(const struct turn_timing *timing, enum timing_step step, double from_ms,
                       double to_ms)
{
    double from = NAN, to = NAN;
    CHECK(timing_step(timing, step, &from, &to));
    CHECK_INT((int)from, (int)from_ms);
    CHECK_INT((int)to, (int)to_ms);
}

TEST(a_step_begins_at_the_latest_point_that_leads_to_it)
{
    /* endpoint, look-up, looked up, asked, token, hold, sentence, byte, packet */
    struct turn_timing timing =
        timing_of((const double[]){550, 210, 230, 230, 400, NAN, 560, 660, 661});
    check_step(&timing, STEP_ENDPOINT, 0, 550);
    check_step(&timing, STEP_LOOK_UP, 210, 230);
    check_step(&timing, STEP_FIRST_TOKEN, 230, 400);
    check_step(&timing, STEP_FIRST_SENTENCE, 550, 560); /* an early answer waits for its turn */
    check_step(&timing, STEP_FIRST_BYTE, 560, 660);
    check_step(&timing, STEP_FIRST_PACKET, 660, 661);
}

TEST(a_holding_line_is_the_first_to_be_voiced)
{
    struct turn_timing timing =
        timing_of((const double[]){550, NAN, NAN, 550, 5000, 3550, 5100, 3650, 3651});
    double from, to;
    CHECK(!timing_step(&timing, STEP_LOOK_UP, &from, &to));
    check_step(&timing, STEP_FIRST_SENTENCE, 5000, 5100);
    check_step(&timing, STEP_FIRST_BYTE, 3550, 3650);
}

TEST(nothing_is_measured_where_nothing_was_passed)
{
    double none[POINT_COUNT];
    for (int i = 0; i < POINT_COUNT; i++)
        none[i] = NAN;
    struct turn_timing timing = timing_of(none);
    double from, to;
    for (int i = 0; i < STEP_COUNT; i++)
        CHECK(!timing_step(&timing, (enum timing_step)i, &from, &to));
}
