/* One attempt to deliver one event: signed, posted, judged (contract, Delivery behaviour).
 * Thread: the client's loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct attempt;
struct http_client;

struct attempt_request {
    const char *workspace_id; /* whose */
    const char *url;
    const char *secret; /* NULL or "": unsigned */
    const char *event_id;
    const char *type;
    const char *body;
    int64_t answer_ms;
};

struct attempt_outcome {
    bool is_delivered; /* any 2xx came in time */
    int status;        /* 0: none came */
    int64_t latency_ms;
    const char *error; /* NULL when a status came */
};

typedef void attempt_fn(void *arg, const struct attempt_outcome *outcome);
/* All is copied. fn comes exactly once, never inside the call; the handle is gone after it. */
struct attempt *attempt_start(struct http_client *client, const struct attempt_request *request,
                              attempt_fn *fn, void *arg);
void attempt_cancel(struct attempt *attempt); /* fn comes no more */
