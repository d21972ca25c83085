/* What the nodes of one database tell each other once a second: how much was taken of which limit.
 * A node writes only when it has something to tell and somebody to tell it to; what was told is
 * sealed, read within ten seconds, and then removed. Thread: inside a job. */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "model/field.h"

struct tx;

struct rate_telling {
    const char *node;
    int64_t at_ms; /* rises from one of a node to its next, unless the clock was set */
    const char *text;
};
struct rate_telling_list LIST_OF(struct rate_telling);

/* Tells `text` ("": nothing) unless this node is alone, and reads what the others have told in the
 * last ten seconds, in the order of each. */
enum err store_rate_exchange(struct tx *tx, const char *text,
                             struct rate_telling_list *out) MUST_USE;
