/* Wyoming, the protocol of the self-hosted speech servers around Home Assistant (faster-whisper,
 * Piper, Vosk): over TCP, events of one JSON line, more JSON data, and a payload.
 *
 *     {"type": "audio-chunk", "data_length": 42, "payload_length": 640}\n {data} payload
 *
 * A connection that is opened with its session; what is sent before it is open is kept. There is no
 * cancelling: who wants no more closes it. Source: the `wyoming` package, and
 * docs/engines.md. Thread: the call's loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "engine/engine.h"
#include "vendor/account.h"
#include "vendor/ask.h"

struct js;
struct loop;
struct wyoming;

enum {
    WYOMING_LINE_MAX_BYTES = 64 * 1024,
    WYOMING_DATA_MAX_BYTES = 256 * 1024,
    WYOMING_PAYLOAD_MAX_BYTES = 1024 * 1024,
};

struct wyoming_event {
    char type[32];       /* cut when longer */
    struct js *data;     /* js_free; NULL: none */
    const char *payload; /* borrowed from what was read */
    size_t payload_len;
};

/* Sans-I/O: the event at the front of the bytes, *out_len of them. ERR_AGAIN: not whole yet.
 * ERR_INVALID: no such protocol. ERR_LIMIT: too long. */
enum err wyoming_read(const char *bytes, size_t len, struct wyoming_event *out,
                      size_t *out_len) MUST_USE;
/* Appends an event. data: JSON text, NULL: none. ERR_LIMIT: the buffer is full. */
enum err wyoming_write(struct buf *out, const char *type, const char *data, const void *payload,
                       size_t payload_len);

/* The state of both engines. */
struct wyoming_engine {
    struct account account; /* url: tcp://host:port */
    const char *model;      /* "": the server's own; lives as long as the registry */
};
bool wyoming_configure(void *env, const struct config *config, const struct engine_info *info,
                       void **out_state);
void wyoming_unconfigure(void *state);

/* What an event of type `error` says, its secrets masked. */
void wyoming_error(const struct wyoming_engine *engine, const struct wyoming_event *event,
                   char out[ASK_MESSAGE_SIZE]);

struct wyoming_fns {
    void (*on_event)(void *arg, const struct wyoming_event *event);
    void (*on_ended)(void *arg, enum engine_error error, const char *message); /* once */
};

/* on_ended never comes inside the call. */
struct wyoming *wyoming_open(const struct wyoming_engine *engine, struct loop *loop,
                             const struct wyoming_fns *fns, void *arg);
/* What does not fit ends the connection, from the loop. */
void wyoming_send(struct wyoming *wyoming, const char *type, const char *data, const void *payload,
                  size_t payload_len);
void wyoming_close(struct wyoming *wyoming); /* no callback comes any more; NULL is fine */
