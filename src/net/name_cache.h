/* What names answered, for as long as they said, the absence of an answer included: the names used
 * least recently go when it is full. Thread: its owner's. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "net/lookup.h"

struct name_cache;

struct name_cache *name_cache_new(size_t max_names);
void name_cache_free(struct name_cache *cache);
DEFINE_AUTO(name_cache)

/* NULL: not known, or no more. Valid until the next call. */
const struct lookup_answer *name_cache_get(struct name_cache *cache, const char *host,
                                           int64_t now_us);
/* Both kinds of answer are kept for a bounded time: its TTL, at most 5 min (0: not at all); 5 s for
 * a name that does not exist or has no address, 3 s for one that nobody could tell of. */
void name_cache_put(struct name_cache *cache, const char *host, const struct lookup_answer *answer,
                    int64_t now_us);
size_t name_cache_count(const struct name_cache *cache);
