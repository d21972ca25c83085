/* A thread's place among those that wait for a core. One that paces audio asks for a better one:
 * real time (SCHED_RR, where RLIMIT_RTPRIO or CAP_SYS_NICE allows it), else a lower nice value
 * (RLIMIT_NICE), else it stays where it is. What the thread starts does not inherit it.
 * Thread: the calling one is meant. */
#pragma once

enum place { PLACE_NORMAL, PLACE_NICE, PLACE_REAL_TIME };

enum place place_ask(void);               /* the place that it has now */
void place_leave(void);                   /* back to the normal one */
const char *place_name(enum place place); /* "real-time priority" */
