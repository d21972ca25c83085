#include "net/ws.h"

#include <assert.h>
#include <string.h>

#include <wslay/wslay.h>

#include "base/crypto.h"
#include "base/mem.h"
#include "net/ws_conn.h"

enum {
    CONTROLS_MAX = 64,           /* pongs that wait: a peer that pings and does not read is cut */
    FRAME_HEADER_MAX_BYTES = 14, /* RFC 6455 section 5.2 */
};

static const struct states_row rows[] = {
    {WS_OPENING, WS_BEGIN, WS_OPEN},
    {WS_OPENING, WS_END, WS_ENDED},
    {WS_OPENING, WS_CLOSE, WS_FREED},
    {WS_OPEN, WS_END, WS_ENDED},
    {WS_OPEN, WS_CLOSE, WS_FREED},
    {WS_ENDED, WS_END, WS_ENDED}, /* the peer's close, then the end of its socket */
    {WS_ENDED, WS_CLOSE, WS_FREED},
    {WS_FREED, WS_END, WS_FREED}, /* the owner closed it inside a callback */
    {WS_FREED, WS_CLOSE, WS_FREED},
};
static const char *const state_names[] = {"opening", "open", "ended", "freed"};
static const char *const event_names[] = {"begin", "end", "close"};
_Static_assert(ARRAY_LEN(state_names) == WS_STATES, "each state has a name");
_Static_assert(ARRAY_LEN(event_names) == WS_EVENTS, "each event has a name");

const struct states ws_states = {"ws",      state_names, event_names,    WS_STATES,
                                 WS_EVENTS, rows,        ARRAY_LEN(rows)};

bool ws_move(struct ws *ws, enum ws_event event)
{
    int to = states_next(&ws_states, (int)ws->state, (int)event, NULL);
    if (to == STATES_REFUSED || to == (int)ws->state)
        return false;
    ws->state = (enum ws_state)to;
    return true;
}

static ssize_t receive(wslay_event_context_ptr frames, uint8_t *data, size_t cap, int flags,
                       void *arg)
{
    struct ws *ws = arg;
    size_t len = 0;
    (void)flags;
    const char *waiting = ws->state == WS_FREED ? NULL : stream_peek(ws->stream, &len);
    if (len == 0) {
        wslay_event_set_error(frames, WSLAY_ERR_WOULDBLOCK);
        return -1;
    }
    len = MIN(len, cap);
    memcpy(data, waiting, len);
    stream_consume(ws->stream, len);
    return (ssize_t)len;
}

/* Frames are gathered, so that a message leaves in one packet. */
static ssize_t gather(wslay_event_context_ptr frames, const uint8_t *data, size_t len, int flags,
                      void *arg)
{
    struct ws *ws = arg;
    (void)flags;
    if (buf_append(&ws->gathered, data, len) == OK)
        return (ssize_t)len;
    wslay_event_set_error(frames, WSLAY_ERR_CALLBACK_FAILURE);
    return -1;
}

static int make_mask(wslay_event_context_ptr frames, uint8_t *out, size_t len, void *arg)
{
    (void)frames, (void)arg;
    crypto_random(out, len);
    return 0;
}

static void on_message(wslay_event_context_ptr frames,
                       const struct wslay_event_on_msg_recv_arg *msg, void *arg)
{
    struct ws *ws = arg;
    (void)frames;
    bool is_data = msg->opcode == WSLAY_TEXT_FRAME || msg->opcode == WSLAY_BINARY_FRAME;
    if (is_data && ws->state == WS_OPEN && ws->fns.on_message)
        ws->fns.on_message(ws->arg, msg->opcode == WSLAY_TEXT_FRAME, msg->msg, msg->msg_length);
}

static size_t unsent(const struct ws *ws)
{
    if (!ws->stream || !ws->frames)
        return 0;
    return stream_unsent(ws->stream) + wslay_event_get_queued_msg_length(ws->frames);
}

static const struct wslay_event_callbacks callbacks = {
    .recv_callback = receive,
    .send_callback = gather,
    .genmask_callback = make_mask,
    .on_msg_recv_callback = on_message,
};

struct ws *ws_make(struct loop *loop, const struct ws_config *config, const struct ws_fns *fns,
                   void *arg)
{
    struct ws *ws = mem_new(struct ws);
    ws->loop = loop;
    ws->config = *config;
    if (!config->max_message_bytes)
        ws->config.max_message_bytes = 1024 * 1024;
    if (!config->max_unsent_bytes)
        ws->config.max_unsent_bytes = 4 * 1024 * 1024;
    ws->fns = *fns;
    ws->arg = arg;
    buf_init(&ws->gathered, SIZE_MAX / 2); /* bounded by unsent() before each message */
    return ws;
}

static void free_ws(void *arg)
{
    struct ws *ws = arg;
    wslay_event_context_free(ws->frames);
    buf_clear(&ws->gathered);
    mem_free(ws);
}

void ws_end(struct ws *ws, unsigned code, const struct fault *fault)
{
    if (!ws_move(ws, WS_END))
        return;
    timer_stop(&ws->ping);
    struct fault none = {0};
    if (ws->fns.on_closed)
        ws->fns.on_closed(ws->arg, code, fault ? fault : &none);
}

static enum err flush_frames(struct ws *ws)
{
    if (!ws->stream)
        return ERR_CLOSED;
    wslay_event_send(ws->frames);
    enum err err = OK;
    if (ws->gathered.len > 0)
        err = stream_write(ws->stream, ws->gathered.data, ws->gathered.len);
    buf_clear(&ws->gathered);
    if (err == ERR_LIMIT) { /* frames are lost, so nothing after them would make sense */
        ws->is_cut = true;
        timer_set_after(&ws->ping, 0);
    }
    return err;
}

/* After libwslay has read: a close of the peer's, or one of its own after a violation. */
static void check_close(struct ws *ws)
{
    struct fault fault = {0};
    if (wslay_event_get_close_received(ws->frames)) {
        unsigned code = wslay_event_get_status_code_received(ws->frames);
        ws_end(ws, code ? code : WS_NO_STATUS, NULL);
    } else if (!wslay_event_get_read_enabled(ws->frames)) {
        unsigned code = wslay_event_get_status_code_sent(ws->frames);
        fault_set(&fault, ERR_INVALID, "the peer broke the WebSocket protocol");
        ws_end(ws, code, &fault);
    } else if (wslay_event_get_queued_msg_count(ws->frames) > CONTROLS_MAX) {
        fault_set(&fault, ERR_LIMIT, "the peer reads nothing");
        ws_end(ws, WS_POLICY, &fault);
    }
}

static void on_read(void *arg)
{
    struct ws *ws = arg;
    if (ws->state != WS_OPEN || ws->is_reading)
        return;
    ws->heard_us = loop_now_us(ws->loop);
    ws->has_pinged = false;
    ws->is_reading = true;
    wslay_event_recv(ws->frames);
    ws->is_reading = false;
    if (ws->state == WS_FREED)
        return;
    if (flush_frames(ws) != ERR_LIMIT)
        check_close(ws);
}

static void on_drained(void *arg)
{
    struct ws *ws = arg;
    if (ws->state == WS_OPEN && ws->fns.on_drained)
        ws->fns.on_drained(ws->arg);
}

static void on_closed(void *arg, enum err reason)
{
    struct fault fault;
    fault_set(&fault, reason, "the connection broke without a goodbye");
    ws_end(arg, WS_ABNORMAL, &fault);
}

static void on_ping_due(void *arg)
{
    struct ws *ws = arg;
    if (ws->is_cut) {
        ws_end(ws, WS_POLICY, &(struct fault){ERR_LIMIT, "the peer reads nothing"});
        return;
    }
    int64_t due_us = ws->heard_us + ws->config.ping_ms * 1000 * (ws->has_pinged ? 2 : 1);
    if (loop_now_us(ws->loop) < due_us) {
        timer_set(&ws->ping, due_us);
        return;
    }
    if (ws->has_pinged) {
        ws_end(ws, WS_ABNORMAL, &(struct fault){ERR_TIMEOUT, "the peer answers no ping"});
        return;
    }
    const struct wslay_event_msg ping = {.opcode = WSLAY_PING};
    wslay_event_queue_msg(ws->frames, &ping);
    flush_frames(ws);
    ws->has_pinged = true;
    timer_set(&ws->ping, due_us + ws->config.ping_ms * 1000);
}

void ws_begin(struct ws *ws, struct stream *take_stream, bool is_server)
{
    static const struct stream_fns fns = {on_read, on_drained, on_closed};
    if (!ws_move(ws, WS_BEGIN)) {
        stream_close(take_stream);
        return;
    }
    int failed = is_server ? wslay_event_context_server_init(&ws->frames, &callbacks, ws)
                           : wslay_event_context_client_init(&ws->frames, &callbacks, ws);
    assert(!failed);
    (void)failed;
    wslay_event_config_set_max_recv_msg_length(ws->frames, ws->config.max_message_bytes);
    ws->stream = take_stream;
    ws->heard_us = loop_now_us(ws->loop);
    timer_init(&ws->ping, ws->loop, on_ping_due, ws);
    if (ws->config.ping_ms > 0)
        timer_set_after(&ws->ping, ws->config.ping_ms * 1000);
    /* Room beyond the ceiling for pongs and the goodbye. */
    stream_set_ceilings(ws->stream, STREAM_READ_MAX, ws->config.max_unsent_bytes + 64 * 1024);
    stream_set(ws->stream, &fns, ws);
}

static enum err send_message(struct ws *ws, uint8_t opcode, const void *data, size_t len)
{
    if (ws->state != WS_OPEN)
        return ERR_CLOSED;
    if (unsent(ws) + len + FRAME_HEADER_MAX_BYTES > ws->config.max_unsent_bytes)
        return ERR_LIMIT;
    const struct wslay_event_msg msg = {.opcode = opcode, .msg = data, .msg_length = len};
    if (wslay_event_queue_msg(ws->frames, &msg) != 0)
        return ERR_CLOSED;
    return ws->is_reading ? OK : flush_frames(ws); /* what reading answers leaves together */
}

enum err ws_send_text(struct ws *ws, const char *text, size_t len)
{
    return send_message(ws, WSLAY_TEXT_FRAME, text, len);
}

enum err ws_send_binary(struct ws *ws, const void *data, size_t len)
{
    return send_message(ws, WSLAY_BINARY_FRAME, data, len);
}

void ws_close(struct ws *ws, enum ws_close_code code, const char *reason)
{
    if (!ws || !ws_move(ws, WS_CLOSE))
        return;
    if (ws->frames) {
        bool has_code = code != WS_NO_STATUS && code != WS_ABNORMAL;
        flush_frames(ws); /* libwslay sends a close ahead of the messages that wait */
        wslay_event_queue_close(ws->frames, has_code ? (uint16_t)code : 0, (const uint8_t *)reason,
                                has_code && reason ? strlen(reason) : 0);
        flush_frames(ws);
        timer_stop(&ws->ping);
    }
    ws_opening_free(TAKE(ws->opening));
    stream_close_draining(TAKE(ws->stream));
    loop_defer(ws->loop, free_ws, ws);
}
