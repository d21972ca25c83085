/* Turns of a real loop for tests on loopback sockets: until a condition holds, or it has plainly
 * not for a minute and a half, which fails the test. */
#pragma once

#include <stdbool.h>

#include "base/loop.h"
#include "test.h"

struct turn {
    struct loop *loop;
    struct timer limit, look;
    bool (*is_met)(void *arg);
    void *arg;
    bool timed_out;
};

static void turn_limit(void *arg)
{
    struct turn *turn = arg;
    turn->timed_out = true;
    loop_stop(turn->loop);
}

static void turn_look(void *arg)
{
    struct turn *turn = arg;
    if (turn->is_met(turn->arg))
        loop_stop(turn->loop);
    else
        timer_set_after(&turn->look, 500);
}

static inline bool turn_until(struct loop *loop, bool (*is_met)(void *arg), void *arg)
{
    struct turn turn = {.loop = loop, .is_met = is_met, .arg = arg};
    timer_init(&turn.limit, loop, turn_limit, &turn);
    timer_init(&turn.look, loop, turn_look, &turn);
    timer_set_after(&turn.limit, 90 * 1000 * 1000);
    timer_set_after(&turn.look, 0);
    loop_run(loop);
    timer_stop(&turn.limit);
    timer_stop(&turn.look);
    return CHECK(!turn.timed_out);
}

static inline bool turn_flag_is_set(void *arg)
{
    return *(bool *)arg;
}

static inline bool turn_until_set(struct loop *loop, bool *flag)
{
    return turn_until(loop, turn_flag_is_set, flag);
}
