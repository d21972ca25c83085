/* Memory that lives as long as one request (or one job) and is freed at once.
 * Allocations are zeroed and aligned for any type. They cannot fail, so that nobody has to look at
 * each: past max_bytes the arena is full, and stays so, but still gives. Whoever fills one with
 * items that others size asks after each item whether it is full, and ends the matter (ERR_LIMIT);
 * an item itself is bounded where it comes in. Thread: one at a time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"

struct arena;

struct arena *arena_new(size_t max_bytes); /* 0: 64 MiB */
void arena_free(struct arena *arena);
DEFINE_AUTO(arena)

void *arena_alloc(struct arena *arena, size_t len);
char *arena_strdup(struct arena *arena, const char *text); /* NULL gives NULL */
char *arena_strndup(struct arena *arena, const char *text, size_t len);
char *arena_printf(struct arena *arena, const char *format, ...) PRINTF(2, 3);
size_t arena_bytes(const struct arena *arena);
bool arena_is_full(const struct arena *arena); /* more was asked of it than max_bytes */

#define arena_new_of(arena, type)   ((type *)arena_alloc((arena), sizeof(type)))
#define arena_new_n(arena, type, n) ((type *)arena_alloc((arena), (n) * sizeof(type)))
