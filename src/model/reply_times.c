/* See reply_times.h. */
#include "model/reply_times.h"

#include <math.h>

static const int64_t froms_ms[REPLY_SIZES] = {
#define REPLY_TIME(from, below) from,
#include "model/reply_times.def"
#undef REPLY_TIME
};

void reply_times_add(struct reply_times *times, int64_t ms)
{
    int size = 0;
    while (size + 1 < REPLY_SIZES && froms_ms[size + 1] <= ms)
        size++;
    times->counts[size]++;
}

void reply_times_join(struct reply_times *times, const struct reply_times *others)
{
    for (int i = 0; i < REPLY_SIZES; i++)
        times->counts[i] += others->counts[i];
}

int64_t reply_times_count(const struct reply_times *times)
{
    int64_t all = 0;
    for (int i = 0; i < REPLY_SIZES; i++)
        all += times->counts[i];
    return all;
}

double reply_times_percentile(const struct reply_times *times, int percent)
{
    int64_t all = reply_times_count(times);
    if (all == 0)
        return NAN;
    int64_t rank = (all * percent + 99) / 100;
    int size = 0;
    for (; size < REPLY_SIZES - 1 && rank > times->counts[size]; size++)
        rank -= times->counts[size];
    double from_ms = (double)froms_ms[size];
    if (size == REPLY_SIZES - 1)
        return from_ms;
    double place = ((double)rank - 0.5) / (double)times->counts[size];
    return round(from_ms + ((double)froms_ms[size + 1] - from_ms) * place);
}
