/* Answers in pieces: the jobs behind the first one. */
#include "api/pieces.h"

#include <string.h>

#include "api/request.h"
#include "base/log.h"
#include "base/mem.h"

void pieces_begin(struct request *request, void (*more)(struct request *request), void *place,
                  size_t len)
{
    struct pieces *pieces = &request->pieces;
    pieces_clear(request); /* of an attempt of the same job */
    *pieces = (struct pieces){.more = more, .place = place, .place_len = len};
    pieces->saved = arena_alloc(request->arena, len);
    request->answer.status = request->route->status;
    more(request);
}

bool pieces_are_enough(const struct request *request)
{
    return request->answer.body.len >= PIECE_BYTES;
}

struct arena *pieces_keep(struct request *request)
{
    struct pieces *pieces = &request->pieces;
    if (pieces->kept != pieces->kept_saved)
        arena_free(pieces->kept);
    return pieces->kept = arena_new(0);
}

void pieces_end(struct request *request)
{
    request->pieces.is_whole = true;
}

void pieces_fail(struct request *request)
{
    request->pieces.is_broken = true;
    request->pieces.is_whole = true;
    request_error(request, API_INTERNAL_ERROR);
}

void pieces_clear(struct request *request)
{
    struct pieces *pieces = &request->pieces;
    if (pieces->kept != pieces->kept_saved)
        arena_free(pieces->kept_saved);
    arena_free(pieces->kept);
    *pieces = (struct pieces){0};
}

/* ---- piece after piece ---- */

/* What this piece has left is where the next one begins. */
static void settle_place(struct pieces *pieces)
{
    memcpy(pieces->saved, pieces->place, pieces->place_len);
    if (pieces->kept != pieces->kept_saved)
        arena_free(pieces->kept_saved);
    pieces->kept_saved = pieces->kept;
}

/* A job may run again from its start (PostgreSQL). */
static void restore_place(struct pieces *pieces)
{
    memcpy(pieces->place, pieces->saved, pieces->place_len);
    if (pieces->kept != pieces->kept_saved)
        arena_free(pieces->kept);
    pieces->kept = pieces->kept_saved;
    pieces->is_whole = pieces->is_broken = false;
}

static enum err piece_job(struct tx *tx, void *arg)
{
    struct request *request = arg;
    log_scope(NULL, request->id);
    request->tx = tx;
    restore_place(&request->pieces);
    buf_reset(&request->answer.body);
    request->pieces.more(request);
    request->tx = NULL;
    log_scope(NULL, NULL);
    return OK;
}

static void cut(struct request *request, const char *reason)
{
    log_warn("http.cut", LOG_S("request", request->id), LOG_S("reason", reason),
             LOG_S("operation", request->route->operation));
    http_answer_cut(request->exchange);
    request_free(request);
}

static void piece_done(void *arg, enum err err)
{
    struct request *request = arg;
    struct pieces *pieces = &request->pieces;
    const struct buf *body = &request->answer.body;
    if (err || pieces->is_broken || body->is_full) {
        cut(request, err ? err_name(err) : "the rest cannot be read");
        return;
    }
    settle_place(pieces);
    const char *data = body->data ? body->data : "";
    if (!pieces->is_whole) {
        http_answer_piece(request->exchange, data, body->len);
        buf_clear(&request->answer.body);
        return;
    }
    http_answer_end(request->exchange, data, body->len);
    request_free(request);
}

static void on_wanted(void *arg)
{
    struct request *request = arg;
    enum err err = request_store_job(request, STORE_READ, piece_job, piece_done);
    if (err)
        cut(request, err_name(err));
}

static void on_gone(void *arg)
{
    request_free(arg);
}

void pieces_send(struct request *request, const struct http_answer *answer)
{
    static const struct http_pieces_fns fns = {on_wanted, on_gone};
    settle_place(&request->pieces);
    if (!http_answer_begin(request->exchange, answer, &fns, request))
        request_free(request);
}
