/* What ws.c (frames) and ws_open.c (opening, both roles) share.
 *
 *   OPENING --101--> OPEN --close, fault--> ENDED
 *      '------------- fault -----------------^
 *   any --ws_close()--> FREED, at the end of the turn
 */
#pragma once

#include "base/buf.h"
#include "base/loop.h"
#include "base/states.h"
#include "net/stream.h"
#include "net/ws.h"

enum ws_state { WS_OPENING, WS_OPEN, WS_ENDED, WS_FREED };
enum ws_event {
    WS_BEGIN, /* the handshake is done */
    WS_END,   /* the peer's close, or a fault: the owner is told */
    WS_CLOSE  /* the owner's */
};
enum { WS_STATES = WS_FREED + 1, WS_EVENTS = WS_CLOSE + 1 };
extern const struct states ws_states;

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
    struct ws_opening *opening;
};

struct ws *ws_make(struct loop *loop, const struct ws_config *config, const struct ws_fns *fns,
                   void *arg);
/* False: nothing has changed. */
bool ws_move(struct ws *ws, enum ws_event event);
/* The handshake is done: frames from now on. */
void ws_begin(struct ws *ws, struct stream *take_stream, bool is_server);
/* Tells the owner that it is over, once. */
void ws_end(struct ws *ws, unsigned code, const struct fault *fault);
void ws_opening_free(struct ws_opening *opening);
