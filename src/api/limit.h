/* Token buckets by name: requests of a key, failed authentications of an address. Kept in
 * memory and bounded: over the ceiling the bucket that was unused for longest is forgotten, which
 * is only to its owner's advantage. Nodes of one database tell each other what was taken; a bucket
 * may owe tokens after late news, so that the rate holds over time. Thread: the control loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

struct limit;

enum { LIMIT_BUCKETS_MAX = 200000 };

/* per_minute 0: no limit. most_buckets 0: LIMIT_BUCKETS_MAX. */
struct limit *limit_new(int64_t per_minute, int64_t burst, size_t most_buckets);
void limit_free(struct limit *limit);
DEFINE_AUTO(limit)

struct limit_state {
    int64_t per_minute, remaining;
    int64_t reset_s; /* until the bucket is full */
    int64_t retry_s; /* until the next token; 0: there is one */
};
/* Takes one token; false: there is none. `out` may be NULL. */
bool limit_take(struct limit *limit, const char *name, int64_t now_us, struct limit_state *out);
/* Gives one back that was taken and turned out not to count. */
void limit_give(struct limit *limit, const char *name, int64_t now_us);

/* Another node has let so many pass. */
void limit_charge(struct limit *limit, const char *name, int64_t tokens, int64_t now_us);
/* What was taken here and not told yet: fn for each name, the first ones first, at most `most`. */
typedef void limit_told_fn(void *arg, const char *name, int64_t tokens);
void limit_tell(struct limit *limit, size_t most, limit_told_fn *fn, void *arg);
