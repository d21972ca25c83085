/* From a tool, the model's arguments and the call to the HTTP request that leaves (contract,
 * Tool endpoints 1-5; Arguments of a tool run). Sans-I/O: everything lives in the arena.
 * Thread: any. */
#pragma once

#include <stddef.h>

#include "base/attr.h"
#include "base/err.h"
#include "net/http_header.h"
#include "tool/run.h"

struct arena;

struct tool_request {
    const char *method;
    const char *url;
    struct http_header *headers;
    size_t header_count;
    const char *body; /* NULL: none */
    size_t body_len;
};

/* What is sent for each param, as a JSON object for people to read: long values are cut. */
const char *tool_request_arguments(struct arena *arena, const struct tool_run_input *input);

/* ERR_INVALID: a header's value holds CR or LF, its name is none or reserved, or an argument would
 * change the segments of the URL's path. ERR_LIMIT: the URL or the body
 * is too long. The fault's sentence holds no secret. */
enum err tool_request_make(struct arena *arena, const struct tool_run_input *input,
                           struct tool_request *out, struct fault *fault) MUST_USE;
