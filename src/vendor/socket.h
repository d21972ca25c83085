/* A WebSocket to a vendor, as every streaming adapter needs it: it waits for its place in the
 * engine's lane, connects (nobody waits for it: what is sent before it is open is kept, up to a
 * ceiling), sends something in quiet times so that neither side gives the other up, says in one
 * class of failure why it ended, and lets what is unsent go out when it is closed.
 *
 *   open -> [lane] -> connecting -> on_open -> on_message ... -> on_ended
 *              '-- vendor_socket_send(): kept --'
 *
 * Thread: the call's loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"

struct account;
struct vendor_socket;

/* What a vendor means by a close code, where it is not what the standard says. */
struct socket_code {
    unsigned code;
    enum engine_error error;
};

enum { SOCKET_HEADERS_MAX = 4 };

struct socket_plan {
    const char *url;                                 /* ws, wss, http or https; copied */
    const char *headers[2 * SOCKET_HEADERS_MAX + 1]; /* name, value, ... NULL; copied */
    const char *protocol;                            /* Sec-WebSocket-Protocol; NULL: none */
    const char *workspace;                           /* whose call it is; NULL: the service's own */
    const char *quiet_text; /* sent after quiet_us without a message of ours; NULL: none; copied */
    int64_t quiet_us;
    int64_t ping_ms;                 /* who is silent for twice as long is gone; 0: 5,000 */
    const struct socket_code *codes; /* up to code 0; NULL: none; lives as long as the socket */
    bool is_shared; /* by several calls: what they say waits in the lane, not the connection */
};

struct socket_fns {
    void (*on_open)(void *arg); /* start messages go here: they pass what was kept */
    void (*on_message)(void *arg, bool is_text, const char *data, size_t len);
    /* Once: it has ended, or could not be opened. message: without secrets. */
    void (*on_ended)(void *arg, enum engine_error error, const char *message);
};

/* account and fns are borrowed. on_ended never comes inside the call. */
struct vendor_socket *vendor_socket_open(const struct account *account, struct loop *loop,
                                         const struct socket_plan *plan,
                                         const struct socket_fns *fns, void *arg);
/* What is sent before it is open is kept, in order; of audio the oldest is dropped when too much
 * waits. Too much text that waits, or too much unsent on an open socket, ends it (ENGINE_TIMEOUT).
 */
void vendor_socket_text(struct vendor_socket *socket, const char *text);
void vendor_socket_audio(struct vendor_socket *socket, const void *data, size_t len);
bool vendor_socket_is_open(const struct vendor_socket *socket);
/* Sends the farewell (NULL: none), then what is unsent, then closes; no callback comes any more.
 * NULL is fine. */
void vendor_socket_close(struct vendor_socket *socket, const char *farewell);
