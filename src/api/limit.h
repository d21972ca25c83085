/* Token buckets by name: requests of a key, failed authentications of an address. In memory; a
 * bucket that is full again is forgotten. Thread: the control loop. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"

struct limit;

enum { LIMIT_BUCKETS_MAX = 200000 };

/* per_minute 0: no limit. */
struct limit *limit_new(int64_t per_minute, int64_t burst);
void limit_free(struct limit *limit);
DEFINE_AUTO(limit)

struct limit_state {
    int64_t per_minute, remaining;
    int64_t reset_s; /* until the bucket is full */
    int64_t retry_s; /* until the next token; 0: there is one */
};
/* Takes one token; false: there is none. `out` may be NULL. */
bool limit_take(struct limit *limit, const char *name, int64_t now_us, struct limit_state *out);
/* Is there a token? Takes none. */
bool limit_peek(struct limit *limit, const char *name, int64_t now_us, struct limit_state *out);
