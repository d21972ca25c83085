/* An allowance: so much at once, then so much a second. One number: the time up to which it is
 * used; a bucket of zeros is full. Thread: its owner's. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct bucket {
    int64_t used_us;
};

/* One unit comes back each every_us, most units are kept. amount: at least 1. False: it is not
 * there, and nothing is taken. */
static inline bool bucket_take(struct bucket *bucket, int64_t every_us, int64_t most,
                               int64_t amount, int64_t now_us)
{
    int64_t from_us = bucket->used_us > now_us ? bucket->used_us : now_us;
    int64_t used_us = from_us + amount * every_us;
    if (used_us > now_us + most * every_us)
        return false;
    bucket->used_us = used_us;
    return true;
}
