#include "engine/breaker.h"

bool breaker_counts(enum engine_error error)
{
    return error != ENGINE_OK && error != ENGINE_BAD_REQUEST && error != ENGINE_CROWDED;
}

bool breaker_failed(struct breaker *breaker, int64_t now_us)
{
    unsigned failures = atomic_fetch_add(&breaker->failures, 1) + 1;
    if (failures < BREAKER_CALLS || breaker_is_open(breaker, now_us))
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

bool breaker_is_open(const struct breaker *breaker, int64_t now_us)
{
    return now_us < atomic_load_explicit(&breaker->until_us, memory_order_relaxed);
}
