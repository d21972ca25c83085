#include "cli/turn_clock.h"

#include "test.h"

enum { FRAME_US = 20000, SAMPLES = 320 };

static int16_t loud[SAMPLES], quiet[SAMPLES];
static struct turn_clock timing;
static struct turn turn;
static int64_t now_us = 1000000;

/* Both sides for so many frames; how many turns began, the last of them in `turn`. */
static int run(int frames, bool caller_speaks, bool agent_speaks)
{
    int turns = 0;
    for (int i = 0; i < SAMPLES; i++)
        loud[i] = i % 2 ? 3000 : -3000;
    for (int i = 0; i < frames; i++, now_us += FRAME_US) {
        turn_clock_caller(&timing, caller_speaks ? loud : quiet, SAMPLES, now_us);
        turns += turn_clock_agent(&timing, agent_speaks ? loud : quiet, SAMPLES, now_us, &turn);
    }
    return turns;
}

TEST(turn_clock_times_greeting_and_answers)
{
    turn_clock_init(&timing, now_us);
    CHECK_INT(run(10, false, false), 0);
    CHECK_INT(run(50, false, true), 1);
    CHECK_INT(turn.number, 0);
    CHECK_INT(turn.answered_us - turn.asked_us, 10 * FRAME_US);
    CHECK_INT(run(50, false, false), 0);
    CHECK_INT(run(100, true, false), 0);
    CHECK_INT(run(40, false, false), 0);
    CHECK_INT(run(30, false, true), 1);
    CHECK_INT(turn.number, 1);
    CHECK_INT(turn.answered_us - turn.asked_us, 41 * FRAME_US);
    CHECK_INT(turn_clock_agent_quiet_us(&timing, now_us), FRAME_US);
}

TEST(turn_clock_takes_no_pause_for_an_answer)
{
    turn_clock_init(&timing, now_us);
    CHECK_INT(run(10, true, false), 0);
    CHECK_INT(run(50, false, true), 1);
    CHECK_INT(turn.number, 1);
    CHECK_INT(run(10, false, false), 0);
    CHECK_INT(run(50, false, true), 0);
    CHECK_INT(run(100, false, false), 0);
    CHECK_INT(run(50, false, true), 0); /* it speaks on by itself */
}
