#include "event/attempt.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "event/sign.h"
#include "net/http_client.h"

enum {
    ANSWER_MAX_BYTES = 64 * 1024, /* read and thrown away, so that the connection can be kept */
};

struct attempt {
    struct http_fetch *fetch;
    attempt_fn *fn;
    void *arg;
};

/* The status counts from the moment it has come: what a receiver still sends after it does not. */
static void on_answer(void *arg, const struct http_fetch_result *answer)
{
    struct attempt *attempt = arg;
    bool has_status = answer->status >= 200;
    const struct attempt_outcome outcome = {
        .is_delivered = has_status && answer->status <= 299,
        .status = has_status ? answer->status : 0,
        .latency_ms = answer->latency_us / 1000,
        .error = has_status ? NULL : answer->fault.text,
    };
    attempt->fn(attempt->arg, &outcome);
    mem_free(attempt);
}

struct attempt *attempt_start(struct http_client *client, const struct attempt_request *request,
                              attempt_fn *fn, void *arg)
{
    const struct http_fetch_fns fns = {NULL, on_answer};
    struct attempt *attempt = mem_new(struct attempt);
    char signature[SIGN_HEADER_SIZE], timestamp[24];
    int64_t now_s = clock_wall_ms() / 1000;
    size_t body_len = strlen(request->body);
    bool is_signed = request->secret && request->secret[0];
    snprintf(timestamp, sizeof(timestamp), "%lld", (long long)now_s);
    if (is_signed)
        sign_delivery(request->secret, now_s, request->body, body_len, signature);
    const struct http_header headers[] = {
        {"Content-Type", "application/json"},      {"X-Service-Event", request->type},
        {"X-Service-Delivery", request->event_id}, {"X-Service-Timestamp", timestamp},
        {"X-Service-Signature", signature},
    };
    const struct http_fetch_request fetch = {
        .method = "POST",
        .url = request->url,
        .headers = headers,
        .header_count = ARRAY_LEN(headers) - (is_signed ? 0 : 1),
        .body = request->body,
        .body_len = body_len,
        .connect_ms = request->answer_ms,
        .timeout_ms = request->answer_ms,
        .max_body_bytes = ANSWER_MAX_BYTES,
        .cut_body = true,
        .tenant = request->workspace_id,
    };
    attempt->fn = fn;
    attempt->arg = arg;
    attempt->fetch = http_fetch_start(client, &fetch, &fns, attempt);
    return attempt;
}

void attempt_cancel(struct attempt *attempt)
{
    if (!attempt)
        return;
    http_fetch_cancel(attempt->fetch);
    mem_free(attempt);
}
