/* A hash table of addresses by granule of 64 bytes, so that looking through a freed block takes as
 * many steps as it has granules. It allocates for itself: mem_free() asks it.
 *
 * Thread: any, under the mutex. */
#include "base/armed.h"

#ifdef EARSHOT_CHECK_ARMED

#include <execinfo.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/attr.h"

enum {
    GRANULE_BITS = 6,
    BUCKETS = 1 << 16,
    FRAMES = 32, /* of the trace that is printed */
};

struct entry {
    struct entry *next;
    const void *address;
    enum armed_kind kind;
};

/* Of a sanitizer's runtime, with names and lines; NULL without one. */
__attribute__((weak)) void __sanitizer_print_stack_trace(void);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct entry *buckets[BUCKETS], *spare;

static struct entry **bucket_of(uintptr_t granule)
{
    return &buckets[granule * UINT64_C(0x9e3779b97f4a7c15) >> 48];
}

void armed_add(const void *address, enum armed_kind kind)
{
    pthread_mutex_lock(&mutex);
    struct entry *entry = spare ? spare : malloc(sizeof(*entry));
    if (!entry)
        abort();
    if (entry == spare)
        spare = entry->next;
    struct entry **bucket = bucket_of((uintptr_t)address >> GRANULE_BITS);
    *entry = (struct entry){*bucket, address, kind};
    *bucket = entry;
    pthread_mutex_unlock(&mutex);
}

void armed_remove(const void *address, enum armed_kind kind)
{
    pthread_mutex_lock(&mutex);
    struct entry **at = bucket_of((uintptr_t)address >> GRANULE_BITS);
    while (*at && ((*at)->address != address || (*at)->kind != kind))
        at = &(*at)->next;
    struct entry *entry = *at;
    if (entry) {
        *at = entry->next;
        entry->next = spare;
        spare = entry;
    }
    pthread_mutex_unlock(&mutex);
}

static void report(const char *block, size_t len, const struct entry *entry)
{
    static const char *const kinds[] = {"a set timer", "the argument of an open watch",
                                        "the argument of a function that waits to run",
                                        "a linked list node"};
    void *frames[FRAMES];
    fprintf(stderr, "earshot: %zu bytes are freed that hold %s at offset %zu\n", len,
            kinds[entry->kind], (size_t)((const char *)entry->address - block));
    if (__sanitizer_print_stack_trace)
        __sanitizer_print_stack_trace();
    else
        backtrace_symbols_fd(frames, backtrace(frames, FRAMES), STDERR_FILENO);
    abort();
}

static void look(const char *block, size_t len, const struct entry *entry)
{
    for (; entry; entry = entry->next)
        if ((const char *)entry->address >= block && (const char *)entry->address < block + len)
            report(block, len, entry);
}

void armed_check(void *block)
{
    size_t len = malloc_usable_size(block);
    if (len == 0)
        return;
    uintptr_t first = (uintptr_t)block >> GRANULE_BITS;
    uintptr_t last = ((uintptr_t)block + len - 1) >> GRANULE_BITS;
    pthread_mutex_lock(&mutex);
    if (last - first >= BUCKETS) {
        for (size_t i = 0; i < BUCKETS; i++)
            look(block, len, buckets[i]);
    } else {
        for (uintptr_t granule = first; granule <= last; granule++)
            look(block, len, *bucket_of(granule));
    }
    pthread_mutex_unlock(&mutex);
}

#endif
