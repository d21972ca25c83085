/* Bytes to lines to events to chunks. What each branch is for is in the tests, by server. */
#include "vendor/chat_stream.h"

#include <stdio.h>
#include <string.h>

#include "base/js.h"
#include "base/mem.h"

enum { DEPTH_MOST = 64 };

static const char error_field[] = "error:", data_field[] = "data: ";

void chat_stream_init(struct chat_stream *stream, chat_text_fn *on_text, void *arg)
{
    *stream = (struct chat_stream){.on_text = on_text, .arg = arg};
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

static void fail(struct chat_stream *stream, enum engine_error error, const char *message)
{
    if (stream->error != ENGINE_OK || stream->is_done)
        return;
    stream->error = error;
    snprintf(stream->message, sizeof stream->message, "%s", message);
}

/* ---- errors ---- */

static const char *message_in(const struct js *tree)
{
    static const char *const names[] = {"message", "error", "detail", "error_message"};
    const struct js *error = js_get(tree, "error");
    if (js_type(tree) == JS_ARRAY)
        return message_in(js_at(tree, 0));
    if (js_type(error) == JS_OBJECT)
        return message_in(error);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (js_text(js_get(tree, names[i])))
            return js_text(js_get(tree, names[i]));
    return NULL;
}

static enum engine_error kind_of_status(int status)
{
    if (status == 401 || status == 403)
        return ENGINE_AUTH;
    if (status == 402 || status == 429)
        return ENGINE_QUOTA;
    if (status == 408 || status == 409 || status >= 500)
        return ENGINE_TRANSIENT;
    return status >= 400 ? ENGINE_BAD_REQUEST : ENGINE_TRANSIENT;
}

/* Inside a stream the status was 200: the words must do. */
static enum engine_error kind_of_words(const struct js *tree)
{
    static const struct {
        const char *word;
        enum engine_error error;
    } kinds[] = {{"rate_limit", ENGINE_QUOTA},
                 {"quota", ENGINE_QUOTA},
                 {"api_key", ENGINE_AUTH},
                 {"authentication", ENGINE_AUTH},
                 {"context_length", ENGINE_BAD_REQUEST},
                 {"invalid_request", ENGINE_BAD_REQUEST}};
    const struct js *error =
        js_type(js_get(tree, "error")) == JS_OBJECT ? js_get(tree, "error") : tree;
    const char *type = js_text_or(js_get(error, "type"), "");
    const char *code = js_text_or(js_get(error, "code"), "");
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (strstr(type, kinds[i].word) || strstr(code, kinds[i].word))
            return kinds[i].error;
    return kind_of_status((int)js_int(js_get(error, "code"), 0));
}

enum engine_error chat_error(int status, const char *body, size_t len, char *out_message,
                             size_t size)
{
    AUTO(js) tree = NULL;
    if (len == 0 || js_parse(body, len, DEPTH_MOST, &tree, NULL) != OK)
        tree = NULL;
    const char *message = message_in(tree);
    if (status)
        snprintf(out_message, size, "HTTP %d%s%s", status, message ? ": " : "",
                 message ? message : "");
    else
        snprintf(out_message, size, "%s", message ? message : "the server reports an error");
    return status ? kind_of_status(status) : kind_of_words(tree);
}

/* ---- tool calls ---- */

static struct chat_call *call_at(struct chat_stream *stream, size_t index)
{
    if (index >= CHAT_CALLS_MOST)
        return NULL;
    while (stream->call_count <= index)
        buf_init(&stream->calls[stream->call_count++].arguments, CHAT_ARGUMENTS_MAX_BYTES);
    return &stream->calls[index];
}

static void set_text(char **text, const char *value)
{
    if (!value || !*value)
        return;
    mem_free(*text);
    *text = mem_strdup(value);
}

static void set_extra(struct chat_call *call, const struct js *extra)
{
    if (js_type(extra) != JS_OBJECT)
        return;
    mem_free(call->extra);
    call->extra = js_print(extra);
}

/* Fragments carry an index; a server that leaves it out sends calls whole, each with an id. */
static void take_call(struct chat_stream *stream, const struct js *fragment)
{
    const struct js *function = js_get(fragment, "function");
    const struct js *arguments = js_get(function, "arguments");
    const char *name = js_text(js_get(function, "name"));
    bool is_new = name && *name;
    size_t next = stream->call_count;
    int64_t index = js_int(js_get(fragment, "index"), (int64_t)(is_new || !next ? next : next - 1));
    struct chat_call *call = index >= 0 ? call_at(stream, (size_t)index) : NULL;
    if (!call)
        return; /* more than anybody runs; the conversation takes fewer still, and says so */
    set_text(&call->id, js_text(js_get(fragment, "id")));
    set_text(&call->name, name);
    set_extra(call, js_get(fragment, "extra_content"));
    /* What does not fit is cut: the conversation refuses it by its length. */
    if (js_text(arguments))
        (void)buf_append_str(&call->arguments, js_text(arguments));
    else if (js_type(arguments) == JS_OBJECT)
        (void)js_write(arguments, &call->arguments);
}

/* ---- chunks ---- */

static void tell_text(struct chat_stream *stream)
{
    if (stream->text.len == 0)
        return;
    stream->has_text = true;
    stream->on_text(stream->arg, stream->text.data);
    buf_reset(&stream->text);
}

static void take_text(struct chat_stream *stream, const char *text)
{
    if (!text || !*text)
        return;
    think_filter_push(&stream->think, text, &stream->text);
    tell_text(stream);
}

static void take_message(struct chat_stream *stream, const struct js *message)
{
    const struct js *calls = js_get(message, "tool_calls");
    take_text(stream, js_text(js_get(message, "content")));
    take_text(stream, js_text(js_get(message, "refusal")));
    for (size_t i = 0; i < js_count(calls); i++)
        take_call(stream, js_at(calls, i));
}

static void take_usage(struct chat_stream *stream, const struct js *usage)
{
    if (js_type(usage) != JS_OBJECT)
        return;
    stream->prompt_tokens = js_int(js_get(usage, "prompt_tokens"), -1);
    stream->completion_tokens = js_int(js_get(usage, "completion_tokens"), -1);
}

static bool is_error(const struct js *tree)
{
    const struct js *error = js_get(tree, "error");
    bool is_bare = js_text(js_get(tree, "message")) && !js_get(tree, "choices");
    return is_bare || js_type(error) == JS_OBJECT || (js_text(error) && *js_text(error));
}

static void take_tree(struct chat_stream *stream, const struct js *tree)
{
    if (js_type(tree) == JS_ARRAY) /* Gemini wraps an error so */
        tree = js_at(tree, 0);
    if (is_error(tree)) {
        AUTO_MEM char *text = js_print(tree);
        char message[sizeof stream->message];
        enum engine_error error = chat_error(0, text, strlen(text), message, sizeof message);
        fail(stream, error, message);
        return;
    }
    take_usage(stream, js_get(tree, "usage"));
    const struct js *choice = js_at(js_get(tree, "choices"), 0);
    take_message(stream, js_get(choice, "delta"));
    take_message(stream, js_get(choice, "message"));
    const char *finish = js_text(js_get(choice, "finish_reason"));
    if (!finish)
        return;
    stream->has_finish = true;
    stream->is_cut = strcmp(finish, "length") == 0;
}

static void end(struct chat_stream *stream)
{
    think_filter_finish(&stream->think, &stream->text);
    tell_text(stream);
    if (stream->error == ENGINE_OK)
        stream->is_done = true;
}

static void on_event(void *arg, const char *type, const char *data, size_t len)
{
    struct chat_stream *stream = arg;
    (void)type;
    if (stream->is_done || stream->error != ENGINE_OK || len == 0)
        return;
    if (strncmp(data, "[DONE]", 6) == 0) {
        end(stream);
        return;
    }
    AUTO(js) tree = NULL;
    if (js_parse(data, len, DEPTH_MOST, &tree, NULL) == OK)
        take_tree(stream, tree);
    else
        stream->unreadable++;
}

/* ---- bytes ---- */

static void pass(struct chat_stream *stream, const char *data, size_t len)
{
    if (len > 0 && sse_input(&stream->sse, data, len, on_event, stream) != OK)
        fail(stream, ENGINE_PROTOCOL, "the server's answer has an event that is too long");
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
            if (stream->held_len < sizeof error_field - 1)
                continue;
            pass(stream, data_field, sizeof data_field - 1);
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
        fail(stream, ENGINE_PROTOCOL, "the server's answer is too long");
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
        end(stream);
    else if (stream->unreadable && !stream->has_text)
        fail(stream, ENGINE_PROTOCOL, "the server's answer is no JSON");
    else
        fail(stream, ENGINE_TRANSIENT, "the server's answer ends in the middle");
}
