/* Lines that are said again and again (static greetings, holding lines, the service's own words),
 * kept as Opus packets: the first call that says one to its end keeps it, the next ones need
 * neither voice nor encoder. When it is full, whoever has most in it loses the line that was said
 * longest ago, so that one workspace's thousand greetings push out no other's. Thread: its loop. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

struct encoded_line;
struct line_cache;

enum { LINE_CACHE_MAX_BYTES = 1024 * 1024 }; /* some five minutes of speech a loop */

struct line_cache *line_cache_new(size_t max_bytes);
void line_cache_free(struct line_cache *cache);
DEFINE_AUTO(line_cache)

/* key: all that the sound depends on, engine, speaker, text and so on. A reference, or NULL. */
struct encoded_line *line_cache_find(struct line_cache *cache, const char *key);
/* A line that was said to its end: kept, unless there is one of its key. */
void line_cache_keep(struct line_cache *cache, struct encoded_line *line);
size_t line_cache_bytes(const struct line_cache *cache);

/* One reference. owner: the workspace in whose call it is said. */
struct encoded_line *encoded_line_new(const char *key, const char *owner);
struct encoded_line *encoded_line_ref(struct encoded_line *line);
void encoded_line_unref(struct encoded_line *line); /* NULL is fine */
/* A frame of 20 ms; while it is said. */
void encoded_line_add(struct encoded_line *line, const uint8_t *packet, size_t len);
/* Something in it is not as others are to hear it: it will not be kept. */
void encoded_line_spoil(struct encoded_line *line);
size_t encoded_line_frames(const struct encoded_line *line);
const uint8_t *encoded_line_frame(const struct encoded_line *line, size_t index, size_t *out_len);
