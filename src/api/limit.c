/* Token buckets: a bucket is the moment at which it was empty last, as if time filled it. Full
 * buckets carry no knowledge and are dropped when there are many. */
#include "api/limit.h"

#include <string.h>

#include "base/map.h"
#include "base/mem.h"

struct bucket {
    int64_t tokens_e6; /* millionths of a token */
    int64_t at_us;
};

struct limit {
    struct map *buckets;
    int64_t per_minute, burst;
    int64_t now_us; /* of the sweep under way */
};

struct limit *limit_new(int64_t per_minute, int64_t burst)
{
    struct limit *limit = mem_new(struct limit);
    limit->buckets = map_new();
    limit->per_minute = per_minute;
    limit->burst = MAX(burst, 1);
    return limit;
}

static int drop(void *arg, const void *key, size_t key_len, void *value)
{
    (void)arg, (void)key, (void)key_len;
    mem_free(value);
    return 0;
}

void limit_free(struct limit *limit)
{
    if (!limit)
        return;
    map_each(limit->buckets, drop, NULL);
    map_free(limit->buckets);
    mem_free(limit);
}

static void fill(const struct limit *limit, struct bucket *bucket, int64_t now_us)
{
    int64_t full = limit->burst * 1000000;
    int64_t passed_us = MIN(now_us - bucket->at_us, INT64_C(3600000000));
    bucket->tokens_e6 = MIN(full, bucket->tokens_e6 + passed_us * limit->per_minute / 60);
    bucket->at_us = now_us;
}

static int drop_full(void *arg, const void *key, size_t key_len, void *value)
{
    struct limit *limit = arg;
    struct bucket *bucket = value;
    fill(limit, bucket, limit->now_us);
    if (bucket->tokens_e6 < limit->burst * 1000000)
        return 0;
    map_remove(limit->buckets, key, key_len);
    mem_free(bucket);
    return 0;
}

static struct bucket *find(struct limit *limit, const char *name, int64_t now_us)
{
    struct bucket *bucket = map_get_str(limit->buckets, name);
    if (bucket) {
        fill(limit, bucket, now_us);
        return bucket;
    }
    if (map_count(limit->buckets) >= LIMIT_BUCKETS_MAX) {
        limit->now_us = now_us;
        map_each(limit->buckets, drop_full, limit);
    }
    bucket = mem_new(struct bucket);
    *bucket = (struct bucket){.tokens_e6 = limit->burst * 1000000, .at_us = now_us};
    map_set_str(limit->buckets, name, bucket);
    return bucket;
}

static int64_t seconds_to(const struct limit *limit, int64_t missing_e6)
{
    if (missing_e6 <= 0)
        return 0;
    int64_t us = missing_e6 * 60 / limit->per_minute;
    return (us + 999999) / 1000000;
}

static void describe(const struct limit *limit, const struct bucket *bucket,
                     struct limit_state *out)
{
    *out = (struct limit_state){
        .per_minute = limit->per_minute,
        .remaining = bucket->tokens_e6 / 1000000,
        .reset_s = seconds_to(limit, limit->burst * 1000000 - bucket->tokens_e6),
        .retry_s = seconds_to(limit, 1000000 - bucket->tokens_e6),
    };
}

static bool ask(struct limit *limit, const char *name, int64_t now_us, int64_t take_e6,
                struct limit_state *out)
{
    if (limit->per_minute == 0) {
        if (out)
            *out = (struct limit_state){0};
        return true;
    }
    struct bucket *bucket = find(limit, name, now_us);
    bool has_token = bucket->tokens_e6 >= 1000000;
    if (has_token)
        bucket->tokens_e6 -= take_e6;
    if (out)
        describe(limit, bucket, out);
    return has_token;
}

bool limit_take(struct limit *limit, const char *name, int64_t now_us, struct limit_state *out)
{
    return ask(limit, name, now_us, 1000000, out);
}

bool limit_peek(struct limit *limit, const char *name, int64_t now_us, struct limit_state *out)
{
    return ask(limit, name, now_us, 0, out);
}
