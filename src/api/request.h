/* One request, from its head to its answer. It is divided by who fills each part; the others read
 * it:
 *
 *   head, who     api.c: what the head told, who asks
 *   body, job     run.c: the body while a job runs, what runs next
 *   answer        the handler; send.c gives it to the client
 *   pieces        pieces.c: of an answer that may be long
 *   urls          urls.c: what is known of the URLs of the body
 *   once          idempotency.c: its Idempotency-Key
 *
 * A handler is straight-line code: it reads the body, asks the store, and leaves one outcome (enum
 * step). It makes all its checks before its first write where it can; what it wrote before it
 * refuses is undone. It may run again from its start (a deadlock, a name that must be resolved
 * first): it changes nothing outside of the job, and sets anew what it leaves in the request.
 *
 * Thread: a store thread inside the request's job, else the control loop. Never both at once. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "api/admission.h"
#include "api/answer.h"
#include "api/api.h"
#include "api/limit.h"
#include "api/pieces.h"
#include "api/route.h"
#include "base/crypto.h"
#include "base/loop.h"
#include "model/catalog.h"
#include "model/workspace.h"
#include "net/addr.h"
#include "store/store.h"

struct js;
struct stream;

/* What a handler leaves. */
enum step {
    STEP_NONE,     /* nothing: a fault of ours, answered with 500 */
    STEP_ANSWERED, /* the answer is ready */
    STEP_AFTER,    /* after(), on the control loop, once the job is committed */
    STEP_RESOLVE,  /* names of URLs must be resolved first: undone, then run from its start */
    STEP_UNDO,     /* refused: the answer is ready, what the job wrote is undone */
};

struct request_head {
    const struct http_request *http;
    const char *id;
    const struct route *route; /* NULL: nothing is at this path, or not by this method */
    const char *allow;         /* the path's methods; NULL: nothing is there */
    bool is_for_pages;
    char params[ROUTE_PARAMS_MAX][64];
    int64_t begun_us;
};

struct request_who {
    struct net_addr client;
    struct admitted admitted; /* what it holds of what is shared */
    struct principal principal;
    bool is_known; /* its key was found */
    struct limit_state limit;
    const char *allow_origin; /* of the page that may read the answer (CORS); NULL: none */
};

struct request_body {
    bool is_upload;       /* a file: http->body_fd, of http->body_len bytes */
    struct js *json;      /* while a job runs, or parsed ahead of it */
    int64_t ahead_bytes;  /* that it holds of api->ahead_bytes */
    char sha[SHA256_HEX]; /* "" until idempotency.c needs it */
};

struct request_job {
    struct tx *tx; /* while it runs */
    handler_fn *run;
    handler_fn *show; /* run_show(): makes the answer of one that wrote */
    enum step step;
    handler_fn *after;
    void *state;   /* the handler's own, in the request's arena, for after() and show() */
    bool is_first; /* none was committed yet */
};

/* What is known about a URL of the body. */
enum url_state { URL_UNKNOWN, URL_ALLOWED, URL_DENIED };
struct checked_url {
    const char *url;
    enum url_state state;
};
struct request_urls {
    struct checked_url *items; /* of URLS_MAX; NULL until one is a name */
    size_t count, waiting;
};

struct request_once {
    const char *key;   /* NULL: no Idempotency-Key was sent */
    const char *shown; /* "<kind> <id>" of what the answer shows, to show it again when it is too
                          long to be kept */
    bool is_reserved;  /* the key is taken, and that is committed */
    bool is_settled;   /* the answer is kept, or the key free again, in the job that runs */
    bool is_noted;     /* `shown` is kept: the effect is never had twice */
    bool is_replay;
};

struct request {
    struct api *api;
    const struct api_deps *deps;
    struct http_exchange *exchange;
    struct arena *arena; /* lives until the answer is sent */
    struct request_head head;
    struct request_who who;
    struct request_body body;
    struct request_job job;
    struct answer answer;
    struct pieces pieces;
    struct request_urls urls;
    struct request_once once;
    struct stream *stream; /* NULL: the answer has an end of its own */
    struct timer deadline;
    _Atomic bool is_late; /* told 503; set by the control loop, read by jobs too */
};

/* its life, for api.c and send.c */

struct request *request_new(struct api *api, struct http_exchange *exchange);
void request_free(struct request *request); /* its exchange is gone */
/* A job in the line of the request's workspace; `done` on the control loop. */
enum err request_store_job(struct request *request, enum store_mode mode, store_fn *fn,
                           store_done_fn *done) MUST_USE;

/* What was sent. */

const char *request_header(const struct request *request, const char *name);
/* The body as a tree: an object, or whatever was sent. */
const struct js *request_json(const struct request *request);
void request_context(struct request *request, struct field_context *out);
/* Reads the query by the route's table; false: answered. */
bool request_query(struct request *request, void *out);

/* Who asks. */

const char *request_workspace(const struct request *request);
/* NULL, or the only agent that the key may see. */
const char *request_own_agent(const struct request *request);

/* Outcomes. */

/* By the route's table and status; views beside those of the route. */
void request_answer(struct request *request, const void *object, unsigned views);
unsigned request_answer_views(const struct request *request);
/* An answer that is no JSON by a table: the handler appends to request->answer.body. */
void request_answer_as(struct request *request, int status, const char *content_type);
/* An answer in pieces (pieces.h): calls more() for the first one. place: of len bytes, in the
 * request's arena. */
void request_answer_pieces(struct request *request, more_fn *more, void *place, size_t len);
bool request_piece_is_full(const struct request *request);
/* It cannot be finished: an error before the first piece was sent, later the connection is cut. */
void request_break_pieces(struct request *request);
/* Refusals. sentence: NULL for the table's own. */
void request_error(struct request *request, enum api_error error);
void request_error_says(struct request *request, enum api_error error, const char *sentence);
void request_fault(struct request *request, const char *field, const char *message);
/* Goes on with fn on the control loop after the commit; fn ends with run_job() or run_finish(). */
void request_after(struct request *request, handler_fn *fn);

/* Are there no faults? false: answered with 403 or 400 and all of them. */
bool request_is_valid(struct request *request, const struct field_context *context);
/* Is it there? false: answered with 404, or 500. */
bool request_found(struct request *request, enum err err);
/* The version of what was changed last at that time, as ETag and If-Match have it. */
const char *request_tag(struct request *request, int64_t updated_wall_ms);
/* Is it still as who writes has read it (If-Match)? false: answered with 412. */
bool request_is_as_read(struct request *request, int64_t updated_wall_ms);
/* Does the workspace hold no more than it may, now that the job has written? grown: bits of what it
 * has added to (store/ceiling.h). false: answered. */
bool request_fits(struct request *request, unsigned grown);
