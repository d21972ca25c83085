/* Opening a WebSocket: the server's 101, the client's dialling and handshake. */
#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "base/mem.h"
#include "net/dial.h"
#include "net/resolver.h"
#include "net/url.h"
#include "net/ws_conn.h"
#include "net/ws_handshake.h"

enum {
    OPEN_STANDARD_MS = 10000,
    REQUEST_MAX_BYTES = 64 * 1024,
};

/* What the client role keeps until its 101. */
struct ws_opening {
    struct ws *ws;
    struct dial *dial;
    struct timer limit;
    char key[WS_CLIENT_KEY_SIZE];
    char *protocol;
    struct buf request;
    struct fault fault; /* known before dialling */
};

void ws_opening_free(struct ws_opening *opening)
{
    if (!opening)
        return;
    dial_cancel(opening->dial);
    timer_stop(&opening->limit);
    mem_free(opening->protocol);
    buf_clear(&opening->request);
    mem_free(opening);
}

struct ws *ws_accept(struct loop *loop, struct stream_state *take_state,
                     const struct ws_offer *offer, const struct ws_config *config,
                     const struct ws_fns *fns, void *arg)
{
    AUTO_BUF answer = BUF_INIT(1024);
    struct ws *ws = ws_make(loop, config, fns, arg);
    struct stream *stream = stream_attach(loop, take_state);
    ws_write_accept(offer, &answer);
    stream_write(stream, answer.data, answer.len); /* a broken one is told by on_closed */
    ws_begin(ws, stream, true);
    return ws;
}

static void fail_with(struct ws *ws, unsigned code, const struct fault *given)
{
    struct fault fault = *given;
    ws_opening_free(TAKE(ws->opening));
    ws_end(ws, code, &fault);
}

static void fail(struct ws *ws, const struct fault *given)
{
    fail_with(ws, WS_ABNORMAL, given);
}

static void on_answer(void *arg)
{
    struct ws *ws = arg;
    struct ws_opening *opening = ws->opening;
    struct fault fault = {0};
    size_t len, head_len = 0;
    if (!opening)
        return;
    const char *data = stream_peek(ws->stream, &len);
    enum err err = ws_read_answer(data, len, opening->key, opening->protocol, &head_len, &fault);
    if (err == ERR_AGAIN)
        return;
    if (err) {
        /* A refusal begins "HTTP/1.1 " and has three digits there: ws_read_answer() looked. */
        fail_with(ws, err == ERR_CONFLICT ? (unsigned)strtoul(data + 9, NULL, 10) : WS_ABNORMAL,
                  &fault);
        return;
    }
    stream_consume(ws->stream, head_len);
    ws_opening_free(TAKE(ws->opening));
    ws_begin(ws, ws->stream, false);
    if (ws->fns.on_open)
        ws->fns.on_open(ws->arg);
}

static void on_closed_early(void *arg, enum err reason)
{
    struct fault fault;
    fault_set(&fault, reason, "the server closed the connection during the handshake");
    fail(arg, &fault);
}

static void on_dialled(void *arg, struct stream *take_stream, const struct fault *fault)
{
    static const struct stream_fns fns = {on_answer, NULL, on_closed_early};
    struct ws *ws = arg;
    ws->opening->dial = NULL;
    ws->stream = take_stream;
    if (fault->err) {
        fail(ws, fault);
        return;
    }
    stream_write(ws->stream, ws->opening->request.data, ws->opening->request.len);
    stream_set(ws->stream, &fns, ws);
}

/* Also how a URL that cannot be dialled is told: never inside ws_connect(). */
static void on_limit(void *arg)
{
    struct ws *ws = arg;
    struct fault fault = ws->opening->fault;
    if (!fault.err)
        fault_set(&fault, ERR_TIMEOUT, "the server did not answer in time");
    fail(ws, &fault);
}

static enum err prepare(struct ws_opening *opening, const struct ws_request *request,
                        const struct guard *guard, enum guard_scope scope, struct url *out_url)
{
    uint8_t nonce[16];
    AUTO_BUF key = BUF_INIT(64);
    enum err err = guard_check_url(guard, scope, request->url, out_url, &opening->fault);
    if (err)
        return err;
    crypto_random(nonce, sizeof(nonce));
    base64_encode(nonce, sizeof(nonce), &key);
    memcpy(opening->key, key.data, sizeof(opening->key));
    opening->protocol = mem_strdup(request->protocol);
    buf_init(&opening->request, REQUEST_MAX_BYTES);
    err = ws_write_request(out_url, request, opening->key, &opening->request);
    return err ? fault_set(&opening->fault, err, "the handshake's headers are malformed") : OK;
}

struct ws *ws_connect(struct loop *loop, struct dialer *dialer, const struct ws_request *request,
                      const struct ws_config *config, const struct ws_fns *fns, void *arg)
{
    struct ws *ws = ws_make(loop, config, fns, arg);
    struct ws_opening *opening = ws->opening = mem_new(struct ws_opening);
    enum guard_scope scope = request->is_operators ? GUARD_OPERATOR : GUARD_PUBLIC;
    const struct guard *guard = resolver_guard(dialer_resolver(dialer));
    int64_t open_ms = request->open_ms ? request->open_ms : OPEN_STANDARD_MS;
    struct url url;
    opening->ws = ws;
    timer_init(&opening->limit, loop, on_limit, ws);
    if (prepare(opening, request, guard, scope, &url) != OK) {
        timer_set_after(&opening->limit, 0);
        return ws;
    }
    const struct dial_target target = {
        .host = url.host,
        .port = url.port,
        .is_tls = url_is_tls(&url),
        .scope = scope,
        .timeout_ms = open_ms,
    };
    opening->dial = dial_start(dialer, &target, on_dialled, ws);
    timer_set_after(&opening->limit, open_ms * 1000);
    return ws;
}
