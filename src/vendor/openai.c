/* The dialect of OpenAI's chat completions, which most servers speak: what their chunks mean, and
 * what their accounts are. The request is chat_request.c. */
#include <string.h>

#include "base/config.h"
#include "base/js.h"
#include "base/mem.h"
#include "vendor/chat.h"
#include "vendor/chat_lesson.h"
#include "vendor/chat_stream.h"
#include "vendor/internal.h"
#include "vendor/vendor_error.h"

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
    struct chat_call *call = index >= 0 ? chat_stream_call(stream, (size_t)index) : NULL;
    if (!call)
        return; /* more than anybody runs; the conversation takes fewer still, and says so */
    chat_call_set(&call->id, js_text(js_get(fragment, "id")));
    chat_call_set(&call->name, name);
    set_extra(call, js_get(fragment, "extra_content"));
    /* What does not fit is cut: the conversation refuses it by its length. */
    if (js_text(arguments))
        (void)buf_append_str(&call->arguments, js_text(arguments));
    else if (js_type(arguments) == JS_OBJECT)
        (void)js_write(arguments, &call->arguments);
}

static void take_message(struct chat_stream *stream, const struct js *message)
{
    const struct js *calls = js_get(message, "tool_calls");
    chat_stream_text(stream, js_text(js_get(message, "content")));
    chat_stream_text(stream, js_text(js_get(message, "refusal")));
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

static void openai_read(struct chat_stream *stream, const struct js *tree)
{
    if (js_type(tree) == JS_ARRAY) /* Gemini wraps an error so */
        tree = js_at(tree, 0);
    if (is_error(tree)) {
        AUTO_MEM char *text = js_print(tree);
        char message[sizeof(stream->message)];
        enum engine_error error = vendor_error(0, text, strlen(text), message, sizeof(message));
        chat_stream_fail(stream, error, message);
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

/* The account. */

const struct chat_dialect openai_dialect = {
    .path = "/chat/completions",
    .key_header = "Authorization",
    .key_prefix = "Bearer ",
    .write = chat_request_write,
    .read = openai_read,
};

/* OpenAI's own and Groq's servers want the newer name of the cap; others know the older one. */
static void know_beforehand(struct chat_engine *engine)
{
    const char *url = engine->account.url;
    bool is_new = strstr(url, "api.openai.com") || strstr(url, "api.groq.com");
    for (size_t i = 0; i < engine->model_count && is_new; i++)
        chat_lessons_keep(&engine->lessons[i], CHAT_COMPLETION_CAP, INT64_MAX);
}

bool openai_configure(void *env, const struct config *config, const struct engine_info *info,
                      void **out_state)
{
    static const struct account_plan plan = {"https://api.openai.com/v1", ACCOUNT_NEEDS_KEY_OR_URL};
    struct chat_engine *engine = chat_engine_new(env, config, info, &plan, &openai_dialect);
    if (engine)
        know_beforehand(engine);
    *out_state = engine;
    return engine != NULL;
}
