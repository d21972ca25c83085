#include "api/run.h"

#include <stdio.h>
#include <string.h>

#include "api/idempotency.h"
#include "api/internal.h"
#include "api/request.h"
#include "api/send.h"
#include "api/urls.h"
#include "base/js.h"
#include "base/log.h"
#include "store/tx.h"

enum {
    JSON_DEPTH_MAX = 64,        /* contract, JSON bodies */
    AHEAD_FROM_BYTES = 4096,    /* a shorter body takes less to parse than a job of its own */
    AHEAD_MAX_BYTES = 16 << 20, /* of all; what is parsed takes some ten times as much */
};

/* What a job returns that is undone on purpose. Any error undoes it; job.step says why. */
static const enum err undone = ERR_CONFLICT;

/* The body. */

static bool parse_body(struct request *request)
{
    const struct http_request *http = request->head.http;
    enum route_body form = request->head.route->body;
    if (request->body.is_upload || request->body.json)
        return true;
    if (form == ROUTE_NO_BODY || (form == ROUTE_JSON_OPTIONAL && http->body_len == 0)) {
        request->body.json = js_object();
        return true;
    }
    struct fault fault = {0};
    if (js_parse(http->body ? http->body : "", http->body_len, JSON_DEPTH_MAX, &request->body.json,
                 &fault) == OK)
        return true;
    request_error_says(request, API_INVALID_JSON,
                       arena_printf(request->arena, "The body is not valid JSON: %s", fault.text));
    return false;
}

/* What was parsed is many times the body: it lives only while a job runs, of which few do. */
static void forget_body(struct request_body *body)
{
    js_free(body->json);
    body->json = NULL;
}

/* The job. */

static void run_handler(struct request *request)
{
    request->job.run(request);
    if (request->job.step != STEP_NONE)
        return;
    log_error("http.no_outcome", LOG_S("request", request->head.id),
              LOG_S("operation", request->head.route->operation));
    request_error(request, API_INTERNAL_ERROR);
}

static bool is_undone(const struct request *request)
{
    return request->job.step == STEP_UNDO || request->job.step == STEP_RESOLVE;
}

static enum err run_within(struct tx *tx, void *arg)
{
    struct request *request = arg;
    (void)tx;
    run_handler(request);
    return is_undone(request) ? undone : OK;
}

/* In a savepoint of its own: the job is committed even when the handler refuses. */
static void run_apart(struct request *request)
{
    struct fault why;
    enum err err = tx_try(request->job.tx, run_within, request, &why);
    if (err && !(err == undone && is_undone(request)))
        request_error(request, API_INTERNAL_ERROR);
}

static void give_again(struct request *request);
static void run_again(struct request *request);

/* false: the key's first answer is given again, or refused. */
static bool may_run(struct request *request)
{
    if (!request->job.is_first)
        return true;
    switch (idempotency_reserve(request)) {
    case IDEMPOTENCY_NEW:
        return true;
    case IDEMPOTENCY_KEPT:
        request_after(request, give_again);
        return false;
    case IDEMPOTENCY_ANSWERED:
        break;
    }
    return false;
}

static enum store_mode route_mode(const struct request *request)
{
    return request->head.route->store == ROUTE_WRITE ? STORE_WRITE : STORE_READ;
}

/* An Idempotency-Key is reserved by the first job, which writes it. */
static bool reserves(const struct request *request)
{
    return request->job.is_first && idempotency_is_asked(request);
}

/* Its key was reserved, which writes: what only reads does so apart from who writes. */
static bool reads_apart(const struct request *request)
{
    return request->once.key && request->job.is_first && route_mode(request) == STORE_READ;
}

/* What of this job is for the Idempotency-Key, when it has one. */
static enum err settle(struct request *request)
{
    struct request_once *once = &request->once;
    if (request->job.step == STEP_AFTER)
        return once->shown ? idempotency_settle(request) : OK;
    if (request->job.step == STEP_RESOLVE)
        return undone;
    if (request->job.is_first && !idempotency_keeps(request->answer.status))
        return is_undone(request) ? undone : OK;
    once->is_settled = true;
    return idempotency_settle(request);
}

static enum err run_whole(struct request *request)
{
    if (!parse_body(request) || !may_run(request))
        return is_undone(request) ? undone : OK;
    if (reads_apart(request)) {
        request_after(request, run_again);
        return OK;
    }
    if (request->once.key && request->job.tx->is_write) {
        run_apart(request);
        return settle(request);
    }
    run_handler(request);
    return is_undone(request) ? undone : OK;
}

/* It may run again from here: nothing of an attempt before counts. */
static enum err job(struct tx *tx, void *arg)
{
    struct request *request = arg;
    struct request_job *work = &request->job;
    if (work->is_first && request->is_late)
        return ERR_CLOSED; /* told 503: so it does nothing */
    log_scope(NULL, request->head.id);
    work->tx = tx;
    work->step = STEP_NONE;
    request->once.is_settled = false;
    answer_reset(&request->answer);
    pieces_clear(&request->pieces);
    enum err err = run_whole(request);
    forget_body(&request->body);
    work->tx = NULL;
    log_scope(NULL, NULL);
    return err;
}

/* The store's own failure: nothing of the job is left. */
static void fail(struct request *request, enum err err)
{
    bool is_store = store_is_transient(err) || err == ERR_TIMEOUT || err == ERR_LIMIT;
    request_error(request, is_store ? API_UNAVAILABLE : API_INTERNAL_ERROR);
    request->once.is_settled = false;
    run_finish(request);
}

static void give_back_ahead(struct request *request)
{
    request->api->ahead_bytes -= request->body.ahead_bytes;
    request->body.ahead_bytes = 0;
}

static void on_job_done(void *arg, enum err err)
{
    struct request *request = arg;
    give_back_ahead(request);
    if (err && !(err == undone && is_undone(request))) {
        fail(request, err);
        return;
    }
    if (!err) {
        request->once.is_reserved = request->once.key != NULL;
        request->job.is_first = false;
    }
    if (request->job.step == STEP_AFTER)
        request->job.after(request);
    else if (request->job.step == STEP_RESOLVE && !request->is_late)
        urls_resolve(request, run_again);
    else
        run_finish(request);
}

void run_job(struct request *request, enum store_mode mode, handler_fn *handler)
{
    request->job.run = handler;
    if (request_store_job(request, reserves(request) ? STORE_WRITE : mode, job, on_job_done) == OK)
        return;
    request_error(request, API_UNAVAILABLE);
    run_finish(request);
}

static void run_again(struct request *request)
{
    run_job(request, route_mode(request), request->job.run);
}

/* A body that is parsed ahead.
 *
 * On SQLite writers run one by one, so a long body is parsed by a reading job before its writing
 * one. What is parsed waits in memory meanwhile: over a ceiling it is parsed where it is used. On
 * PostgreSQL a body that is parsed holds nobody up. */

static enum err parse_job(struct tx *tx, void *arg)
{
    struct request *request = arg;
    (void)tx;
    forget_body(&request->body); /* of an attempt before */
    request->job.step = STEP_NONE;
    if (request->is_late)
        return ERR_CLOSED;
    return parse_body(request) ? OK : undone;
}

static void on_parsed(void *arg, enum err err)
{
    struct request *request = arg;
    if (!err)
        run_job(request, route_mode(request), request->head.route->handle);
    else if (err == undone && is_undone(request))
        run_finish(request);
    else
        fail(request, err);
}

static bool parse_ahead(struct request *request)
{
    const struct http_request *http = request->head.http;
    int64_t len = (int64_t)http->body_len;
    bool is_written = route_mode(request) == STORE_WRITE || reserves(request);
    if (store_is_postgres(request->deps->store) || !is_written || request->body.is_upload ||
        request->head.route->body == ROUTE_NO_BODY || len < AHEAD_FROM_BYTES ||
        request->api->ahead_bytes + len > AHEAD_MAX_BYTES ||
        request_store_job(request, STORE_READ, parse_job, on_parsed) != OK)
        return false;
    request->body.ahead_bytes = len;
    request->api->ahead_bytes += len;
    return true;
}

/* Answers that are made after the commit. */

static void run_shower(struct request *request)
{
    run_job(request, STORE_READ, request->job.show);
}

void run_show(struct request *request, handler_fn *handler)
{
    request->job.show = handler;
    request_after(request, run_shower);
}

/* The answer was too long to be kept: what it showed is shown as it is now. */
static void show_again(struct request *request)
{
    const char *id = strchr(request->once.shown, ' ');
    handler_fn *show = request->head.route->show;
    request->job.is_first = false; /* nothing is reserved */
    if (!show || !id) {
        request_error(request, API_INTERNAL_ERROR);
        run_finish(request);
        return;
    }
    snprintf(request->head.params[0], sizeof(request->head.params[0]), "%s", id + 1);
    run_job(request, STORE_READ, show);
}

static void replay(struct request *request)
{
    if (!idempotency_replay(request))
        request_after(request, show_again);
}

/* By who reads: an answer may be as long as an endpoint's that was tested. */
static void give_again(struct request *request)
{
    run_job(request, STORE_READ, replay);
}

/* The end. */

static enum err settle_job(struct tx *tx, void *arg)
{
    struct request *request = arg;
    request->job.tx = tx;
    enum err err = idempotency_settle(request);
    request->job.tx = NULL;
    return err;
}

static void on_settled(void *arg, enum err err)
{
    struct request *request = arg;
    if (err)
        log_warn("http.idempotency", LOG_S("request", request->head.id),
                 LOG_S("error", err_name(err)));
    send_answer(request);
}

void run_finish(struct request *request)
{
    struct request_once *once = &request->once;
    if (once->is_reserved && !once->is_settled) {
        once->is_settled = true;
        if (request_store_job(request, STORE_WRITE, settle_job, on_settled) == OK)
            return;
    }
    send_answer(request);
}

void run_start(struct request *request)
{
    const struct route *route = request->head.route;
    timer_set_after(&request->deadline,
                    route->deadline_s ? route->deadline_s * INT64_C(1000000) : RUN_ANSWER_US);
    if (route->store != ROUTE_LOOP) {
        if (!parse_ahead(request))
            run_job(request, route_mode(request), route->handle);
        return;
    }
    request->job.run = route->handle;
    run_handler(request);
    run_finish(request);
}
