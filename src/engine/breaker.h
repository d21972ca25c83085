/* Leaves an engine out for a while when calls fail on it one after the other, so that callers need
 * not find out each for themselves that it is down.
 *
 *   in use --5 calls in a row fail--> left out --30 s--> on trial --a call works--> in use
 *     ^   |                             ^                    |
 *     '---' a call works: counted anew  '---- a call fails --'
 *
 * It counts calls and not requests: one call whose engine fails again and again is one failure.
 * What a workspace asks for in words of its own (a speaker that is not the engine's) may be why its
 * calls fail: while no other workspace's failed, the engine is left out for such calls of it alone.
 * Thread: any. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"

enum { BREAKER_CALLS = 5, BREAKER_US = 30 * 1000 * 1000 };

struct breaker {
    _Atomic unsigned failures; /* calls in a row */
    _Atomic int64_t until_us;  /* left out; monotonic time, 0: never was */
    _Atomic uint64_t whose;    /* of which workspace alone they were; 0: of anybody */
};

/* Does the error speak of the engine? What a tenant may have brought about does not: a request that
 * is refused, a flood that waits in its own line, a line that ended a process of many sessions. */
bool breaker_counts(enum engine_error error);
/* A call has failed, and had not before. True: the engine is left out from now on.
 * own: the workspace whose own words may be why; NULL: nobody's can. */
bool breaker_failed(struct breaker *breaker, const char *own, int64_t now_us);
void breaker_worked(struct breaker *breaker);
/* own: for a call that uses such words; NULL: for all. */
bool breaker_is_open(const struct breaker *breaker, const char *own, int64_t now_us);
