/* Packets made to be dear (bench/abuse_*.c) cost no more than a few ordinary ones. Compared is CPU
 * time of this thread, the least of several rounds, with a wide margin: before there were bounds
 * the ratios were 50 to 3,000. */
#include <stdio.h>
#include <time.h>

#include "abuse_kinds.h"
#include "base/attr.h"
#include "test.h"

enum { ROUNDS = 7, PACKETS = 8, RATIO_MAX = 35 };

static int64_t cpu_ns(void)
{
    struct timespec at;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

static int64_t cost_ns(const struct abuse_kind *kind)
{
    int64_t least = INT64_MAX;
    for (int round = 0; round < ROUNDS; round++) {
        void *state = kind->begin();
        int64_t total = 0;
        for (int i = 0; i < PACKETS; i++) {
            kind->prepare(state);
            int64_t from = cpu_ns();
            kind->give(state);
            total += cpu_ns() - from;
        }
        kind->end(state);
        least = total < least ? total : least;
    }
    return least / PACKETS;
}

TEST(no_packet_costs_much_more_than_an_ordinary_one)
{
    int64_t ordinary = 0;
    for (size_t i = 0; i < abuse_kind_count; i++) {
        const struct abuse_kind *kind = &abuse_kinds[i];
        if (kind->is_once)
            continue;
        int64_t cost = cost_ns(kind);
        if (kind->is_ordinary)
            ordinary = cost;
        else if (!CHECK(cost <= ordinary * RATIO_MAX))
            fprintf(stderr, "      %s: %lld ns, an ordinary one %lld ns\n", kind->name,
                    (long long)cost, (long long)ordinary);
    }
}
