/* The answer of an OpenAI-compatible chat server, as it streams in: bytes in, text at once, tool
 * calls and the end at the end. Lenient towards what servers are known to do: chunks without
 * choices, null deltas, calls whole or in fragments, errors inside a 200, `error:` lines, a missing
 * [DONE] or last blank line, one whole JSON answer instead of a stream (docs/engines.md, Chat).
 * Sans-I/O. Thread: its owner's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "engine/engine.h"
#include "net/sse.h"
#include "text/plain.h"

enum {
    CHAT_EVENT_MAX_BYTES = 256 * 1024, /* parsed in one go on a media loop: 2 ms */
    CHAT_CALLS_MOST = 16,
    CHAT_ARGUMENTS_MAX_BYTES = 32 * 1024, /* twice what the conversation takes */
};

struct chat_call {
    char *id, *name, *extra; /* mem_free; extra: JSON to be given back, or NULL */
    struct buf arguments;
};

typedef void chat_text_fn(void *arg, const char *text);

struct chat_stream {
    struct sse sse;
    struct think_filter think;
    struct buf text;  /* scratch of one delta */
    struct buf whole; /* an answer that is no stream */
    char held[8];     /* the start of a line that may be `error:` */
    unsigned held_len;
    bool is_line_started, is_whole, is_started;
    chat_text_fn *on_text;
    void *arg;
    struct chat_call calls[CHAT_CALLS_MOST];
    size_t call_count;
    bool has_text, has_finish, is_done, is_cut;
    unsigned unreadable;                   /* chunks that were no JSON */
    long prompt_tokens, completion_tokens; /* -1: not told */
    enum engine_error error;
    char message[256];
};

void chat_stream_init(struct chat_stream *stream, chat_text_fn *on_text, void *arg);
void chat_stream_clear(struct chat_stream *stream);
/* False: nothing more need be read, since it is done or has failed. */
bool chat_stream_input(struct chat_stream *stream, const char *data, size_t len);
/* The connection has ended: is_done is set when the answer is whole, else error is. */
void chat_stream_finish(struct chat_stream *stream);

/* The sentence and the kind of an error body, in any of the forms that servers use. status 0: it
 * came inside a stream. */
enum engine_error chat_error(int status, const char *body, size_t len, char *out_message,
                             size_t size);
