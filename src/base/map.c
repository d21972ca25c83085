/* The hash map: chained buckets, SipHash-1-3 under a key of the process (Aumasson and Bernstein,
 * 2012), so that outsiders cannot aim at a bucket; entries also hang in one list, so that visits go
 * in the order of insertion whatever the key is (simulations must repeat themselves). */
#include "base/map.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "base/crypto.h"
#include "base/list.h"
#include "base/mem.h"

enum { FIRST_BUCKETS = 16 };

struct entry {
    struct list_node node; /* in map->all */
    struct entry *next;    /* in its bucket */
    uint64_t hash;
    void *value;
    size_t key_len;
    char key[];
};

struct map {
    struct entry **buckets;
    size_t bucket_count; /* a power of two */
    size_t count;
    struct list_node all;
};

static uint64_t process_key[2];
static pthread_once_t process_key_once = PTHREAD_ONCE_INIT;

static void make_process_key(void)
{
    crypto_random(process_key, sizeof(process_key));
}

static uint64_t rotate(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[0] = rotate(v[0], 32);
    v[2] += v[3];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[2] = rotate(v[2], 32);
}

static uint64_t hash_of(const void *key, size_t len)
{
    uint64_t v[4] = {process_key[0] ^ 0x736f6d6570736575, process_key[1] ^ 0x646f72616e646f6d,
                     process_key[0] ^ 0x6c7967656e657261, process_key[1] ^ 0x7465646279746573};
    const char *at = key;
    for (size_t left = len;; left -= 8, at += 8) {
        uint64_t word = left < 8 ? (uint64_t)len << 56 : 0;
        memcpy(&word, at, MIN(left, (size_t)8));
        v[3] ^= word;
        sip_round(v);
        v[0] ^= word;
        if (left < 8)
            break;
    }
    v[2] ^= 0xff;
    for (int i = 0; i < 3; i++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

struct map *map_new(void)
{
    pthread_once(&process_key_once, make_process_key);
    struct map *map = mem_new(struct map);
    map->bucket_count = FIRST_BUCKETS;
    map->buckets = mem_new_n(struct entry *, FIRST_BUCKETS);
    list_init(&map->all);
    return map;
}

void map_free(struct map *map)
{
    if (!map)
        return;
    struct entry *entry;
    LIST_EACH (entry, &map->all, struct entry, node) {
        list_remove(&entry->node);
        mem_free(entry);
    }
    mem_free(map->buckets);
    mem_free(map);
}

size_t map_count(const struct map *map)
{
    return map->count;
}

/* The link that points to the key's entry, or to NULL at the end of its bucket. */
static struct entry **find(const struct map *map, const void *key, size_t key_len, uint64_t hash)
{
    struct entry **link = &map->buckets[hash & (map->bucket_count - 1)];
    for (; *link; link = &(*link)->next) {
        const struct entry *entry = *link;
        if (entry->hash == hash && entry->key_len == key_len &&
            memcmp(entry->key, key, key_len) == 0)
            break;
    }
    return link;
}

static void grow(struct map *map)
{
    mem_free(map->buckets);
    map->bucket_count *= 2;
    map->buckets = mem_new_n(struct entry *, map->bucket_count);
    struct entry *entry;
    LIST_EACH (entry, &map->all, struct entry, node) {
        struct entry **bucket = &map->buckets[entry->hash & (map->bucket_count - 1)];
        entry->next = *bucket;
        *bucket = entry;
    }
}

void *map_get(const struct map *map, const void *key, size_t key_len)
{
    const struct entry *entry = *find(map, key, key_len, hash_of(key, key_len));
    return entry ? entry->value : NULL;
}

void *map_set(struct map *map, const void *key, size_t key_len, void *value)
{
    uint64_t hash = hash_of(key, key_len);
    struct entry **link = find(map, key, key_len, hash);
    if (*link) {
        void *before = (*link)->value;
        (*link)->value = value;
        return before;
    }
    struct entry *entry = mem_zalloc(sizeof(*entry) + key_len + 1);
    entry->hash = hash;
    entry->value = value;
    entry->key_len = key_len;
    memcpy(entry->key, key, key_len);
    *link = entry;
    list_push_back(&map->all, &entry->node);
    if (++map->count > map->bucket_count)
        grow(map);
    return NULL;
}

void *map_remove(struct map *map, const void *key, size_t key_len)
{
    struct entry **link = find(map, key, key_len, hash_of(key, key_len));
    struct entry *entry = *link;
    if (!entry)
        return NULL;
    void *value = entry->value;
    *link = entry->next;
    list_remove(&entry->node);
    mem_free(entry);
    map->count--;
    return value;
}

void *map_get_str(const struct map *map, const char *key)
{
    return map_get(map, key, strlen(key));
}

void *map_set_str(struct map *map, const char *key, void *value)
{
    return map_set(map, key, strlen(key), value);
}

void *map_remove_str(struct map *map, const char *key)
{
    return map_remove(map, key, strlen(key));
}

void map_each(struct map *map, map_fn *fn, void *arg)
{
    struct entry *entry;
    LIST_EACH (entry, &map->all, struct entry, node) {
        if (fn(arg, entry->key, entry->key_len, entry->value))
            return;
    }
}
