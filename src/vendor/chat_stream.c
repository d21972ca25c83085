/* Bytes to lines to events. What each branch is for is in the tests, by server. */
#include "vendor/chat_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/js.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "vendor/vendor_error.h"

enum { DEPTH_MAX = 64 };

static const char error_field[] = "error:", data_field[] = "data: ";

void chat_stream_init(struct chat_stream *stream, chat_read_fn *read, chat_text_fn *on_text,
                      void *arg)
{
    *stream = (struct chat_stream){.read = read, .on_text = on_text, .arg = arg};
    stream->prompt_tokens = stream->completion_tokens = -1;
    sse_init(&stream->sse, CHAT_EVENT_MAX_BYTES);
    think_filter_init(&stream->think);
    buf_init(&stream->text, CHAT_EVENT_MAX_BYTES);
    buf_init(&stream->whole, CHAT_EVENT_MAX_BYTES);
}

void chat_stream_clear(struct chat_stream *stream)
{
    for (size_t i = 0; i < stream->call_count; i++) {
        mem_free(stream->calls[i].id);
        mem_free(stream->calls[i].name);
        mem_free(stream->calls[i].extra);
        buf_clear(&stream->calls[i].arguments);
    }
    sse_clear(&stream->sse);
    buf_clear(&stream->text);
    buf_clear(&stream->whole);
    *stream = (struct chat_stream){0};
}

void chat_stream_fail(struct chat_stream *stream, enum engine_error error, const char *message)
{
    if (stream->error != ENGINE_OK || stream->is_done)
        return;
    stream->error = error;
    snprintf(stream->message, sizeof(stream->message), "%s", message);
}

/* Tool calls. */

struct chat_call *chat_stream_call(struct chat_stream *stream, size_t index)
{
    if (index >= CHAT_CALLS_MAX)
        return NULL;
    while (stream->call_count <= index)
        buf_init(&stream->calls[stream->call_count++].arguments, CHAT_ARGUMENTS_MAX_BYTES);
    return &stream->calls[index];
}

void chat_call_set(char **text, const char *value)
{
    if (!value || !*value)
        return;
    mem_free(*text);
    *text = mem_strdup(value);
}

/* Chunks. */

static void tell_text(struct chat_stream *stream)
{
    if (stream->text.len == 0)
        return;
    stream->has_text = true;
    stream->on_text(stream->arg, stream->text.data);
    buf_reset(&stream->text);
}

void chat_stream_text(struct chat_stream *stream, const char *text)
{
    if (!text || !*text)
        return;
    think_filter_push(&stream->think, text, &stream->text);
    tell_text(stream);
}

void chat_stream_end(struct chat_stream *stream)
{
    think_filter_finish(&stream->think, &stream->text);
    tell_text(stream);
    if (stream->error == ENGINE_OK)
        stream->is_done = true;
}

/* Bytes of "\u0000", or of a surrogate without its other half; 0: nothing of that kind. */
static size_t bad_escape_len(const char *at, size_t len)
{
    enum { ESCAPE = 6 };
    unsigned code[2] = {0};
    for (size_t i = 0; i < ARRAY_LEN(code); i++) {
        char digits[ESCAPE + 1] = "";
        if (len < (i + 1) * ESCAPE || strncmp(at + i * ESCAPE, "\\u", 2) != 0)
            break;
        memcpy(digits, at + i * ESCAPE + 2, ESCAPE - 2);
        code[i] = (unsigned)strtoul(digits, NULL, 16);
        if (strspn(digits, "0123456789abcdefABCDEF") != ESCAPE - 2)
            return 0;
        if (i == 0 && (code[0] & 0xFC00) != 0xD800)
            return code[0] == 0 || (code[0] & 0xFC00) == 0xDC00 ? ESCAPE : 0;
    }
    return (code[0] & 0xFC00) == 0xD800 && (code[1] & 0xFC00) != 0xDC00 ? ESCAPE : 0;
}

/* Bytes that stay together: both halves of a pair, a backslash with what it escapes. */
static size_t good_len(const char *at, size_t len)
{
    enum { PAIR = 12 };
    if (*at != '\\')
        return utf8_decode(at, len, NULL);
    bool is_pair = len >= PAIR && at[1] == 'u' && strchr("dD", at[2]) && strchr("89abAB", at[3]);
    return is_pair ? PAIR : MIN((size_t)2, len);
}

/* An event with a character that is none is read without it. */
static enum err read_mended(const char *data, size_t len, struct js **out)
{
    AUTO_BUF mended = BUF_INIT(CHAT_EVENT_MAX_BYTES);
    for (size_t at = 0; at < len;) {
        size_t bad = data[at] == '\\' ? bad_escape_len(data + at, len - at) : 0;
        size_t good = good_len(data + at, len - at);
        bool is_control = (unsigned char)data[at] < ' ';
        if (!bad && good && !is_control)
            (void)buf_append(&mended, data + at, good);
        at += MAX(bad ? bad : good, (size_t)1);
    }
    return js_parse(mended.data ? mended.data : "", mended.len, DEPTH_MAX, out, NULL);
}

static void on_event(void *arg, const char *type, const char *data, size_t len)
{
    struct chat_stream *stream = arg;
    (void)type;
    if (stream->is_done || stream->error != ENGINE_OK || len == 0)
        return;
    if (strncmp(data, "[DONE]", 6) == 0) {
        chat_stream_end(stream);
        return;
    }
    AUTO(js) tree = NULL;
    if (js_parse(data, len, DEPTH_MAX, &tree, NULL) == OK || read_mended(data, len, &tree) == OK)
        stream->read(stream, tree);
    else
        stream->unreadable++;
}

/* Bytes. */

static void pass(struct chat_stream *stream, const char *data, size_t len)
{
    if (len > 0 && sse_input(&stream->sse, data, len, on_event, stream) != OK)
        chat_stream_fail(stream, ENGINE_PROTOCOL,
                         "the server's answer has an event that is too long");
}

/* Lines that begin `error:` (llama.cpp of 2025) become data lines. */
static void pass_lines(struct chat_stream *stream, const char *data, size_t len)
{
    size_t from = 0;
    for (size_t i = 0; i < len; i++) {
        if (stream->is_line_started) {
            stream->is_line_started = data[i] != '\n' && data[i] != '\r';
            continue;
        }
        if (data[i] == error_field[stream->held_len]) {
            if (stream->held_len == 0)
                pass(stream, data + from, i - from);
            stream->held[stream->held_len++] = data[i];
            from = i + 1;
            if (stream->held_len < sizeof(error_field) - 1)
                continue;
            pass(stream, data_field, sizeof(data_field) - 1);
        } else {
            pass(stream, stream->held, stream->held_len);
        }
        stream->held_len = 0;
        stream->is_line_started = data[i] != '\n' && data[i] != '\r';
    }
    pass(stream, data + from, len - from);
}

bool chat_stream_input(struct chat_stream *stream, const char *data, size_t len)
{
    if (!stream->is_started && len > 0) {
        stream->is_started = true;
        stream->is_whole = *data == '{' || *data == '[';
    }
    if (!stream->is_whole)
        pass_lines(stream, data, len);
    else if (buf_append(&stream->whole, data, len) != OK)
        chat_stream_fail(stream, ENGINE_PROTOCOL, "the server's answer is too long");
    return !stream->is_done && stream->error == ENGINE_OK;
}

void chat_stream_finish(struct chat_stream *stream)
{
    if (stream->is_whole && stream->error == ENGINE_OK)
        on_event(stream, "", stream->whole.data, stream->whole.len);
    else
        pass_lines(stream, "\n\n", 2);
    if (stream->is_done || stream->error != ENGINE_OK)
        return;
    if (stream->has_finish)
        chat_stream_end(stream);
    else if (stream->unreadable && !stream->has_text)
        chat_stream_fail(stream, ENGINE_PROTOCOL, "the server's answer is no JSON");
    else
        chat_stream_fail(stream, ENGINE_TRANSIENT, "the server's answer ends in the middle");
}
