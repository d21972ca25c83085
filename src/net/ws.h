/* WebSocket (RFC 6455) over a stream, both roles; frames by libwslay (ws.c). No extensions. Whole
 * messages only, up to a ceiling; text is checked to be UTF-8; pings are answered, and sent when
 * the peer is quiet. Thread: its loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "net/addr.h"

struct dialer;
struct http_exchange;
struct http_header;
struct loop;
struct stream_state;
struct ws;

enum { WS_KEY_SIZE = 32, WS_PROTOCOL_SIZE = 64 };

enum ws_close_code {
    WS_NORMAL = 1000,
    WS_GOING_AWAY = 1001,
    WS_PROTOCOL_ERROR = 1002,
    WS_NOT_ACCEPTABLE = 1003,
    WS_NO_STATUS = 1005, /* local only: the peer gave none */
    WS_ABNORMAL = 1006,  /* local only: the connection broke */
    WS_BAD_DATA = 1007,
    WS_POLICY = 1008,
    WS_TOO_BIG = 1009
};

struct ws_fns {
    void (*on_open)(void *arg); /* client role: the handshake is done */
    void (*on_message)(void *arg, bool is_text, const uint8_t *data, size_t len);
    void (*on_drained)(void *arg);
    /* Once at most, when the peer or the network ended it (or, client role, it could not be opened:
     * fault says why, and fault->err is not OK). code: of the close frame; when the server refused
     * the handshake (fault->err is ERR_CONFLICT), its HTTP status. The owner then calls ws_close().
     */
    void (*on_closed)(void *arg, unsigned code, const struct fault *fault);
};

/* Zeros mean the standard value. */
struct ws_config {
    size_t max_message_bytes; /* 1 MiB; a longer one closes with WS_TOO_BIG */
    size_t max_unsent_bytes;  /* 4 MiB */
    int64_t ping_ms;          /* 0: never ping; else after so long without a byte from the peer, and
                                 after as much again it is gone */
};

/* What a server needs of the opening request, in plain memory, so that it can be handed to the loop
 * that will serve the connection. */
struct ws_offer {
    char key[WS_KEY_SIZE];
    char protocol[WS_PROTOCOL_SIZE]; /* the first offered; "" if none */
};

/* ERR_INVALID: the request is no WebSocket handshake (400). ERR_UNSUPPORTED: another version (426).
 */
enum err ws_read_offer(const struct http_exchange *exchange, struct ws_offer *out,
                       struct fault *fault) MUST_USE;
/* Writes the 101 (and the protocol when it is not "") and serves. */
struct ws *ws_accept(struct loop *loop, struct stream_state *take_state,
                     const struct ws_offer *offer, const struct ws_config *config,
                     const struct ws_fns *fns, void *arg);

struct ws_request {
    const char *url; /* ws, wss; http and https do as well */
    const struct http_header *headers;
    size_t header_count;
    const char *protocol; /* NULL: none */
    int64_t open_ms;      /* to the 101; 0: 10,000 */
    bool is_operators; /* the URL is the operator's (engines, LiveKit): private networks are fine */
};
/* Dials and shakes hands; on_open or on_closed follows, never inside the call. All is copied. */
struct ws *ws_connect(struct loop *loop, struct dialer *dialer, const struct ws_request *request,
                      const struct ws_config *config, const struct ws_fns *fns, void *arg);

/* ERR_LIMIT: too much waits to be sent. ERR_CLOSED: it is over, or not open yet. */
enum err ws_send_text(struct ws *ws, const char *text, size_t len);
enum err ws_send_binary(struct ws *ws, const void *data, size_t len);

/* Says goodbye (what is unsent goes out first, for at most 5 s) and frees; no callback comes any
 * more. reason: at most 123 bytes, may be NULL. NULL is fine. */
void ws_close(struct ws *ws, enum ws_close_code code, const char *reason);
