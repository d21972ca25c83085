/* The arena: a chain of blocks, filled from the front. What is larger than a block gets one of its
 * own after the current one, so that the room left is not lost. */
#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

enum {
    BLOCK_BYTES = 4096 - 64, /* one page with the allocator's header */
    ALIGN = _Alignof(max_align_t),
    BYTES_MAX_STANDARD = 64 << 20,
};

struct block {
    struct block *next;
    size_t used, cap;
    max_align_t data[];
};

struct arena {
    struct block *current; /* all others follow it */
    size_t bytes, max_bytes;
};

struct arena *arena_new(size_t max_bytes)
{
    struct arena *arena = mem_new(struct arena);
    arena->max_bytes = max_bytes ? max_bytes : BYTES_MAX_STANDARD;
    return arena;
}

void arena_free(struct arena *arena)
{
    if (!arena)
        return;
    for (struct block *block = arena->current; block;) {
        struct block *next = block->next;
        mem_free(block);
        block = next;
    }
    mem_free(arena);
}

static struct block *block_new(size_t cap)
{
    struct block *block = mem_zalloc(sizeof(*block) + cap);
    block->cap = cap;
    return block;
}

static struct block *block_for(struct arena *arena, size_t len)
{
    struct block *current = arena->current;
    if (current && current->cap - current->used >= len)
        return current;
    struct block *block = block_new(MAX(len, (size_t)BLOCK_BYTES));
    if (current && len > BLOCK_BYTES / 2) {
        block->next = current->next;
        current->next = block;
    } else {
        block->next = current;
        arena->current = block;
    }
    return block;
}

void *arena_alloc(struct arena *arena, size_t len)
{
    size_t rounded = (MAX(len, (size_t)1) + ALIGN - 1) / ALIGN * ALIGN;
    struct block *block = block_for(arena, rounded);
    void *ptr = (char *)block->data + block->used;
    block->used += rounded;
    arena->bytes += rounded;
    return ptr;
}

char *arena_strndup(struct arena *arena, const char *text, size_t len)
{
    if (!text)
        return NULL;
    size_t n = strnlen(text, len);
    char *copy = arena_alloc(arena, n + 1);
    memcpy(copy, text, n);
    return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
    return text ? arena_strndup(arena, text, strlen(text)) : NULL;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = arena_alloc(arena, len < 0 ? 1 : (size_t)len + 1);
    if (len > 0)
        vsnprintf(text, (size_t)len + 1, format, again);
    va_end(again);
    return text;
}

size_t arena_bytes(const struct arena *arena)
{
    return arena->bytes;
}

bool arena_is_full(const struct arena *arena)
{
    return arena->bytes > arena->max_bytes;
}
