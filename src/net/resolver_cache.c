#include "net/resolver_cache.h"

#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"

enum {
    KEPT_MAX_S = 5 * 60, /* a service that has moved is found again */
    ABSENT_S = 5,        /* a name that was just made is found soon */
    FAILED_S = 3,        /* asking again at once would hold a place for 6 s */
};

struct entry {
    struct list_node node; /* the one used last stands last */
    int64_t until_us;
    struct resolver_lookup_answer answer;
    char *host;
};

struct resolver_cache {
    size_t max_names;
    struct map *entries; /* by host */
    struct list_node by_use;
};

struct resolver_cache *resolver_cache_new(size_t max_names)
{
    struct resolver_cache *cache = mem_new(struct resolver_cache);
    cache->max_names = max_names;
    cache->entries = map_new();
    list_init(&cache->by_use);
    return cache;
}

static void drop(struct resolver_cache *cache, struct entry *entry)
{
    map_remove_str(cache->entries, entry->host);
    list_remove(&entry->node);
    mem_free(entry->host);
    mem_free(entry);
}

static void drop_first(struct resolver_cache *cache)
{
    drop(cache, LIST_FIRST(&cache->by_use, struct entry, node));
}

void resolver_cache_free(struct resolver_cache *cache)
{
    if (!cache)
        return;
    while (!list_is_empty(&cache->by_use))
        drop_first(cache);
    map_free(cache->entries);
    mem_free(cache);
}

const struct resolver_lookup_answer *resolver_cache_get(struct resolver_cache *cache,
                                                        const char *host, int64_t now_us)
{
    struct entry *entry = map_get_str(cache->entries, host);
    if (entry && entry->until_us <= now_us) {
        drop(cache, entry);
        return NULL;
    }
    if (!entry)
        return NULL;
    list_remove(&entry->node);
    list_push_back(&cache->by_use, &entry->node);
    return &entry->answer;
}

static int64_t keep_s(const struct resolver_lookup_answer *answer)
{
    switch (answer->fault.err) {
    case OK:
        return MIN(answer->ttl_s, (int64_t)KEPT_MAX_S);
    case ERR_NOT_FOUND:
        return ABSENT_S;
    default:
        return FAILED_S;
    }
}

void resolver_cache_put(struct resolver_cache *cache, const char *host,
                        const struct resolver_lookup_answer *answer, int64_t now_us)
{
    struct entry *entry = map_get_str(cache->entries, host);
    if (keep_s(answer) <= 0)
        return;
    if (!entry) {
        if (map_count(cache->entries) >= cache->max_names)
            drop_first(cache);
        entry = mem_new(struct entry);
        entry->host = mem_strdup(host);
        map_set_str(cache->entries, host, entry);
    }
    entry->answer = *answer;
    entry->until_us = now_us + keep_s(answer) * 1000000;
    list_remove(&entry->node);
    list_push_back(&cache->by_use, &entry->node);
}

size_t resolver_cache_count(const struct resolver_cache *cache)
{
    return map_count(cache->entries);
}
