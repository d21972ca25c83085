/* Counters, gauges and histograms for /metrics, from one table (metrics.def): a new metric is one
 * row there. Relaxed atomics; names and labels as Prometheus has them. Thread: any. */
#pragma once

#include <stdint.h>

#include "base/buf.h"

enum metric {
#define METRIC(id, kind, name, label, help) METRIC_##id,
#include "base/metrics.def"
#undef METRIC
    METRIC_COUNT
};

void metric_add(enum metric metric, int64_t n);
void metric_set(enum metric metric, int64_t value);
/* For a metric with a label; at most 64 values each, further ones count as "other". value:
 * [A-Za-z0-9_./:-]. */
void metric_add_label(enum metric metric, const char *value, int64_t n);
void metric_set_label(enum metric metric, const char *value, int64_t n); /* a gauge */
void metric_observe_us(enum metric metric, int64_t us); /* a histogram in seconds */
void metric_observe_label_us(enum metric metric, const char *value, int64_t us);
int64_t metric_read(enum metric metric); /* a counter's or gauge's value, all labels added */
void metrics_print(struct buf *out);     /* text exposition 0.0.4 */
