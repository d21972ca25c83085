/* Counts by key; a key that holds nothing is forgotten, so the map is as large as what is held. */
#include "base/quota.h"

#include <assert.h>

#include "base/map.h"
#include "base/mem.h"

struct quota {
    struct map *held; /* key -> int64_t *, never 0 */
    int64_t total, per_key, used;
};

struct quota *quota_new(int64_t total, int64_t per_key)
{
    struct quota *quota = mem_new(struct quota);
    quota->held = map_new();
    quota->total = total;
    quota->per_key = per_key;
    return quota;
}

static int drop(void *arg, const void *key, size_t key_len, void *value)
{
    (void)arg, (void)key, (void)key_len;
    mem_free(value);
    return 0;
}

void quota_free(struct quota *quota)
{
    if (!quota)
        return;
    map_each(quota->held, drop, NULL);
    map_free(quota->held);
    mem_free(quota);
}

bool quota_take(struct quota *quota, const char *key, int64_t amount)
{
    int64_t *held = map_get_str(quota->held, key);
    int64_t before = held ? *held : 0, left = quota->total - quota->used - amount;
    if (amount <= 0)
        return true;
    if (left < before || (quota->per_key && amount > quota->per_key - before))
        return false;
    if (!held) {
        held = mem_new(int64_t);
        map_set_str(quota->held, key, held);
    }
    *held += amount;
    quota->used += amount;
    return true;
}

void quota_give(struct quota *quota, const char *key, int64_t amount)
{
    int64_t *held = map_get_str(quota->held, key);
    if (!held || amount <= 0)
        return;
    assert(amount <= *held);
    amount = MIN(amount, *held);
    *held -= amount;
    quota->used -= amount;
    if (*held)
        return;
    map_remove_str(quota->held, key);
    mem_free(held);
}

int64_t quota_used(const struct quota *quota)
{
    return quota->used;
}

int64_t quota_held(const struct quota *quota, const char *key)
{
    const int64_t *held = map_get_str(quota->held, key);
    return held ? *held : 0;
}
