/* The head of an HTTP request: found in the bytes, checked strictly, taken apart (RFC 9112).
 * Sans-I/O. Wraps libhttp-parser, which is frozen upstream and reads more than the standard allows;
 * what two servers could read differently (request smuggling) is refused here. Thread: any. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "net/http_header.h"

struct arena;

struct http_limits {
    size_t max_line_bytes, max_head_bytes, max_headers;
};

struct http_head {
    const char *method, *target, *path, *query; /* query: NULL when absent */
    struct http_header *headers;
    size_t header_count;
    int64_t content_length; /* -1: none declared */
    bool is_chunked;
    bool keeps_alive;
    bool expects_continue;
    bool wants_upgrade;
    bool is_http10;
};

/* Looks for the empty line that ends the head, from *scanned on (0 at first; moved). ERR_AGAIN:
 * more bytes are needed. Else *out_status is 0 and *out_len the head's length, or *out_status is
 * the refusal. */
enum err http_head_find(const char *data, size_t len, const struct http_limits *limits,
                        size_t *scanned, size_t *out_len, int *out_status) MUST_USE;

/* Takes a whole head apart; everything in *out lives in the arena. Returns 0, or the status that
 * refuses it; then *out_reason is a sentence. */
int http_head_parse(struct arena *arena, const char *data, size_t len,
                    const struct http_limits *limits, struct http_head *out,
                    const char **out_reason) MUST_USE;
