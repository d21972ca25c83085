#include "api/send.h"

#include <inttypes.h>
#include <stdio.h>

#include "api/request.h"
#include "api/stream.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"

static void add_number(struct answer *answer, struct arena *arena, const char *name, int64_t value)
{
    answer_header(answer, name, arena_printf(arena, "%" PRId64, value));
}

static void add_limit(const struct limit_state *limit, struct answer *answer, struct arena *arena)
{
    add_number(answer, arena, "RateLimit-Limit", limit->per_minute);
    add_number(answer, arena, "RateLimit-Remaining", limit->remaining);
    add_number(answer, arena, "RateLimit-Reset", limit->reset_s);
}

static void add_origin(const char *origin, struct answer *answer)
{
    answer_header(answer, "Access-Control-Allow-Origin", origin);
    answer_header(answer, "Access-Control-Expose-Headers",
                  "X-Request-Id, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, "
                  "Retry-After");
    answer_header(answer, "Vary", "Origin");
}

static void add_headers(const struct request *request, struct answer *answer, struct arena *arena)
{
    const struct request_who *who = &request->who;
    answer_header(answer, "Content-Type", answer->content_type);
    answer_header(answer, "Cache-Control", "no-store");
    answer_header(answer, "X-Content-Type-Options", "nosniff");
    answer_header(answer, "Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
    answer_header(answer, "Referrer-Policy", "no-referrer");
    if (answer->status == 401)
        answer_header(answer, "WWW-Authenticate", "Bearer");
    if (answer->status == 503 && !answer_has_header(answer, "Retry-After"))
        answer_header(answer, "Retry-After", "5");
    if (who->is_known && who->limit.per_minute)
        add_limit(&who->limit, answer, arena);
    if (who->allow_origin)
        add_origin(who->allow_origin, answer);
}

static void count(const struct request_head *head, int answer_status)
{
    char status[8];
    snprintf(status, sizeof(status), "%d", answer_status);
    metric_add_label(METRIC_HTTP_REQUESTS, status, 1);
    const char *operation = head->route ? head->route->operation : "none";
    int64_t took_us = clock_now_us() - head->begun_us;
    metric_observe_label_us(METRIC_HTTP_SECONDS, operation, took_us);
    if (answer_status >= 500)
        log_warn("http.answer", LOG_S("request", head->id), LOG_S("operation", operation),
                 LOG_I("status", answer_status), LOG_I("us", took_us));
    else
        log_debug("http.answer", LOG_S("request", head->id), LOG_S("operation", operation),
                  LOG_I("status", answer_status), LOG_I("us", took_us));
}

static struct http_answer to_send(struct answer *answer)
{
    size_t len = answer->body.len;
    return (struct http_answer){
        .status = answer->status,
        .headers = answer->headers,
        .header_count = answer->header_count,
        .body_len = len,
        .take_body = len ? buf_take(&answer->body, &len) : NULL,
    };
}

/* Piece after piece. */

static enum err piece_job(struct tx *tx, void *arg)
{
    struct request *request = arg;
    log_scope(NULL, request->head.id);
    request->job.tx = tx;
    pieces_restore(&request->pieces);
    buf_reset(&request->answer.body);
    request->pieces.more(request);
    request->job.tx = NULL;
    log_scope(NULL, NULL);
    return OK;
}

static void cut(struct request *request, const char *reason)
{
    log_warn("http.cut", LOG_S("request", request->head.id), LOG_S("reason", reason),
             LOG_S("operation", request->head.route->operation));
    http_answer_cut(request->exchange);
    request_free(request);
}

void send_end(struct request *request)
{
    http_answer_end(request->exchange, "", 0);
    request_free(request);
}

static void on_piece_made(void *arg, enum err err)
{
    struct request *request = arg;
    struct pieces *pieces = &request->pieces;
    const struct buf *body = &request->answer.body;
    if (err || pieces->is_broken || body->is_full) {
        cut(request, err ? err_name(err) : "the rest cannot be read");
        return;
    }
    pieces_settle(pieces);
    if (request->stream && !pieces->is_whole && !stream_fill(request->stream))
        return;
    const char *data = body->data ? body->data : "";
    if (!pieces->is_whole) {
        http_answer_piece(request->exchange, data, body->len);
        buf_clear(&request->answer.body);
        return;
    }
    http_answer_end(request->exchange, data, body->len);
    request_free(request);
}

void send_piece(struct request *request)
{
    enum err err = request_store_job(request, STORE_READ, piece_job, on_piece_made);
    if (err)
        cut(request, err_name(err));
}

static void on_wanted(void *arg)
{
    struct request *request = arg;
    if (request->stream)
        stream_wait(request->stream);
    else
        send_piece(request);
}

static void on_gone(void *arg)
{
    request_free(arg);
}

/* Sends head and first piece; the request lives on until the last one. */
static void send_pieces(struct request *request, const struct http_answer *answer)
{
    static const struct http_pieces_fns fns = {on_wanted, on_gone};
    timer_stop(&request->deadline);
    pieces_settle(&request->pieces);
    if (!http_answer_begin(request->exchange, answer, &fns, request))
        request_free(request);
}

/* The whole. */

void send_answer(struct request *request)
{
    struct http_answer out = {0}; /* nobody hears it any more */
    if (!request->is_late) {
        if (request->once.is_replay) /* which a job tells: of no answer that does not wait for it */
            answer_header(&request->answer, "Idempotent-Replayed", "true");
        add_headers(request, &request->answer, request->arena);
        count(&request->head, request->answer.status);
        out = to_send(&request->answer);
        if (pieces_has_more(&request->pieces)) {
            send_pieces(request, &out);
            return;
        }
    }
    http_answer(request->exchange, &out);
    request_free(request);
}

/* A job may be at work with the request's arena and answer: this answer has its own. */
void send_late(void *arg)
{
    struct request *request = arg;
    AUTO(arena) arena = arena_new(0);
    struct answer answer;
    request->is_late = true;
    answer_init(&answer, arena);
    answer_error(&answer, API_UNAVAILABLE, NULL, NULL);
    add_headers(request, &answer, arena);
    count(&request->head, answer.status);
    struct http_answer out = to_send(&answer);
    http_answer_early(request->exchange, &out);
}
