/* Compiler attributes and the ownership macros that the whole tree uses (docs/style.md, Ownership).
 */
#pragma once

#include <stddef.h>

#define MUST_USE                        __attribute__((warn_unused_result))
#define PRINTF(f, a)                    __attribute__((format(printf, f, a)))
#define ARRAY_LEN(a)                    (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b)                       ((a) < (b) ? (a) : (b))
#define MAX(a, b)                       ((a) > (b) ? (a) : (b))
#define CONTAINER_OF(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

/* AUTO(thing) t = thing_new(...); calls thing_free(t) at the end of the scope. A type takes part
 * with DEFINE_AUTO(thing) in its header, after thing_free(); thing_free() accepts NULL. */
#define DEFINE_AUTO(name)                                                                          \
    static inline void name##_auto_free(struct name **p)                                           \
    {                                                                                              \
        name##_free(*p);                                                                           \
    }
#define AUTO(name) __attribute__((cleanup(name##_auto_free))) struct name *

/* Hands a pointer on: *out = TAKE(t) leaves NULL in its place, so that AUTO frees nothing. */
#define TAKE(p)                                                                                    \
    ({                                                                                             \
        __auto_type taken_ = (p);                                                                  \
        (p) = NULL;                                                                                \
        taken_;                                                                                    \
    })
