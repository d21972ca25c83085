/* What ws.c (frames) and ws_open.c (opening, both roles) share.
 *
 *   OPENING --101--> OPEN --close, fault--> ENDED --ws_close()--> freed
 *      '------------- fault -----------------^
 */
#pragma once

#include "base/buf.h"
#include "base/loop.h"
#include "net/stream.h"
#include "net/ws.h"

enum ws_state { WS_OPENING, WS_OPEN, WS_ENDED };

struct ws_opening; /* ws_open.c */

struct ws {
    struct loop *loop;
    struct stream *stream; /* NULL: dialling, or gone */
    struct wslay_event_context *frames;
    enum ws_state state;
    struct ws_config config;
    struct ws_fns fns;
    void *arg;
    struct buf gathered; /* frames on their way to the stream */
    struct timer ping;
    int64_t heard_us; /* the last byte of the peer */
    bool has_pinged;
    bool is_reading; /* libwslay is on the stack */
    bool is_cut;     /* the peer reads nothing: frames were dropped */
    bool is_freed;
    struct ws_opening *opening;
};

struct ws *ws_make(struct loop *loop, const struct ws_config *config, const struct ws_fns *fns,
                   void *arg);
/* The handshake is done: frames from now on. */
void ws_begin(struct ws *ws, struct stream *take_stream, bool is_server);
/* Tells the owner that it is over, once. */
void ws_end(struct ws *ws, unsigned code, const struct fault *fault);
void ws_opening_free(struct ws_opening *opening);
