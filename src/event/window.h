/* How many connections a receiver gets, from how it answers: few at first, one more with each
 * answer, half with each attempt that it leaves without one. A receiver that has been silent for a
 * while is cut off: each of its lines may only try, one delivery at a time, whether it answers
 * again. What comes fast, even a refusal, holds nobody up and counts as an answer.
 *
 *   open: size connections --no answer for a minute--> cut off: one for each line
 *     ^                                                     |
 *     '---------------------- an answer --------------------'
 *
 * Thread: its owner's. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { WINDOW_FIRST = 16 }; /* so that the events of a few calls are tried on time in any case */

struct window {
    unsigned size, most;
    int64_t latency_us;      /* smoothed; 0: not known yet */
    int64_t silent_since_us; /* end of the first attempt without an answer since the last answer */
    unsigned silences;       /* 0: it has answered last */
    bool is_cut_off;
};

void window_init(struct window *window, unsigned most);
void window_answered(struct window *window, int64_t latency_us);
void window_silent(struct window *window, int64_t latency_us, int64_t now_us);
/* How many deliveries it makes sense to hold for it: those under way and those that will be soon.
 */
unsigned window_holds(const struct window *window);
/* Nothing worth remembering: as good as a new one. */
bool window_is_plain(const struct window *window);
