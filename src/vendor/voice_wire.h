/* The framed protocol between the service and its worker processes for embedded speech
 * (earshot-voice), over one socketpair a worker, many sessions on it. Both ends are of one build,
 * so numbers are in the machine's order.
 *
 *     0        4      8         12    16
 *     | length | kind | session | gen | body, `length` bytes ...
 *
 *     to the worker                          from it
 *     OPEN_HEARING  vocabulary               READY
 *     OPEN_SPEAKING engine\nlanguage\n       FAILED  sentence; the session is over
 *                   speaker\nspeed\nvolume\n
 *                   workspace
 *     PUSH          16 kHz samples           PARTIAL text
 *     FLUSH         gen                      FINAL text\nunsure words; FLUSHED gen
 *     SPEAK         gen, text                AUDIO gen, 48 kHz samples; DONE gen
 *     CANCEL        all speaking so far      SAYING  gen, workspace: its line is being made now;
 *                                                    without one: no line is
 *     CLOSE
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"

enum voice_kind {
    VOICE_OPEN_HEARING = 1,
    VOICE_OPEN_SPEAKING,
    VOICE_PUSH,
    VOICE_FLUSH,
    VOICE_SPEAK,
    VOICE_CANCEL,
    VOICE_CLOSE,
    VOICE_READY,
    VOICE_FAILED,
    VOICE_PARTIAL,
    VOICE_FINAL,
    VOICE_FLUSHED,
    VOICE_AUDIO,
    VOICE_DONE,
    VOICE_SAYING,
    VOICE_KIND_END
};

enum {
    VOICE_HEADER_BYTES = 16,
    VOICE_BODY_MAX_BYTES = 256 * 1024,
};

struct voice_frame {
    enum voice_kind kind;
    uint32_t session, gen;
    const void *body;
    size_t len;
};

/* ERR_LIMIT: a body over VOICE_BODY_MAX_BYTES, or the buffer is full. */
enum err voice_frame_write(const struct voice_frame *frame, struct buf *out) MUST_USE;
/* One frame at the front of data; its body is borrowed. ERR_AGAIN: it is not whole yet.
 * ERR_INVALID: the other side is broken. */
enum err voice_frame_read(const char *data, size_t len, struct voice_frame *out,
                          size_t *out_used) MUST_USE;
