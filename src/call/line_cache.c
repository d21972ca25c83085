#include "call/line_cache.h"

#include <stdbool.h>
#include <string.h>

#include "audio/codec.h"
#include "base/buf.h"
#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"

enum { FRAMES_MAX = 60 * 50 }; /* a line of a minute; a longer one is not kept */

struct encoded_line {
    struct list_node node; /* in the cache */
    unsigned refs;
    char *key, *owner;
    struct buf packets; /* one after the other, each with its length in two bytes before it */
    uint32_t *starts;   /* of the packets */
    size_t frames, room;
    bool is_spoilt;
};

/* What a workspace has in a cache. */
struct share {
    size_t bytes;
};

struct line_cache {
    struct map *by_key, *shares; /* shares: owner -> struct share, those that have something */
    struct list_node recent;     /* the one said last is first */
    size_t bytes, max_bytes;
};

/* A line. */

struct encoded_line *encoded_line_new(const char *key, const char *owner)
{
    struct encoded_line *line = mem_new(struct encoded_line);
    line->refs = 1;
    line->key = mem_strdup(key);
    line->owner = mem_strdup(owner);
    buf_init(&line->packets, (size_t)FRAMES_MAX * CODEC_PACKET_MAX_BYTES);
    return line;
}

struct encoded_line *encoded_line_ref(struct encoded_line *line)
{
    line->refs++;
    return line;
}

void encoded_line_unref(struct encoded_line *line)
{
    if (!line || --line->refs > 0)
        return;
    buf_clear(&line->packets);
    mem_free(line->starts);
    mem_free(line->key);
    mem_free(line->owner);
    mem_free(line);
}

void encoded_line_add(struct encoded_line *line, const uint8_t *packet, size_t len)
{
    if (line->frames == line->room) {
        line->room = line->room ? line->room * 2 : 64;
        line->starts = mem_realloc_n(line->starts, line->room, sizeof(*line->starts));
    }
    line->starts[line->frames++] = (uint32_t)line->packets.len;
    uint16_t length = (uint16_t)len;
    buf_append(&line->packets, &length, sizeof(length));
    buf_append(&line->packets, packet, len);
}

void encoded_line_spoil(struct encoded_line *line)
{
    line->is_spoilt = true;
}

size_t encoded_line_frames(const struct encoded_line *line)
{
    return line->frames;
}

const uint8_t *encoded_line_frame(const struct encoded_line *line, size_t index, size_t *out_len)
{
    const char *at = line->packets.data + line->starts[index];
    uint16_t length;
    memcpy(&length, at, sizeof(length));
    *out_len = length;
    return (const uint8_t *)at + sizeof(length);
}

static size_t line_bytes(const struct encoded_line *line)
{
    return sizeof(*line) + line->packets.cap + line->room * sizeof(*line->starts);
}

/* The cache. */

struct line_cache *line_cache_new(size_t max_bytes)
{
    struct line_cache *cache = mem_new(struct line_cache);
    cache->by_key = map_new();
    cache->shares = map_new();
    cache->max_bytes = max_bytes;
    list_init(&cache->recent);
    return cache;
}

static void count(struct line_cache *cache, const struct encoded_line *line)
{
    struct share *share = map_get_str(cache->shares, line->owner);
    if (!share) {
        share = mem_new(struct share);
        map_set_str(cache->shares, line->owner, share);
    }
    share->bytes += line_bytes(line);
    cache->bytes += line_bytes(line);
}

static void discount(struct line_cache *cache, const struct encoded_line *line)
{
    struct share *share = map_get_str(cache->shares, line->owner);
    cache->bytes -= line_bytes(line);
    share->bytes -= line_bytes(line);
    if (share->bytes)
        return;
    map_remove_str(cache->shares, line->owner);
    mem_free(share);
}

static void forget(struct line_cache *cache, struct encoded_line *line)
{
    map_remove_str(cache->by_key, line->key);
    list_remove(&line->node);
    discount(cache, line);
    encoded_line_unref(line);
}

void line_cache_free(struct line_cache *cache)
{
    if (!cache)
        return;
    struct encoded_line *line;
    LIST_EACH (line, &cache->recent, struct encoded_line, node)
        forget(cache, line);
    map_free(cache->by_key);
    map_free(cache->shares);
    mem_free(cache);
}

struct encoded_line *line_cache_find(struct line_cache *cache, const char *key)
{
    struct encoded_line *line = map_get_str(cache->by_key, key);
    if (!line)
        return NULL;
    list_remove(&line->node);
    list_push_front(&cache->recent, &line->node);
    return encoded_line_ref(line);
}

static int find_largest(void *arg, const void *key, size_t key_len, void *value)
{
    const struct share **largest = arg, *share = value;
    (void)key, (void)key_len;
    if (!*largest || share->bytes > (*largest)->bytes)
        *largest = share;
    return 0;
}

/* Of the owner that has most, the line that was said longest ago. */
static struct encoded_line *to_forget(const struct line_cache *cache)
{
    const struct share *largest = NULL;
    map_each(cache->shares, find_largest, &largest);
    struct list_node *at = cache->recent.prev;
    for (;; at = at->prev) {
        struct encoded_line *line = CONTAINER_OF(at, struct encoded_line, node);
        if (map_get_str(cache->shares, line->owner) == largest)
            return line;
    }
}

void line_cache_keep(struct line_cache *cache, struct encoded_line *line)
{
    if (line->frames == 0 || line->frames > FRAMES_MAX || line->packets.is_full ||
        line->is_spoilt || list_is_linked(&line->node) || map_get_str(cache->by_key, line->key))
        return;
    count(cache, line);
    map_set_str(cache->by_key, line->key, encoded_line_ref(line));
    list_push_front(&cache->recent, &line->node);
    while (cache->bytes > cache->max_bytes)
        forget(cache, to_forget(cache));
}

size_t line_cache_bytes(const struct line_cache *cache)
{
    return cache->bytes;
}
