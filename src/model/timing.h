/* Where the time of one turn went: when, after the caller had finished, each point on the way to
 * the agent's first sound was passed. What a reply was made early for, while the caller paused, may
 * lie before the end of the turn.
 *
 *     caller done ---------> endpoint ------------.
 *           '-> look-up -> looked up -> asked -> first token -> first sentence -> first byte
 *                                                  hold ('one moment') -----^        '-> packet
 *
 * Thread: any. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/field.h"

enum timing_point {
    POINT_ENDPOINT,
    POINT_LOOK_UP,
    POINT_LOOKED_UP,
    POINT_ASKED,
    POINT_FIRST_TOKEN,
    POINT_HOLD,
    POINT_FIRST_SENTENCE,
    POINT_FIRST_BYTE,
    POINT_FIRST_PACKET,
    POINT_COUNT
};

struct turn_timing {
    int64_t at_wall_ms;           /* the caller's voice ended, or what they typed was sent */
    double after_ms[POINT_COUNT]; /* NaN: not passed */
};
extern const struct field_table turn_timing_table;

/* What lies between the points: where the time of a turn is spent. */
enum timing_step {
    STEP_ENDPOINT,
    STEP_LOOK_UP,
    STEP_FIRST_TOKEN,
    STEP_FIRST_SENTENCE,
    STEP_FIRST_BYTE,
    STEP_FIRST_PACKET,
    STEP_COUNT
};
extern const char *const timing_step_names[STEP_COUNT];
/* False: the turn did not take this step. It begins at the latest of the points that lead to it. */
bool timing_step(const struct turn_timing *timing, enum timing_step step, double *out_from_ms,
                 double *out_to_ms);
