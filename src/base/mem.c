/* Allocation that cannot fail: a service that is out of memory restarts, it does not limp. */
#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/armed.h"

static void *checked(void *ptr)
{
    if (!ptr) {
        fputs("earshot: out of memory\n", stderr);
        abort();
    }
    return ptr;
}

void *mem_zalloc(size_t len)
{
    return checked(calloc(1, len ? len : 1));
}

void *mem_zalloc_n(size_t count, size_t size)
{
    return checked(calloc(count ? count : 1, size ? size : 1)); /* calloc refuses an overflow */
}

void *mem_realloc_n(void *ptr, size_t count, size_t size)
{
    armed_check(ptr);
    return checked(reallocarray(ptr, count ? count : 1, size ? size : 1));
}

char *mem_strdup(const char *text)
{
    return text ? checked(strdup(text)) : NULL;
}

char *mem_strndup(const char *text, size_t len)
{
    return text ? checked(strndup(text, len)) : NULL;
}

char *mem_printf(const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int len = vasprintf(&text, format, args);
    va_end(args);
    return checked(len < 0 ? NULL : text);
}

void mem_free(void *ptr)
{
    armed_check(ptr);
    free(ptr);
}
