/* Reply times, counted by size: what percentiles of any number of replies, days and agents are read
 * from, as such counts add up. From 50 ms to 20 s a size is at most 15 % wide, which is how far a
 * percentile may be off. Thread: its owner's. */
#pragma once

#include <stdint.h>

enum reply_size {
#define REPLY_TIME(from, below) REPLY_FROM_##from,
#include "model/reply_times.def"
#undef REPLY_TIME
    REPLY_SIZES
};

struct reply_times {
    int64_t counts[REPLY_SIZES];
};
void reply_times_add(struct reply_times *times, int64_t ms);
void reply_times_join(struct reply_times *times, const struct reply_times *others);
int64_t reply_times_count(const struct reply_times *times);
/* Whole ms, by nearest rank, in the place that this rank has among those of its size; NaN: none. Of
 * the last size, which has no end, where it begins. */
double reply_times_percentile(const struct reply_times *times, int percent);
