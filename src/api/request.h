/* One request from its head to its answer. The checks stand in the order of the contract:
 *
 *   api_on_request: preflight -> key (401) -> rate (429) -> path (404, 405) -> scope and userId
 * (403)
 *     -> 413, 415                                                               control loop
 *   job: JSON -> idempotency -> handler                                         store thread
 *   done: answer, or request->after (network, calls), or another job            control loop
 *
 * A handler is straight-line code: it reads the body, asks the store, and leaves an answer. What
 * must wait for something else sets `after`; that runs on the control loop after the commit and
 * goes on with request_job() or request_finish(). A handler makes all its checks before its first
 * write: an answer of 4xx or 5xx leaves nothing behind. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "api/answer.h"
#include "api/api.h"
#include "api/limit.h"
#include "api/router.h"
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
enum { REQUEST_URLS_MAX = 128, REQUEST_ID_MAX = 128 };

struct request {
    struct api *api;
    const struct api_deps *deps;
    struct http_exchange *exchange;
    const struct http_request *http; /* read by both threads, changed by none */
    struct arena *arena;             /* lives until the answer */
    const struct route *route;
    char params[ROUTE_PARAMS_MAX][64];
    char id[REQUEST_ID_MAX + 1];
    char address[NET_IP_SIZE]; /* the client's */
    struct principal principal;
    bool has_principal;
    struct limit_state limit;
    int64_t started_us;

    struct js *body;
    bool is_upload;   /* the body is a file: in `file` inside the job */
    const char *file; /* in the request's arena, NUL behind it */
    size_t file_len;
    struct answer answer;

    struct tx *tx;     /* inside a job */
    handler_fn *step;  /* what the job runs */
    handler_fn *after; /* after its commit, on the control loop; NULL: the answer is ready */
    void *state;       /* the handler's own, in the request's arena */
    bool is_undone;    /* the job rolled back on purpose */

    struct checked_url *urls;
    size_t url_count, url_waiting;

    const char *idempotency_key; /* NULL: none was sent */
    bool is_first_job, is_reserved, is_settled;

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
/* NULL, or the only agent that the key may see. */
const char *request_own_agent(const struct request *request);
static inline unsigned request_views(const struct request *request)
{
    return request->principal.kind == KEY_AGENT ? FIELD_VIEW_AGENT : 0;
}
const char *request_header(const struct request *request, const char *name);

/* ---- on the control loop ---- */

/* Runs step in a job; then request->after or the answer. */
void request_job(struct request *request, enum store_mode mode, handler_fn *step);
/* The answer is ready: keeps it for its Idempotency-Key, and sends it. */
void request_finish(struct request *request);

/* ---- request.c for api.c ---- */
struct request *request_new(struct api *api, struct http_exchange *exchange);
void request_start(struct request *request); /* from the scope checks on */
void request_send(struct request *request);  /* the request is gone */
