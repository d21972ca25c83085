/* Simulated time: tests/fake/loop.c implements base/loop.h for all loops of the process in one
 * thread, and nothing waits. Time stands still while anything is runnable; then it jumps to the
 * next timer. Order is fixed: loops in the order of their creation, and in each: ready descriptors,
 * due timers, deferred, posted. loop_run() runs until loop_stop(); loop_start() only lets the loop
 * take part, as it does anyhow. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Where time begins: a monotonic second, and 2026-11-20T15:45:27Z. Set when the first loop is made,
 * or by fake_begin(). */
enum { FAKE_START_US = 1000000 };
#define FAKE_START_WALL_MS INT64_C(1795189527000)

void fake_begin(int64_t now_us, int64_t wall_ms);
int64_t fake_now_us(void);
/* Somebody sets the calendar clock: so much forward, or back. Elapsed time knows nothing of it. */
void fake_step_wall(int64_t ms);

/* Runs what is runnable now, once over all loops; false: nothing was. Time does not move. */
bool fake_turn(void);
/* Runs all that happens up to and at the time; the clocks stand there afterwards. */
void fake_run_until(int64_t now_us);
void fake_run_for(int64_t delay_us);
/* Runs until nothing is runnable and no timer is set, or until max_us have passed; true: idle. */
bool fake_run_idle(int64_t max_us);
/* Runs until is_done(arg) is true; false: it was not within max_us. */
bool fake_run_while_not(bool (*is_done)(void *arg), void *arg, int64_t max_us);
