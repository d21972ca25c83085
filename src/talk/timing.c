#include "talk/timing.h"

void timing_begin(struct timing *timing)
{
    *timing = (struct timing){0};
}

void timing_pass(struct timing *timing, enum timing_point point, int64_t now_us)
{
    if (timing->turn.at_us[point] == 0)
        timing->turn.at_us[point] = now_us;
}

void timing_commit(struct timing *timing, int64_t from_us)
{
    timing->turn.from_us = from_us;
    timing->is_open = true;
}

void timing_drop(struct timing *timing)
{
    timing->is_open = false;
}

bool timing_take(struct timing *timing, int64_t now_us, struct talk_timing *out)
{
    if (!timing->is_open)
        return false;
    timing_pass(timing, POINT_FIRST_PACKET, now_us);
    *out = timing->turn;
    timing->is_open = false;
    return true;
}
