#include "rtc/budget.h"

#include "base/metrics.h"

/* A browser in a call sends 50 RTP and some 20 RTCP packets a second, a check each 2.5 s, and while
 * it connects some 20 checks for each pair of addresses; after a gap of its network all of two
 * seconds comes at once. Opus has at most 64 KB a second. */
static const struct {
    int64_t every_us, most;            /* packets */
    int64_t byte_every_us, most_bytes; /* of 64 bytes */
} rates[BUDGET_KINDS] = {
    [DEMUX_STUN] = {10000, 200, 500, 4096},
    [DEMUX_DTLS] = {4000, 500, 250, 8192},
    [DEMUX_RTP] = {4000, 500, 400, 8192},
    [DEMUX_RTCP] = {20000, 100, 2000, 2048},
};

enum { BYTES_A_UNIT = 64 };

static void look(struct budget *budget, int64_t now_us)
{
    if (now_us < budget->look_us + BUDGET_LOOK_US)
        return;
    bool is_bad = budget->dropped > budget->passed && budget->good * 2 > budget->passed;
    bool is_in_a_row = now_us < budget->look_us + 2 * (int64_t)BUDGET_LOOK_US;
    budget->bad_looks = is_bad && is_in_a_row ? budget->bad_looks + 1 : is_bad;
    budget->look_us = now_us;
    budget->passed = budget->good = budget->dropped = 0;
}

bool budget_take(struct budget *budget, enum demux_kind kind, size_t len, int64_t now_us)
{
    if (kind == DEMUX_UNKNOWN)
        return true;
    int64_t units = (int64_t)(len + BYTES_A_UNIT - 1) / BYTES_A_UNIT;
    look(budget, now_us);
    if (bucket_take(&budget->bytes[kind], rates[kind].byte_every_us, rates[kind].most_bytes, units,
                    now_us) &&
        bucket_take(&budget->packets[kind], rates[kind].every_us, rates[kind].most, 1, now_us)) {
        budget->passed++;
        return true;
    }
    budget->dropped++;
    budget->all_dropped++;
    metric_add(METRIC_PACKETS_DROPPED, 1);
    return false;
}

void budget_was_good(struct budget *budget)
{
    budget->good++;
}

bool budget_is_flooded(const struct budget *budget)
{
    return budget->bad_looks >= BUDGET_BAD_LOOKS;
}
