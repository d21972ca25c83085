#include "base/machine.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "base/attr.h"

/* cgroup v2: "max 100000" or "150000 100000", quota and period in microseconds. */
static int64_t quota_milli(void)
{
    int64_t quota_us = 0, period_us = 0;
    FILE *file = fopen("/sys/fs/cgroup/cpu.max", "re");
    if (!file)
        return 0;
    int read = fscanf(file, "%" SCNd64 " %" SCNd64, &quota_us, &period_us);
    fclose(file);
    return read == 2 && quota_us > 0 && period_us > 0 ? quota_us * 1000 / period_us : 0;
}

int64_t machine_cores_milli(void)
{
    cpu_set_t set;
    int64_t cores = sched_getaffinity(0, sizeof(set), &set) == 0
                        ? (int64_t)CPU_COUNT(&set)
                        : (int64_t)sysconf(_SC_NPROCESSORS_ONLN);
    int64_t quota = quota_milli(), milli = MAX(cores, 1) * 1000;
    return quota > 0 ? MIN(quota, milli) : milli;
}

/* proc(5), /proc/stat: user nice system idle iowait irq softirq steal, in clock ticks. */
int64_t machine_busy_us(void)
{
    int64_t user, nice, system, idle, iowait, irq, softirq, steal;
    FILE *file = fopen("/proc/stat", "re");
    if (!file)
        return 0;
    int read = fscanf(file,
                      "cpu %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64
                      " %" SCNd64 " %" SCNd64,
                      &user, &nice, &system, &idle, &iowait, &irq, &softirq, &steal);
    fclose(file);
    int64_t tick_us = 1000000 / MAX(sysconf(_SC_CLK_TCK), 1);
    return read == 8 ? (user + nice + system + irq + softirq + steal) * tick_us : 0;
}
