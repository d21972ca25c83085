/* A bucket holds its tokens as of the last look; the time since then refills it. All buckets are in
 * one list by when they were last asked for, those with something to tell in a second list. */
#include "api/limit.h"

#include <string.h>

#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"

enum { OWED_BURSTS_MAX = 32 /* this many nodes may each pass a burst before the news */ };

struct bucket {
    struct list_node asked, untold; /* in limit->asked and limit->untold */
    int64_t tokens_e6;              /* millionths of a token; below 0: owed */
    int64_t at_us;
    int64_t taken; /* here, and not told yet */
    char name[];
};

struct limit {
    struct map *buckets;
    struct list_node asked, untold; /* the longest unused first; the first to tell first */
    int64_t per_minute, burst;
    size_t most_buckets;
};

struct limit *limit_new(int64_t per_minute, int64_t burst, size_t most_buckets)
{
    struct limit *limit = mem_new(struct limit);
    limit->buckets = map_new();
    list_init(&limit->asked);
    list_init(&limit->untold);
    limit->per_minute = per_minute;
    limit->burst = MAX(burst, 1);
    limit->most_buckets = most_buckets ? most_buckets : LIMIT_BUCKETS_MAX;
    return limit;
}

static void forget(struct limit *limit, struct bucket *bucket)
{
    list_remove(&bucket->asked);
    list_remove(&bucket->untold);
    map_remove_str(limit->buckets, bucket->name);
    mem_free(bucket);
}

void limit_free(struct limit *limit)
{
    if (!limit)
        return;
    for (struct bucket *bucket; (bucket = LIST_FIRST(&limit->asked, struct bucket, asked));)
        forget(limit, bucket);
    map_free(limit->buckets);
    mem_free(limit);
}

static void fill(const struct limit *limit, struct bucket *bucket, int64_t now_us)
{
    int64_t full = limit->burst * 1000000;
    int64_t passed_us = MIN(MAX(now_us - bucket->at_us, 0), INT64_C(3600000000));
    bucket->tokens_e6 = MIN(full, bucket->tokens_e6 + passed_us * limit->per_minute / 60);
    bucket->at_us = MAX(bucket->at_us, now_us);
}

static struct bucket *find(struct limit *limit, const char *name, int64_t now_us)
{
    struct bucket *bucket = map_get_str(limit->buckets, name);
    if (!bucket) {
        if (map_count(limit->buckets) >= limit->most_buckets)
            forget(limit, LIST_FIRST(&limit->asked, struct bucket, asked));
        bucket = mem_zalloc(sizeof(*bucket) + strlen(name) + 1);
        memcpy(bucket->name, name, strlen(name) + 1);
        bucket->tokens_e6 = limit->burst * 1000000;
        bucket->at_us = now_us;
        map_set_str(limit->buckets, name, bucket);
    }
    list_remove(&bucket->asked);
    list_push_back(&limit->asked, &bucket->asked);
    fill(limit, bucket, now_us);
    return bucket;
}

static int64_t seconds_to(const struct limit *limit, int64_t missing_e6)
{
    if (missing_e6 <= 0)
        return 0;
    int64_t us = missing_e6 * 60 / limit->per_minute;
    return (us + 999999) / 1000000;
}

static void describe(const struct limit *limit, int64_t tokens_e6, struct limit_state *out)
{
    *out = (struct limit_state){
        .per_minute = limit->per_minute,
        .remaining = MAX(tokens_e6, 0) / 1000000,
        .reset_s = seconds_to(limit, limit->burst * 1000000 - tokens_e6),
        .retry_s = seconds_to(limit, 1000000 - tokens_e6),
    };
}

bool limit_take(struct limit *limit, const char *name, int64_t now_us, struct limit_state *out)
{
    struct limit_state ignored;
    *(out ? out : &ignored) = (struct limit_state){0};
    if (limit->per_minute == 0)
        return true;
    struct bucket *bucket = find(limit, name, now_us);
    bool has_token = bucket->tokens_e6 >= 1000000;
    if (has_token) {
        bucket->tokens_e6 -= 1000000;
        bucket->taken++;
        if (!list_is_linked(&bucket->untold))
            list_push_back(&limit->untold, &bucket->untold);
    }
    describe(limit, bucket->tokens_e6, out ? out : &ignored);
    return has_token;
}

void limit_give(struct limit *limit, const char *name, int64_t now_us)
{
    if (limit->per_minute == 0)
        return;
    struct bucket *bucket = find(limit, name, now_us);
    bucket->tokens_e6 = MIN(bucket->tokens_e6 + 1000000, limit->burst * 1000000);
    if (bucket->taken > 0)
        bucket->taken--;
}

void limit_charge(struct limit *limit, const char *name, int64_t tokens, int64_t now_us)
{
    if (limit->per_minute == 0 || tokens <= 0)
        return;
    struct bucket *bucket = find(limit, name, now_us);
    int64_t most = (OWED_BURSTS_MAX + 1) * limit->burst;
    bucket->tokens_e6 = MAX(bucket->tokens_e6 - MIN(tokens, most) * 1000000,
                            -OWED_BURSTS_MAX * limit->burst * 1000000);
}

void limit_tell(struct limit *limit, size_t most, limit_told_fn *fn, void *arg)
{
    for (struct bucket *bucket;
         most > 0 && (bucket = LIST_FIRST(&limit->untold, struct bucket, untold)); most--) {
        list_remove(&bucket->untold);
        int64_t taken = bucket->taken;
        bucket->taken = 0;
        fn(arg, bucket->name, taken);
    }
}
