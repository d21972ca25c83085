/* The dialect of Anthropic's Messages: how a request is written and what its events mean.
 *
 * The agent's instructions and tools are the same in every request of an agent, and what was said
 * is in every further request of a call, so the ends of both are marked to be cached by the vendor.
 * For its cache, messages stand after all of `system`: so what the service notes between turns,
 * and passages, which change, are no system text here but notes among the user's words. All results
 * of tools that were called together go into one message of the user, as the vendor insists; so
 * does a first message of the user. Wire facts: docs/engines.md, Anthropic. */
#include <ctype.h>
#include <string.h>

#include "base/js.h"
#include "base/mem.h"
#include "vendor/chat.h"
#include "vendor/chat_lesson.h"
#include "vendor/chat_name.h"
#include "vendor/internal.h"
#include "vendor/vendor_error.h"

enum { DEPTH_MAX = 64, TOKENS_STANDARD = 1024 /* max_tokens is required */ };

/* The request. */

static void mark_cached(struct js_out *out)
{
    js_out_key(out, "cache_control");
    js_out_object(out);
    js_out_key(out, "type");
    js_out_text(out, "ephemeral");
    js_out_object_end(out);
}

static void write_text_block(struct js_out *out, const char *text, bool is_cached)
{
    js_out_object(out);
    js_out_key(out, "type");
    js_out_text(out, "text");
    js_out_key(out, "text");
    js_out_text(out, text);
    if (is_cached)
        mark_cached(out);
    js_out_object_end(out);
}

static bool has_instructions(const struct llm_request *request)
{
    const struct llm_message *first = request->messages;
    return request->message_count > 0 && first->role == LLM_SYSTEM && first->text && *first->text;
}

/* The agent's instructions. */
static void write_system(struct js_out *out, const struct llm_request *request)
{
    js_out_key(out, "system");
    js_out_array(out);
    if (has_instructions(request))
        write_text_block(out, request->messages[0].text, true);
    js_out_array_end(out);
}

/* An empty object where the text is no JSON object. */
static void write_json(struct js_out *out, const char *text)
{
    AUTO(js) tree = NULL;
    if (text && js_parse(text, strlen(text), DEPTH_MAX, &tree, NULL) == OK &&
        js_type(tree) == JS_OBJECT) {
        js_out_js(out, tree);
        return;
    }
    js_out_object(out);
    js_out_object_end(out);
}

/* Of letters, digits, _ and - alone; another engine that was asked before may have had others. */
static void write_id(struct js_out *out, const char *key, const char *id)
{
    AUTO_MEM char *text = mem_strdup(id);
    for (char *at = text; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr("_-", *at))
            *at = '_';
    js_out_key(out, key);
    js_out_text(out, text);
}

static void write_call(struct js_out *out, const struct llm_tool_call *call, bool is_cached)
{
    char name[CHAT_NAME_SIZE];
    js_out_object(out);
    js_out_key(out, "type");
    js_out_text(out, "tool_use");
    write_id(out, "id", call->id);
    js_out_key(out, "name");
    js_out_text(out, chat_name(call->name, name));
    js_out_key(out, "input");
    write_json(out, call->arguments);
    if (is_cached)
        mark_cached(out);
    js_out_object_end(out);
}

static void write_result(struct js_out *out, const struct llm_message *message, bool is_cached)
{
    js_out_object(out);
    js_out_key(out, "type");
    js_out_text(out, "tool_result");
    write_id(out, "tool_use_id", message->tool_call_id);
    js_out_key(out, "content");
    js_out_text(out, message->text ? message->text : "");
    if (is_cached)
        mark_cached(out);
    js_out_object_end(out);
}

static void write_note(struct js_out *out, const char *text, bool is_cached)
{
    AUTO_MEM char *note = mem_printf("<note from=\"service\">\n%s\n</note>", text);
    write_text_block(out, note, is_cached);
}

/* Text blocks must not be empty. is_cached: the last block is marked. */
static void write_blocks(struct js_out *out, const struct llm_message *message, bool is_cached)
{
    bool ends_here = is_cached && message->call_count == 0;
    if (message->role == LLM_TOOL)
        write_result(out, message, ends_here);
    else if (message->role == LLM_SYSTEM)
        write_note(out, message->text, ends_here);
    else if (message->text && *message->text)
        write_text_block(out, message->text, ends_here);
    for (size_t i = 0; i < message->call_count; i++)
        write_call(out, &message->calls[i], is_cached && i + 1 == message->call_count);
}

static const char *role_of(const struct llm_message *message)
{
    return message->role == LLM_ASSISTANT ? "assistant" : "user";
}

static bool is_empty(const struct llm_message *message)
{
    return message->role != LLM_TOOL && message->call_count == 0 &&
           (!message->text || !*message->text);
}

/* The last message of those that further requests repeat; 0: none but the instructions. */
static size_t cached_message(const struct llm_request *request)
{
    size_t last = MIN(request->stable_count, request->message_count);
    while (last > 1 && is_empty(&request->messages[last - 1]))
        last--;
    return last > 1 ? last - 1 : 0;
}

static void open_message(struct js_out *out, const char *role)
{
    js_out_object(out);
    js_out_key(out, "role");
    js_out_text(out, role);
    js_out_key(out, "content");
    js_out_array(out);
}

static void close_message(struct js_out *out)
{
    js_out_array_end(out);
    js_out_object_end(out);
}

/* Neighbours of one role are one message; the first and the last are the user's. */
static void write_messages(struct js_out *out, const struct llm_request *request)
{
    static const char begin[] = "(The caller has joined the call.)", on[] = "(Go on.)";
    const char *role = "user";
    bool has_any = false;
    size_t cached = cached_message(request);
    js_out_key(out, "messages");
    js_out_array(out);
    open_message(out, role);
    for (size_t i = has_instructions(request) ? 1 : 0; i < request->message_count; i++) {
        const struct llm_message *message = &request->messages[i];
        if (is_empty(message))
            continue;
        if (!has_any && message->role == LLM_ASSISTANT)
            write_text_block(out, begin, false);
        if (strcmp(role, role_of(message)) != 0) {
            role = role_of(message);
            close_message(out);
            open_message(out, role);
        }
        write_blocks(out, message, cached > 0 && i == cached);
        has_any = true;
    }
    if (!has_any)
        write_text_block(out, begin, false);
    close_message(out);
    if (strcmp(role, "assistant") == 0) {
        open_message(out, "user");
        write_text_block(out, on, false);
        close_message(out);
    }
    js_out_array_end(out);
}

static void write_tools(struct js_out *out, const struct llm_request *request)
{
    char name[CHAT_NAME_SIZE];
    js_out_key(out, "tools");
    js_out_array(out);
    for (size_t i = 0; i < request->tool_count; i++) {
        const struct llm_tool *tool = &request->tools[i];
        js_out_object(out);
        js_out_key(out, "name");
        js_out_text(out, chat_name(tool->name, name));
        js_out_key(out, "description");
        js_out_text(out, tool->description ? tool->description : "");
        js_out_key(out, "input_schema");
        write_json(out, tool->parameters && *tool->parameters ? tool->parameters : NULL);
        if (i + 1 == request->tool_count)
            mark_cached(out);
        js_out_object_end(out);
    }
    js_out_array_end(out);
    if (!request->is_without_calls)
        return;
    js_out_key(out, "tool_choice");
    js_out_object(out);
    js_out_key(out, "type");
    js_out_text(out, "none");
    js_out_object_end(out);
}

static enum err write_request(const struct llm_request *request,
                              const struct chat_settings *settings, struct buf *out)
{
    struct js_out writer;
    js_out_init(&writer, out);
    js_out_object(&writer);
    js_out_key(&writer, "model");
    js_out_text(&writer, settings->model);
    js_out_key(&writer, "max_tokens");
    js_out_int(&writer, request->max_tokens > 0 ? request->max_tokens : TOKENS_STANDARD);
    js_out_key(&writer, "stream");
    js_out_bool(&writer, true);
    if (!(settings->quirks & CHAT_NO_TEMPERATURE)) {
        js_out_key(&writer, "temperature");
        js_out_real(&writer, MIN(request->temperature, 1.0));
    }
    write_system(&writer, request);
    if (chat_request_names_tools(request, settings->quirks))
        write_tools(&writer, request);
    write_messages(&writer, request);
    js_out_object_end(&writer);
    return out->is_full ? ERR_LIMIT : OK;
}

/* The stream. */

/* A block begins: text, or a tool with its name; thoughts are not spoken. */
static void take_block(struct chat_stream *stream, const struct js *block, int64_t index)
{
    const char *type = js_text_or(js_get(block, "type"), "");
    if (strcmp(type, "text") == 0)
        chat_stream_text(stream, js_text(js_get(block, "text")));
    if (strcmp(type, "tool_use") != 0)
        return;
    struct chat_call *call = index >= 0 ? chat_stream_call(stream, (size_t)index) : NULL;
    if (!call)
        return;
    const struct js *input = js_get(block, "input");
    chat_call_set(&call->id, js_text(js_get(block, "id")));
    chat_call_set(&call->name, js_text(js_get(block, "name")));
    if (js_count(input) > 0) /* whole; it is empty where its pieces follow */
        (void)js_write(input, &call->arguments);
}

static void take_delta(struct chat_stream *stream, const struct js *delta, int64_t index)
{
    chat_stream_text(stream, js_text(js_get(delta, "text")));
    const char *part = js_text(js_get(delta, "partial_json"));
    struct chat_call *call = part && index >= 0 ? chat_stream_call(stream, (size_t)index) : NULL;
    if (call)
        (void)buf_append_str(&call->arguments, part);
}

static void take_stop(struct chat_stream *stream, const char *reason)
{
    if (!reason)
        return;
    stream->has_finish = true;
    stream->is_cut = strcmp(reason, "max_tokens") == 0;
}

/* An answer that is no stream. */
static void take_whole(struct chat_stream *stream, const struct js *message)
{
    const struct js *content = js_get(message, "content");
    for (size_t i = 0; i < js_count(content); i++)
        take_block(stream, js_at(content, i), (int64_t)i);
    take_stop(stream, js_text(js_get(message, "stop_reason")));
}

static void take_error(struct chat_stream *stream, const struct js *tree)
{
    AUTO_MEM char *text = js_print(tree);
    char message[sizeof(stream->message)];
    enum engine_error error = vendor_error(0, text, strlen(text), message, sizeof(message));
    chat_stream_fail(stream, error, message);
}

static void on_start(struct chat_stream *stream, const struct js *event)
{
    take_block(stream, js_get(event, "content_block"), js_int(js_get(event, "index"), -1));
}

static void on_delta(struct chat_stream *stream, const struct js *event)
{
    take_delta(stream, js_get(event, "delta"), js_int(js_get(event, "index"), -1));
}

static void on_message_delta(struct chat_stream *stream, const struct js *event)
{
    take_stop(stream, js_text(js_get(js_get(event, "delta"), "stop_reason")));
}

static void on_message_stop(struct chat_stream *stream, const struct js *event)
{
    (void)event;
    chat_stream_end(stream);
}

static void read_event(struct chat_stream *stream, const struct js *event)
{
    static const struct {
        const char *type;
        chat_read_fn *read;
    } kinds[] = {{"content_block_start", on_start},
                 {"content_block_delta", on_delta},
                 {"message_delta", on_message_delta},
                 {"message_stop", on_message_stop},
                 {"message", take_whole},
                 {"error", take_error}};
    const char *type = js_text_or(js_get(event, "type"), "");
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (strcmp(kinds[i].type, type) == 0)
            kinds[i].read(stream, event);
}

/* The account. */

const struct chat_dialect anthropic_dialect = {
    .path = "/messages",
    .key_header = "x-api-key",
    .key_prefix = "",
    .fixed = {"anthropic-version", "2023-06-01"},
    .write = write_request,
    .read = read_event,
};

bool anthropic_configure(void *env, const struct config *config, const struct engine_info *info,
                         void **out_state)
{
    static const struct account_plan plan = {"https://api.anthropic.com/v1", ACCOUNT_NEEDS_KEY};
    *out_state = chat_engine_new(env, config, info, &plan, &anthropic_dialect);
    return *out_state != NULL;
}
