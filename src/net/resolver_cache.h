/* What names answered, for as long as they said, the absence of an answer included: the names used
 * least recently go when it is full. Thread: its owner's. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "net/resolver_lookup.h"

struct resolver_cache;

struct resolver_cache *resolver_cache_new(size_t max_names);
void resolver_cache_free(struct resolver_cache *cache);
DEFINE_AUTO(resolver_cache)

/* NULL: not known, or no more. Valid until the next call. */
const struct resolver_lookup_answer *resolver_cache_get(struct resolver_cache *cache,
                                                        const char *host, int64_t now_us);
/* Both kinds of answer are kept for a bounded time: its TTL, at most 5 min (0: not at all); 5 s for
 * a name that does not exist or has no address, 3 s for one that nobody could tell of. */
void resolver_cache_put(struct resolver_cache *cache, const char *host,
                        const struct resolver_lookup_answer *answer, int64_t now_us);
size_t resolver_cache_count(const struct resolver_cache *cache);
