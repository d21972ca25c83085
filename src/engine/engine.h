/* What all engines share: error classes, the environment an adapter lives in.
 * An adapter is a table of functions that never block. Each call opens its own sessions, which live
 * on the call's loop. What is asked carries a generation number that the caller counts up; what
 * comes back carries it too, and what belongs to a cancelled generation is dropped by the receiver
 * (an adapter need not be exact about it). Events are delivered from the loop, never from inside
 * the function that asked. After close() none comes. Thread: the call's loop. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct engine; /* one configured engine (registry.h) */
struct loop;

enum engine_error {
    ENGINE_OK,
    ENGINE_AUTH,        /* refused for its key: not tried again */
    ENGINE_BAD_REQUEST, /* this request will never work */
    ENGINE_QUOTA,       /* rate or funds */
    ENGINE_TRANSIENT,   /* connection lost or 5xx: worth another try */
    ENGINE_PROTOCOL,    /* it said what cannot be understood */
    ENGINE_TIMEOUT,
    ENGINE_ERROR_COUNT
};
const char *engine_error_name(enum engine_error error);
