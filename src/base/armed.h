/* What a callback will still touch: set timers, watches, functions that wait to run, linked nodes.
 * Builds for debugging (ARMED_IS_CHECKED: meson's buildtype debug, thread sanitizer apart, whose
 * finds this lock would hide) remember their addresses, and mem_free() ends the process when one
 * of them lies in what is freed: at the moment of the mistake, not when the callback comes.
 * In all other builds it costs nothing. What lies on a stack or in a library's memory is not seen.
 * Thread: any. */
#pragma once

#include <stddef.h>

enum armed_kind { ARMED_TIMER, ARMED_WATCH, ARMED_FUNCTION, ARMED_NODE };

#ifdef EARSHOT_CHECK_ARMED

enum { ARMED_IS_CHECKED = 1 };
/* An address may be there more than once. */
void armed_add(const void *address, enum armed_kind kind);
void armed_remove(const void *address, enum armed_kind kind);
void armed_check(void *block); /* as malloc() gave it, or NULL; about to be freed or moved */

#else

enum { ARMED_IS_CHECKED = 0 };
static inline void armed_add(const void *address, enum armed_kind kind)
{
    (void)address, (void)kind;
}
static inline void armed_remove(const void *address, enum armed_kind kind)
{
    (void)address, (void)kind;
}
static inline void armed_check(void *block)
{
    (void)block;
}

#endif
