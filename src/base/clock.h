/* The only place that reads a clock. Monotonic time is for waiting, wall time for the calendar.
 * Tests replace both (clock_fake_*); then every reader in the process sees the simulated time.
 * Thread: any. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

int64_t clock_now_us(void);  /* monotonic */
int64_t clock_wall_ms(void); /* Unix time */
int64_t clock_cpu_us(void);  /* CPU time of the calling thread, for benchmarks */

/* Tests: sets the calendar forward or back by so much, as an operator does. */
void clock_step_wall(int64_t ms);

/* Simulation: fixes both clocks until clock_fake_off(). */
void clock_fake_set(int64_t now_us, int64_t wall_ms);
void clock_fake_off(void);

/* ISO 8601 in UTC with milliseconds, "2026-11-20T15:45:27.123Z" (24 characters and NUL). */
enum { CLOCK_ISO_SIZE = 25 };
void clock_iso(int64_t wall_ms, char out[CLOCK_ISO_SIZE]);
bool clock_parse_iso(const char *text, int64_t *out_wall_ms);
