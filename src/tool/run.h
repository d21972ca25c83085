/* One run of a user's endpoint (contract, Tool endpoints): placeholders, arguments,
 * credentials, limits. A test by the API and a run in a call are the same code. Thread: the
 * client's loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

struct arena;
struct http_client;
struct http_header;
struct js;
struct tool;
struct tool_run;

enum {
    TOOL_TIMEOUT_MAX_MS = 30000, /* contract, Limits: cut off at 30 seconds */
    TOOL_BODY_MAX_BYTES = 1024 * 1024,
    TOOL_MODEL_TEXT_CHARS = 1800 /* what the model is shown of a response, in code points */
};

struct tool_name_value {
    const char *name;
    const char *value;
};

/* All borrowed during tool_run_start(). */
struct tool_run_input {
    const struct tool *tool;    /* with its credentials in the clear */
    const struct js *arguments; /* object: name to value, by the model or the tester; may be NULL */
    const char *call_id;        /* NULL or "": a test */
    const char *agent_id;       /* NULL: none */
    const char *workspace_id;   /* whose run it is */
    const struct tool_name_value *variables; /* of the call; they win over arguments */
    size_t variable_count;
    bool is_test; /* X-Service-Test-Call: true */
};

struct tool_result {
    bool is_success; /* the endpoint answered 2xx */
    int status;      /* the endpoint's; 504 it timed out; 502 it could not be reached */
    int64_t latency_ms;
    const char *body; /* NULL when no answer came */
    size_t body_len;
    bool is_cut; /* the endpoint's answer was longer */
    const struct http_header *headers;
    size_t header_count;
    const char *model_text; /* what the model is shown: at most 1,800 code points, cut at a
                               sensible place; credentials are stars */
    const char *error;      /* a sentence, NULL when an answer came with 2xx */
};

void tool_result_copy(struct arena *arena, const struct tool_result *from, struct tool_result *out);
/* The body, parsed when it is JSON, else as a string; NULL when no answer came. A body of 1 MiB
 * takes 50 ms, so not on a loop. Thread: worker. */
struct js *tool_result_data(const struct tool_result *result);
/* An object, names in lower case. Thread: any. */
struct js *tool_result_headers(const struct tool_result *result);

typedef void tool_done_fn(void *arg, const struct tool_result *result); /* borrowed */

/* on_done comes exactly once, never inside the call; the handle is gone after it. */
struct tool_run *tool_run_start(struct http_client *client, const struct tool_run_input *input,
                                tool_done_fn *on_done, void *arg);
void tool_run_cancel(struct tool_run *run); /* no callback comes any more */
