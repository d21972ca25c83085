/* What the machine gives this process, and how busy it is: cores (the process's affinity and the
 * control group's quota), CPU time of all that runs. Linux; what cannot be read is 0.
 * Thread: any; machine_busy_us() reads a file: a worker or once a second. */
#pragma once

#include <stdint.h>

/* In thousandths of a core, at least 1. */
int64_t machine_cores_milli(void);
/* CPU time that all programs of the machine have had since it started, in microseconds; 0: not
 * known. */
int64_t machine_busy_us(void);
