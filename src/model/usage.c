/* Usage as the API shows it. */
#include "model/usage.h"

#include <math.h>

#define MEASURED .flags = FIELD_NULL_EMPTY, .standard_real = NAN, .real_max = 1e9

static const struct field reason_rows[] = {
    ROW_TEXT(struct usage_reason, reason, "reason", .about = "An end reason."),
    ROW_INT(struct usage_reason, calls, "calls"),
};
static FIELD_TABLE(reason_table, struct usage_reason, "UsageReason", reason_rows);

static const struct field day_rows[] = {
    ROW_TEXT(struct usage_day, date, "date", .about = "UTC day on which the calls ended.",
             .example = "\"2026-01-31\""),
    ROW_INT(struct usage_day, calls, "calls",
            .about = "Ended calls, those nobody joined included."),
    ROW_INT(struct usage_day, seconds, "seconds"),
    ROW_MONEY(struct usage_day, cost_usd4, "cost"),
    ROW_REAL(struct usage_day, reply_p50_ms, "replyMs", MEASURED,
             .about = "Median of the reply times of these calls, from the caller's last sound to "
                      "the first of the answer. They are counted by size, so that it is within 15 "
                      "% from 50 ms to 20 s and never over 20 s; null when none was measured."),
    ROW_REAL(struct usage_day, reply_p95_ms, "replyP95Ms", MEASURED,
             .about = "Their 95th percentile, likewise."),
    ROW_OBJECTS(struct usage_day, reasons, "reasons", struct usage_reason_list, &reason_table,
                .about = "How its calls ended; most frequent first."),
};
static FIELD_TABLE(day_table, struct usage_day, "UsageDay", day_rows);

static const struct field usage_rows[] = {
    ROW_OBJECTS(struct usage, days, "days", struct usage_day_list, &day_table,
                .about = "Oldest first, those without calls included."),
    ROW_OBJECTS(struct usage, reasons, "reasons", struct usage_reason_list, &reason_table,
                .about = "Most frequent first."),
    ROW_OBJECT(struct usage, total, "total", struct usage_day, &day_table,
               .about = "Of all these days; its date is the first of them."),
};
FIELD_TABLE(usage_table, struct usage, "Usage", usage_rows);
