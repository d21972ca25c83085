#include "engine/breaker.h"

#include <stddef.h>

/* FNV-1a: ids of ours need no secret seed. Never 0. */
static uint64_t mark_of(const char *own)
{
    uint64_t mark = UINT64_C(0xcbf29ce484222325);
    if (!own)
        return 0;
    for (const char *c = own; *c; c++)
        mark = (mark ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    return mark | 1;
}

bool breaker_counts(enum engine_error error)
{
    return error != ENGINE_OK && error != ENGINE_BAD_REQUEST && error != ENGINE_CROWDED &&
           error != ENGINE_INTERRUPTED;
}

bool breaker_failed(struct breaker *breaker, const char *own, int64_t now_us)
{
    uint64_t whose = atomic_load(&breaker->whose);
    unsigned before = atomic_load(&breaker->failures);
    if (before == 0) {
        atomic_store(&breaker->whose, mark_of(own));
    } else if (whose != 0 && whose != mark_of(own)) { /* those of one alone are one to the others */
        atomic_store(&breaker->until_us, 0);
        atomic_store(&breaker->failures, 1);
        atomic_store(&breaker->whose, 0);
    }
    unsigned failures = atomic_fetch_add(&breaker->failures, 1) + 1;
    if (failures < BREAKER_CALLS || now_us < atomic_load(&breaker->until_us))
        return false;
    atomic_store(&breaker->until_us, now_us + BREAKER_US);
    return true;
}

void breaker_worked(struct breaker *breaker)
{
    if (atomic_load_explicit(&breaker->failures, memory_order_relaxed) == 0)
        return; /* the usual case writes nothing that all threads share */
    atomic_store(&breaker->failures, 0);
    atomic_store(&breaker->until_us, 0);
}

bool breaker_is_open(const struct breaker *breaker, const char *own, int64_t now_us)
{
    if (now_us >= atomic_load_explicit(&breaker->until_us, memory_order_relaxed))
        return false;
    uint64_t whose = atomic_load_explicit(&breaker->whose, memory_order_relaxed);
    return whose == 0 || whose == mark_of(own);
}
