/* Spans to an OpenTelemetry collector, by OTLP over HTTP with JSON (opentelemetry-proto, trace
 * service; ids as hexadecimal, 64-bit integers as text). Spans are gathered for a second, or until
 * there are enough for a request; one request is under way. Of a collector that is away, slow or
 * full only the newest OTLP_WAITING_MAX spans are kept; a batch that it does not take in three
 * attempts is lost. What is sent and what is lost is counted (`earshot_trace_spans_total`).
 * Thread: its loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

struct http_client;
struct loop;
struct otlp;

enum {
    OTLP_TRACE_SIZE = 33, /* 16 bytes in hexadecimal, and NUL */
    OTLP_SPAN_SIZE = 17,
    OTLP_WAITING_MAX = 4096, /* spans, half a kilobyte each */
    OTLP_BATCH_MAX = 512,
};

struct otlp_attribute {
    const char *name;
    const char *text; /* NULL: the number */
    int64_t number;
};

struct otlp_span {
    const char *trace_id, *span_id;
    const char *parent_id; /* NULL: the root of its trace */
    const char *name;
    bool is_client; /* of a request to something outside */
    int64_t from_wall_us, to_wall_us;
    const struct otlp_attribute *attributes; /* those with neither text nor number are left out */
    size_t attribute_count;
    const char *error; /* NULL: none */
};

/* endpoint: of the collector, without /v1/traces; borrowed like the client. instance: this node. */
struct otlp *otlp_new(struct loop *loop, struct http_client *client, const char *endpoint,
                      const char *instance);
void otlp_free(struct otlp *otlp); /* what waits is lost. NULL is fine */
void otlp_add(struct otlp *otlp, const struct otlp_span *span); /* copied */
