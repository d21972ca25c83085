/* Memory that lives as long as one request (or one job) and is freed at once.
 * Allocations are zeroed, aligned for any type, and cannot fail: over max_bytes the process aborts,
 * so what a peer sizes is bounded before it comes here. Thread: one at a time. */
#pragma once

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

#define arena_new_of(arena, type)   ((type *)arena_alloc((arena), sizeof(type)))
#define arena_new_n(arena, type, n) ((type *)arena_alloc((arena), (n) * sizeof(type)))
