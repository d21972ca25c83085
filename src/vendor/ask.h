/* One HTTP request to a vendor at a time: it waits for its place in the engine's lane
 * (vendor/lane.h), is sent, streams its answer, and ends with a class of failure, a sentence
 * without secrets, and what the vendor said of another try. It never tries again by itself: that
 * is the conversation's decision (talk/), which also knows whether another engine is there.
 *
 *   ask_send -> [lane] -> fetch -> on_data ... -> on_done
 *
 * Thread: the call's loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/loop.h"
#include "engine/engine.h"
#include "vendor/lane.h"

struct account;
struct http_client;
struct http_fetch;
struct http_header;

enum { ASK_MESSAGE_SIZE = 512, ASK_HEADERS_MAX = 6 };

/* retry_us of an answer: after this pause another try may help; ENGINE_NO_RETRY: it will not. */
struct ask_answer {
    enum engine_error error;
    const char *message; /* without secrets; "" when error is ENGINE_OK */
    int64_t retry_us;
    int status;       /* 0: none came */
    const char *body; /* what on_data has not taken; NUL after it */
    size_t body_len;
};

struct ask_fns {
    /* A piece of a 2xx answer; non-zero: no more is wanted, and on_done follows. NULL: the body is
     * collected. */
    int (*on_data)(void *arg, const char *data, size_t len);
    void (*on_done)(void *arg, const struct ask_answer *answer); /* once, never inside ask_send() */
};

struct ask_request {
    const char *path;           /* after the account's URL: "/chat/completions" */
    const char *const *headers; /* pairs of name and value up to NULL; borrowed until on_done */
    const char *content_type;   /* lives until on_done */
    size_t max_answer_bytes;
    int64_t stall_ms, total_ms; /* without a byte; for all of it */
};

struct ask {
    const struct account *account;
    struct loop *loop;
    struct http_client *http; /* NULL: no network on this loop */
    struct lane *lane;
    struct lane_seat seat;
    char *workspace;
    const struct ask_fns *fns;
    void *arg;
    struct ask_request request;
    struct buf body;
    struct http_fetch *fetch, *warming;
    struct timer refusing; /* tells a refusal from the loop */
    enum engine_error refusal_error;
    const char *refusal;
};

/* account and fns are borrowed. workspace: copied; NULL: the service's own. */
void ask_init(struct ask *ask, const struct account *account, struct loop *loop,
              const char *workspace, const struct ask_fns *fns, void *arg);
void ask_clear(struct ask *ask); /* cancels */
/* body: its bytes are taken, it is empty afterwards. Cancels what was under way. */
void ask_send(struct ask *ask, const struct ask_request *request, struct buf *body);
/* Cancelling closes the connection. No callback comes any more. True: a request was sent. */
bool ask_cancel(struct ask *ask);
/* Opens a connection that the next request finds: a HEAD, whose answer does not matter. headers: as
 * those of a request. Nothing is done where requests wait for their place. */
void ask_warm(struct ask *ask, const char *const *headers);
bool ask_is_under_way(const struct ask *ask);

/* The class of a fault below HTTP. */
enum engine_error ask_error_of_fault(enum err err);
/* Copies a vendor's sentence as valid UTF-8, its secrets masked. */
void ask_clean(const struct account *account, const char *text, char out[ASK_MESSAGE_SIZE]);
