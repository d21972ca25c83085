/* Small allocations, which cannot fail: out of memory aborts. What a peer sizes goes through struct
 * buf. Thread: any. */
#pragma once

#include <stddef.h>

#include "base/attr.h"

#define mem_new(type)      ((type *)mem_zalloc(sizeof(type)))
#define mem_new_n(type, n) ((type *)mem_zalloc_n((n), sizeof(type)))

void *mem_zalloc(size_t len);
void *mem_zalloc_n(size_t count, size_t size); /* aborts on overflow */
void *mem_realloc_n(void *ptr, size_t count, size_t size);
char *mem_strdup(const char *text); /* NULL gives NULL */
char *mem_strndup(const char *text, size_t len);
char *mem_printf(const char *format, ...) PRINTF(1, 2);
void mem_free(void *ptr);

static inline void mem_auto_free(void *pp)
{
    mem_free(*(void **)pp);
}
/* AUTO_MEM char *s = mem_strdup("x"); */
#define AUTO_MEM __attribute__((cleanup(mem_auto_free)))
