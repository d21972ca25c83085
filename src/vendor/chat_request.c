/* Fields and their order as OpenAI documents them; which servers refuse which: docs/engines.md. */
#include "vendor/chat_request.h"

#include <string.h>

#include "base/arena.h"
#include "base/js.h"
#include "vendor/chat_lesson.h"
#include "vendor/chat_name.h"

enum { DEPTH_MAX = 64 };

static const char *const role_names[] = {
    [LLM_SYSTEM] = "system",
    [LLM_USER] = "user",
    [LLM_ASSISTANT] = "assistant",
    [LLM_TOOL] = "tool",
};

static struct js *parsed(const char *text)
{
    struct js *tree = NULL;
    if (!text || js_parse(text, strlen(text), DEPTH_MAX, &tree, NULL) != OK)
        return NULL;
    return tree;
}

static void write_calls(struct js_out *out, const struct llm_message *message)
{
    char name[CHAT_NAME_SIZE];
    js_out_key(out, "tool_calls");
    js_out_array(out);
    for (size_t i = 0; i < message->call_count; i++) {
        const struct llm_tool_call *call = &message->calls[i];
        AUTO(js) extra = parsed(call->extra);
        js_out_object(out);
        js_out_key(out, "id");
        js_out_text(out, call->id);
        js_out_key(out, "type");
        js_out_text(out, "function");
        js_out_key(out, "function");
        js_out_object(out);
        js_out_key(out, "name");
        js_out_text(out, chat_name(call->name, name));
        js_out_key(out, "arguments");
        js_out_text(out, call->arguments && *call->arguments ? call->arguments : "{}");
        js_out_object_end(out);
        if (extra) {
            js_out_key(out, "extra_content");
            js_out_js(out, extra);
        }
        js_out_object_end(out);
    }
    js_out_array_end(out);
}

static void write_message(struct js_out *out, const struct llm_message *message)
{
    js_out_object(out);
    js_out_key(out, "role");
    js_out_text(out, role_names[message->role]);
    js_out_key(out, "content");
    js_out_text(out, message->text || message->call_count ? message->text : "");
    if (message->call_count)
        write_calls(out, message);
    if (message->role == LLM_TOOL) {
        js_out_key(out, "tool_call_id");
        js_out_text(out, message->tool_call_id);
    }
    js_out_object_end(out);
}

/* All that stands in system messages, joined; for servers that take one, and at the front. */
static void write_one_system(struct js_out *out, const struct llm_request *request)
{
    AUTO_BUF text = BUF_INIT(1024 * 1024);
    for (size_t i = 0; i < request->message_count; i++)
        if (request->messages[i].role == LLM_SYSTEM && request->messages[i].text)
            (void)buf_printf(&text, "%s%s", text.len ? "\n\n" : "", request->messages[i].text);
    struct llm_message system = {.role = LLM_SYSTEM, .text = text.data};
    if (text.len > 0)
        write_message(out, &system);
}

static void write_messages(struct js_out *out, const struct llm_request *request, unsigned quirks)
{
    bool is_one = quirks & CHAT_ONE_SYSTEM;
    js_out_key(out, "messages");
    js_out_array(out);
    if (is_one)
        write_one_system(out, request);
    for (size_t i = 0; i < request->message_count; i++)
        if (!is_one || request->messages[i].role != LLM_SYSTEM)
            write_message(out, &request->messages[i]);
    js_out_array_end(out);
}

bool chat_request_names_tools(const struct llm_request *request, unsigned quirks)
{
    unsigned refused =
        CHAT_NO_TOOLS | (request->is_without_calls ? (unsigned)CHAT_NO_TOOL_CHOICE : 0);
    return request->tool_count > 0 && !(quirks & refused);
}

static void write_tools(struct js_out *out, const struct llm_request *request)
{
    char name[CHAT_NAME_SIZE];
    if (request->is_without_calls) {
        js_out_key(out, "tool_choice");
        js_out_text(out, "none");
    }
    js_out_key(out, "tools");
    js_out_array(out);
    for (size_t i = 0; i < request->tool_count; i++) {
        const struct llm_tool *tool = &request->tools[i];
        AUTO(js) parameters = parsed(tool->parameters);
        js_out_object(out);
        js_out_key(out, "type");
        js_out_text(out, "function");
        js_out_key(out, "function");
        js_out_object(out);
        js_out_key(out, "name");
        js_out_text(out, chat_name(tool->name, name));
        js_out_key(out, "description");
        js_out_text(out, tool->description ? tool->description : "");
        js_out_key(out, "parameters");
        if (parameters) {
            js_out_js(out, parameters);
        } else {
            js_out_object(out);
            js_out_object_end(out);
        }
        js_out_object_end(out);
        js_out_object_end(out);
    }
    js_out_array_end(out);
}

static void write_options(struct js_out *out, const struct llm_request *request,
                          const struct chat_settings *settings)
{
    unsigned quirks = settings->quirks;
    if (!(quirks & CHAT_NO_STREAM_OPTIONS)) {
        js_out_key(out, "stream_options");
        js_out_object(out);
        js_out_key(out, "include_usage");
        js_out_bool(out, true);
        js_out_object_end(out);
    }
    if (!(quirks & CHAT_NO_TEMPERATURE)) {
        js_out_key(out, "temperature");
        js_out_real(out, request->temperature);
    }
    if (!(quirks & CHAT_NO_CAP) && request->max_tokens > 0) {
        js_out_key(out, quirks & CHAT_COMPLETION_CAP ? "max_completion_tokens" : "max_tokens");
        js_out_int(out, request->max_tokens);
    }
    if (!(quirks & CHAT_NO_REASONING) && *settings->reasoning) {
        js_out_key(out, "reasoning_effort");
        js_out_text(out, settings->reasoning);
    }
}

enum err chat_request_write(const struct llm_request *request, const struct chat_settings *settings,
                            struct buf *out)
{
    struct js_out writer;
    js_out_init(&writer, out);
    js_out_object(&writer);
    js_out_key(&writer, "model");
    js_out_text(&writer, settings->model);
    js_out_key(&writer, "stream");
    js_out_bool(&writer, true);
    write_options(&writer, request, settings);
    write_messages(&writer, request, settings->quirks);
    if (chat_request_names_tools(request, settings->quirks))
        write_tools(&writer, request);
    js_out_object_end(&writer);
    return out->is_full ? ERR_LIMIT : OK;
}

static void copy_calls(struct llm_message *message, struct arena *arena)
{
    struct llm_tool_call *calls = arena_new_n(arena, struct llm_tool_call, message->call_count);
    for (size_t i = 0; i < message->call_count; i++) {
        const struct llm_tool_call *call = &message->calls[i];
        calls[i] = (struct llm_tool_call){
            arena_strdup(arena, call->id), arena_strdup(arena, call->name),
            arena_strdup(arena, call->arguments), arena_strdup(arena, call->extra)};
    }
    message->calls = calls;
}

const struct llm_request *chat_request_copy(const struct llm_request *request, struct arena *arena)
{
    struct llm_request *copy = arena_new_of(arena, struct llm_request);
    struct llm_message *messages = arena_new_n(arena, struct llm_message, request->message_count);
    struct llm_tool *tools = arena_new_n(arena, struct llm_tool, request->tool_count);
    for (size_t i = 0; i < request->message_count; i++) {
        messages[i] = request->messages[i];
        messages[i].text = arena_strdup(arena, messages[i].text);
        messages[i].tool_call_id = arena_strdup(arena, messages[i].tool_call_id);
        copy_calls(&messages[i], arena);
    }
    if (request->tool_count)
        memcpy(tools, request->tools, request->tool_count * sizeof(*tools));
    *copy = (struct llm_request){.messages = messages,
                                 .message_count = request->message_count,
                                 .stable_count = request->stable_count,
                                 .tools = tools,
                                 .tool_count = request->tool_count,
                                 .is_without_calls = request->is_without_calls,
                                 .temperature = request->temperature,
                                 .max_tokens = request->max_tokens};
    return copy;
}
