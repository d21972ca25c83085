/* A hash map from byte strings to pointers. Keys are copied. Seeded per process, so that nobody can
 * aim at a bucket. Thread: its owner's. */
#pragma once

#include <stddef.h>

#include "base/attr.h"

struct map;

struct map *map_new(void);
void map_free(struct map *map); /* the values are the caller's */
DEFINE_AUTO(map)

size_t map_count(const struct map *map);
void *map_get(const struct map *map, const void *key, size_t key_len);
void *map_set(struct map *map, const void *key, size_t key_len,
              void *value); /* returns the value replaced, or NULL */
void *map_remove(struct map *map, const void *key,
                 size_t key_len); /* returns the value removed, or NULL */
void *map_get_str(const struct map *map, const char *key);
void *map_set_str(struct map *map, const char *key, void *value);
void *map_remove_str(struct map *map, const char *key);

/* Visits all entries; fn returns 0 to go on. No change to the map inside, except removing the
 * current entry. */
typedef int map_fn(void *arg, const void *key, size_t key_len, void *value);
void map_each(struct map *map, map_fn *fn, void *arg);
