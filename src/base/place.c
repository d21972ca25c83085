#include "base/place.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    PRIORITY = 5, /* any real-time priority is before all normal threads; low among its kind */
    NICE = -5,    /* three times the share of a normal thread */
};

enum place place_ask(void)
{
    struct sched_param param = {.sched_priority = PRIORITY};
    if (sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &param) == 0)
        return PLACE_REAL_TIME;
    return setpriority(PRIO_PROCESS, (id_t)gettid(), NICE) == 0 ? PLACE_NICE : PLACE_NORMAL;
}

void place_leave(void)
{
    struct sched_param param = {0};
    (void)sched_setscheduler(0, SCHED_OTHER, &param); /* it may always be given up */
    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), 0);
}

const char *place_name(enum place place)
{
    static const char *const names[] = {
        [PLACE_NORMAL] = "normal priority",
        [PLACE_NICE] = "a better nice value",
        [PLACE_REAL_TIME] = "real-time priority",
    };
    return names[place];
}
