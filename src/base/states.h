/* State machines as tables (style rule 29): each row says where an event leads from a state. A row
 * whose end is its beginning is an event that is expected there and changes nothing. What has no
 * row is a fault of ours or a peer out of order: it is counted (earshot_moves_refused_total by
 * machine) and logged, and the caller is told.
 *
 * A machine wraps states_next() in its x_move(), which alone writes its state. Thread: any. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"

struct states_row {
    int from, event, to;
};

struct states {
    const char *name;               /* of the machine, as in the metric */
    const char *const *state_names; /* in the order of its enum */
    const char *const *event_names;
    size_t state_count, event_count;
    const struct states_row *rows;
    size_t count;
};

enum { STATES_REFUSED = -1 };

/* The state after the event, or STATES_REFUSED. subject: whose state it is, for the log; may be
 * NULL. */
int states_next(const struct states *states, int from, int event, const char *subject) MUST_USE;
