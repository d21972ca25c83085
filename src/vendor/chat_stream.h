/* The answer of a chat server as it streams in: bytes in, text at once, tool calls and the end at
 * the end. What an event means is its dialect's business (chat.h). Lenient towards what servers
 * are known to do: chunks without choices, null deltas, calls whole or in fragments, errors inside
 * a 200, `error:` lines, a missing [DONE] or last blank line, one whole JSON answer instead of a
 * stream (docs/engines.md, Chat). Sans-I/O. Thread: its owner's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "engine/engine.h"
#include "net/sse.h"
#include "text/plain.h"

enum {
    CHAT_EVENT_MAX_BYTES = 256 * 1024, /* parsed in one go on a media loop: 2 ms */
    CHAT_CALLS_MAX = 16,
    CHAT_ARGUMENTS_MAX_BYTES = 32 * 1024, /* twice what the conversation takes */
};

struct chat_call {
    char *id, *name, *extra; /* mem_free; extra: JSON to be given back, or NULL */
    struct buf arguments;
};

struct chat_stream;
struct js;
typedef void chat_text_fn(void *arg, const char *text);
/* Reads one event of the stream. */
typedef void chat_read_fn(struct chat_stream *stream, const struct js *tree);

struct chat_stream {
    struct sse sse;
    struct think_filter think;
    struct buf text;  /* scratch of one delta */
    struct buf whole; /* an answer that is no stream */
    char held[8];     /* the start of a line that may be `error:` */
    unsigned held_len;
    bool is_line_started, is_whole, is_started;
    chat_read_fn *read;
    chat_text_fn *on_text;
    void *arg;
    struct chat_call calls[CHAT_CALLS_MAX];
    size_t call_count;
    bool has_text, has_finish, is_done, is_cut;
    unsigned unreadable;                   /* chunks that were no JSON */
    long prompt_tokens, completion_tokens; /* -1: not told */
    enum engine_error error;
    char message[256];
};

void chat_stream_init(struct chat_stream *stream, chat_read_fn *read, chat_text_fn *on_text,
                      void *arg);
void chat_stream_clear(struct chat_stream *stream);
/* False: nothing more need be read, since it is done or has failed. */
bool chat_stream_input(struct chat_stream *stream, const char *data, size_t len);
/* The connection has ended: is_done is set when the answer is whole, else error is. */
void chat_stream_finish(struct chat_stream *stream);

/* For the dialects: what an event told. */
void chat_stream_text(struct chat_stream *stream, const char *text); /* NULL, "": nothing */
/* The tool call of an index; NULL: more than anybody runs. */
struct chat_call *chat_stream_call(struct chat_stream *stream, size_t index);
void chat_call_set(char **text, const char *value); /* a copy; NULL and "" change nothing */
void chat_stream_end(struct chat_stream *stream);
void chat_stream_fail(struct chat_stream *stream, enum engine_error error, const char *message);
