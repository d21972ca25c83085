#include "call/line_cache.h"

#include <stdbool.h>
#include <string.h>

#include "audio/codec.h"
#include "base/buf.h"
#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"

enum { FRAMES_MOST = 60 * 50 }; /* a line of a minute; a longer one is not kept */

struct encoded_line {
    struct list_node node; /* in the cache */
    unsigned refs;
    char *key;
    struct buf packets; /* one behind the other, each with its length in two bytes before it */
    uint32_t *starts;   /* of the packets */
    size_t frames, room;
    bool is_spoilt;
};

struct line_cache {
    struct map *by_key;
    struct list_node recent; /* the one said last is first */
    size_t bytes, max_bytes;
};

/* ---- a line ---- */

struct encoded_line *encoded_line_new(const char *key)
{
    struct encoded_line *line = mem_new(struct encoded_line);
    line->refs = 1;
    line->key = mem_strdup(key);
    buf_init(&line->packets, (size_t)FRAMES_MOST * CODEC_PACKET_MAX_BYTES);
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

/* ---- the cache ---- */

struct line_cache *line_cache_new(size_t max_bytes)
{
    struct line_cache *cache = mem_new(struct line_cache);
    cache->by_key = map_new();
    cache->max_bytes = max_bytes;
    list_init(&cache->recent);
    return cache;
}

static void forget(struct line_cache *cache, struct encoded_line *line)
{
    map_remove_str(cache->by_key, line->key);
    list_remove(&line->node);
    cache->bytes -= line_bytes(line);
    encoded_line_unref(line);
}

void line_cache_free(struct line_cache *cache)
{
    if (!cache)
        return;
    struct encoded_line *line;
    LIST_EACH(line, &cache->recent, struct encoded_line, node)
    forget(cache, line);
    map_free(cache->by_key);
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

void line_cache_keep(struct line_cache *cache, struct encoded_line *line)
{
    if (line->frames == 0 || line->frames > FRAMES_MOST || line->packets.is_full ||
        line->is_spoilt || list_is_linked(&line->node) || map_get_str(cache->by_key, line->key))
        return;
    cache->bytes += line_bytes(line);
    map_set_str(cache->by_key, line->key, encoded_line_ref(line));
    list_push_front(&cache->recent, &line->node);
    while (cache->bytes > cache->max_bytes)
        forget(cache, CONTAINER_OF(cache->recent.prev, struct encoded_line, node));
}

size_t line_cache_bytes(const struct line_cache *cache)
{
    return cache->bytes;
}
