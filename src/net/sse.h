/* Server-sent events (HTML Living Standard, 9.2): bytes in, events out. Sans-I/O. Thread: its
 * owner's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"

struct sse {
    struct buf line;
    struct buf data;
    char event[64]; /* cut when longer */
    bool has_data;
    bool last_was_cr;
    bool at_start; /* a byte order mark may come */
};

/* type: "message" unless the stream named one. data: lines joined by LF, NUL-terminated. */
typedef void sse_fn(void *arg, const char *type, const char *data, size_t len);

void sse_init(struct sse *sse, size_t max_event_bytes);
void sse_clear(struct sse *sse);
/* ERR_LIMIT: an event or line over the ceiling; nothing more is read after it. */
enum err sse_input(struct sse *sse, const char *data, size_t len, sse_fn *fn, void *arg) MUST_USE;
