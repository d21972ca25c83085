#include "base/metrics.h"

#include <stdio.h>

#include "test.h"

TEST(metrics_count_and_set)
{
    metric_set(METRIC_CALLS_ACTIVE, 5);
    metric_add(METRIC_CALLS_ACTIVE, -2);
    CHECK_INT(metric_read(METRIC_CALLS_ACTIVE), 3);
    AUTO_BUF out = BUF_INIT(1 << 20);
    metrics_print(&out);
    CHECK(strstr(out.data, "# TYPE earshot_calls_active gauge\nearshot_calls_active 3\n") != NULL);
}

TEST(metrics_split_by_label)
{
    metric_add_label(METRIC_CALLS_ENDED, "user-left", 2);
    metric_add_label(METRIC_CALLS_ENDED, "api", 1);
    metric_add_label(METRIC_CALLS_ENDED, "user-left", 1);
    CHECK_INT(metric_read(METRIC_CALLS_ENDED), 4);
    AUTO_BUF out = BUF_INIT(1 << 20);
    metrics_print(&out);
    CHECK(strstr(out.data, "earshot_calls_ended_total{reason=\"user-left\"} 3\n"
                           "earshot_calls_ended_total{reason=\"api\"} 1\n") != NULL);
}

TEST(metrics_bound_the_labels)
{
    char label[16];
    for (int i = 0; i < 200; i++) {
        snprintf(label, sizeof(label), "l%d", i);
        metric_add_label(METRIC_CALLS_ENDED, label, 1);
    }
    CHECK_INT(metric_read(METRIC_CALLS_ENDED), 200);
    AUTO_BUF out = BUF_INIT(1 << 20);
    metrics_print(&out);
    CHECK(strstr(out.data, "{reason=\"l62\"} 1\n") != NULL);
    CHECK(strstr(out.data, "{reason=\"l63\"}") == NULL);
    CHECK(strstr(out.data, "{reason=\"other\"} 137\n") != NULL);
}

TEST(metrics_histogram_is_cumulative)
{
    metric_observe_label_us(METRIC_HTTP_SECONDS, "/v1/me", 700);
    metric_observe_label_us(METRIC_HTTP_SECONDS, "/v1/me", 20000000);
    AUTO_BUF out = BUF_INIT(1 << 20);
    metrics_print(&out);
    static const char *const lines[] = {
        "earshot_http_request_seconds_bucket{route=\"/v1/me\",le=\"0.0005\"} 0\n",
        "earshot_http_request_seconds_bucket{route=\"/v1/me\",le=\"0.001\"} 1\n",
        "earshot_http_request_seconds_bucket{route=\"/v1/me\",le=\"10\"} 1\n",
        "earshot_http_request_seconds_bucket{route=\"/v1/me\",le=\"+Inf\"} 2\n",
        "earshot_http_request_seconds_sum{route=\"/v1/me\"} 20.000700\n",
        "earshot_http_request_seconds_count{route=\"/v1/me\"} 2\n",
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
        if (!strstr(out.data, lines[i]))
            test_fail(__FILE__, __LINE__, "no line %s in\n%s", lines[i], out.data);
}
