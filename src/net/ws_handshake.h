/* The opening handshake of WebSocket (RFC 6455 section 4) as text: what each role writes and what
 * it must find. Sans-I/O. Thread: any. */
#pragma once

#include <stddef.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"
#include "net/ws.h"

struct url;

enum { WS_ACCEPT_SIZE = 29, WS_CLIENT_KEY_SIZE = 25 };

/* Sec-WebSocket-Accept for a key. */
void ws_accept_value(const char *key, char out[WS_ACCEPT_SIZE]);

/* Server role: the 101. */
void ws_write_accept(const struct ws_offer *offer, struct buf *out);

/* Client role: the request. A header that the handshake needs for itself is left out. ERR_LIMIT:
 * too long. ERR_INVALID: a header with CR, LF or NUL. */
enum err ws_write_request(const struct url *url, const struct ws_request *request,
                          const char key[WS_CLIENT_KEY_SIZE], struct buf *out) MUST_USE;
/* Client role: the answer. ERR_AGAIN: not whole yet. ERR_CONFLICT: the server answered otherwise;
 * ERR_INVALID: its 101 is none. Else *out_len bytes belong to it. */
enum err ws_read_answer(const char *data, size_t len, const char key[WS_CLIENT_KEY_SIZE],
                        const char *protocol, size_t *out_len, struct fault *fault) MUST_USE;
