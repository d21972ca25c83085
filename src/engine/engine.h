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

/* An error's retry_us: after this pause (0: at once) the same engine may be asked again, if nothing
 * of the answer was told yet. An adapter never asks again by itself: the conversation decides, for
 * it alone knows how long the caller has waited and which other engine there is. */
#define ENGINE_NO_RETRY INT64_MAX

enum engine_error {
    ENGINE_OK,
    ENGINE_AUTH,        /* refused for its key: not tried again */
    ENGINE_BAD_REQUEST, /* this request will never work */
    ENGINE_QUOTA,       /* rate or funds */
    ENGINE_TRANSIENT,   /* connection lost or 5xx: worth another try */
    ENGINE_PROTOCOL,    /* it said what cannot be understood */
    ENGINE_TIMEOUT,
    ENGINE_CROWDED,     /* too many requests of this workspace wait for it here */
    ENGINE_INTERRUPTED, /* what another session asked for ended this one too: worth another try */
    ENGINE_ERROR_COUNT
};
const char *engine_error_name(enum engine_error error);
