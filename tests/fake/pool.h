/* tests/fake/pool.c implements base/pool.h on simulated time: a job's work and its `done` run when
 * the scripted delay is over (0 at first: in the next turn). */
#pragma once

#include <stdint.h>

/* For all jobs handed in from now on. */
void fake_pool_delay(int64_t delay_us);
