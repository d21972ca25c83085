/* What a workspace's calls came to, by day. */
#pragma once

#include <stdint.h>

#include "model/field.h"

enum { USAGE_DAYS_MAX = 366 };

struct usage_reason {
    const char *reason;
    int64_t calls;
};
struct usage_reason_list LIST_OF(struct usage_reason);

struct usage_day {
    const char *date; /* "2026-11-22", UTC, of the calls' ends */
    int64_t calls, seconds, cost_usd4;
    double reply_p50_ms, reply_p95_ms; /* of all replies; NaN: there was none */
    struct usage_reason_list reasons;
};
struct usage_day_list LIST_OF(struct usage_day);

struct usage {
    struct usage_day_list days; /* oldest first, those without calls included */
    struct usage_reason_list reasons;
    struct usage_day total; /* date: of the first day */
};
extern const struct field_table usage_table;
