/* One request from its head to its answer. The checks stand in the order of the contract, and all
 * that the head can tell is told before a byte of the body is read:
 *
 *   api_on_head: preflight -> place -> key (401) -> rate (429) -> path (404, 405) -> scope and
 *     userId (403) -> 413, 415 -> the body may come                             control loop
 *   api_on_request: job                                                         control loop
 *   job: JSON -> idempotency -> handler                                         store thread
 *   done: answer, or request->after (network, calls), or another job            control loop
 *
 * A request that has no answer at its deadline is answered 503. What it has under way goes on to
 * its end, which nobody hears but its Idempotency-Key; the request is freed only then.
 *
 * A handler is straight-line code: it reads the body, asks the store, and leaves an answer. What
 * must wait for something else sets `after`; that runs on the control loop after the commit and
 * goes on with request_job() or request_finish(). A handler makes all its checks before its first
 * write: an answer of 4xx or 5xx leaves nothing behind. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "api/admission.h"
#include "api/answer.h"
#include "api/api.h"
#include "api/limit.h"
#include "api/pieces.h"
#include "api/router.h"
#include "base/crypto.h"
#include "base/loop.h"
#include "model/catalog.h"
#include "model/workspace.h"
#include "net/addr.h"
#include "store/store.h"

struct js;

/* What is known about a URL of the body. */
enum url_state { URL_UNKNOWN, URL_ALLOWED, URL_DENIED };
struct checked_url {
    const char *url;
    enum url_state state;
};
enum { REQUEST_URLS_MAX = 128 };

struct request {
    struct api *api;
    const struct api_deps *deps;
    struct http_exchange *exchange;
    const struct http_request *http; /* read by both threads, changed by none */
    struct arena *arena;             /* lives until the answer */
    const struct route *route;
    char params[ROUTE_PARAMS_MAX][64];
    const char *id;
    struct net_addr client;
    struct admitted admitted; /* what it holds of what is shared */
    struct principal principal;
    bool has_principal;
    struct limit_state limit;
    int64_t started_us;

    struct js *body;
    char body_sha[SHA256_HEX]; /* "" until a job needs it */
    bool is_upload;            /* the body is a file: http->body_fd, of http->body_len bytes */
    struct answer answer;
    struct pieces pieces; /* of an answer that may be long */

    struct timer deadline;
    _Atomic bool is_late; /* told 503; set by the control loop, read by jobs too */

    struct tx *tx;     /* inside a job */
    handler_fn *step;  /* what the job runs */
    handler_fn *show;  /* makes the answer of one that wrote */
    handler_fn *after; /* after its commit, on the control loop; NULL: the answer is ready */
    void *state;       /* the handler's own, in the request's arena */
    bool is_undone;    /* the job rolled back on purpose */

    struct checked_url *urls;
    size_t url_count, url_waiting;

    const char *idempotency_key; /* NULL: none was sent */
    const char *shown; /* what the answer shows, to show it again when it is too long to be kept */
    bool is_first_job, is_reserved, is_settled, is_replay;
    bool is_noted; /* what it shows is kept: its effect is never had twice */

    bool is_origin_known; /* CORS of the publishable key is decided */
};

/* ---- for handlers ---- */

/* The body as a tree: an object, or whatever was sent. */
const struct js *request_body(struct request *request);
void request_context(struct request *request, struct field_context *out);
/* Reads the query by the route's table; false: answered. */
bool request_query(struct request *request, void *out);
/* Are there no faults? false: answered with 403 or 400 and all of them. */
bool request_is_valid(struct request *request, const struct field_context *context);
/* Is it there? false: answered with 404, or 500. */
bool request_found(struct request *request, enum err err);
/* Are all these URLs public? false: answered, or the names must be resolved first: return, the
 * handler runs again from its start. */
bool request_urls_allowed(struct request *request, const char *const *urls, size_t count);
void request_error(struct request *request, enum api_error error);
void request_fault(struct request *request, const char *field, const char *message);
/* By the route's table and status; views beside those of the route. */
void request_answer(struct request *request, const void *object, unsigned views);
unsigned request_answer_views(const struct request *request);
/* Does the workspace hold no more than it may, now that the job has written? grown: bits of what it
 * has added to (store/ceiling.h). false: answered. */
bool request_fits(struct request *request, unsigned grown);
/* NULL, or the only agent that the key may see. */
const char *request_own_agent(const struct request *request);
static inline unsigned request_views(const struct request *request)
{
    return request->principal.kind == KEY_AGENT ? FIELD_VIEW_AGENT : 0;
}
const char *request_header(const struct request *request, const char *name);
/* In a job that has written: its answer is made by `step` in a reading one, so that writers do not
 * wait for it. request->shown is set before where it may be too long to be kept. */
void request_show(struct request *request, handler_fn *step);

/* ---- on the control loop ---- */

/* Runs step in a job; then request->after or the answer. */
void request_job(struct request *request, enum store_mode mode, handler_fn *step);
/* The answer is ready: keeps it for its Idempotency-Key, and sends it. */
void request_finish(struct request *request);

/* ---- request.c for api.c ---- */
struct request *request_new(struct api *api, struct http_exchange *exchange);
void request_want_body(struct request *request, const struct http_body_choice *choice);
void request_start(struct request *request); /* from the scope checks on */
void request_send(struct request *request);  /* the request is gone */
/* A job of the request's workspace; done on the control loop. */
enum err request_store_job(struct request *request, enum store_mode mode, store_fn *fn,
                           store_done_fn *done) MUST_USE;
void request_free(struct request *request);       /* its exchange is gone */
void request_show_again(struct request *request); /* request->shown, as it is now */
void request_refuse_share(struct request *request, enum admission_share share);

/* ---- idempotency.c for request.c: inside a job ---- */
/* false: answered, by the kept answer or by a refusal. */
bool idempotency_reserve(struct request *request);
bool idempotency_keeps(int status);
/* In the job that made the answer, or in one of its own: keeps it or gives the key free. What was
 * done and may be too long is kept by what it shows, from the job on that did it. */
enum err idempotency_settle(struct request *request) MUST_USE;
