/* The points that a turn passes on its way to the agent's first sound (model/timing.h), as they are
 * passed. Those of a reply that is begun early stand before the end of its turn is known; one that
 * is begun anew forgets them. Thread: its owner's. */
#pragma once

#include <stdbool.h>

#include "talk/talk.h"

struct timing {
    struct talk_timing turn;
    bool is_open; /* the turn is over, and nothing of its reply was heard yet */
};

void timing_begin(struct timing *timing); /* a reply is begun */
/* A point is passed for the first time. */
void timing_pass(struct timing *timing, enum timing_point point, int64_t now_us);
/* The turn that the reply answers: when its voice ended, or when it was typed. */
void timing_commit(struct timing *timing, int64_t from_us);
void timing_drop(struct timing *timing); /* nobody will hear the reply */
/* The first packet of an answer goes out. False: no turn waits for it. */
bool timing_take(struct timing *timing, int64_t now_us, struct talk_timing *out);
