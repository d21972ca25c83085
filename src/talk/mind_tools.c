/* What the model asked to be run: the built-in tools at once, the agent's through the call; then
 * the model is asked again with the results, REPLY_STEPS_MAX times at most. What it asks for is
 * somebody else's text: what is too long or cannot be read is not run, and the model is told. */
#include <string.h>

#include "base/attr.h"
#include "base/js.h"
#include "base/mem.h"
#include "talk/mind.h"
#include "talk/prompt.h"

enum {
    ARGUMENTS_MAX_BYTES = 16 * 1024, /* of one call */
    ARGUMENTS_DEPTH = 16,
    CALL_NAME_MAX_BYTES = 256,
    EXTRA_MAX_BYTES = 32 * 1024, /* signatures of a model's thoughts have some kilobytes */
};

void reply_clear_calls(struct reply *reply)
{
    for (size_t i = 0; i < reply->tools.count; i++) {
        struct reply_call *call = &reply->tools.calls[i];
        mem_free((char *)call->call.id);
        mem_free((char *)call->call.name);
        mem_free((char *)call->call.arguments);
        mem_free((char *)call->call.extra);
        mem_free(call->result);
        *call = (struct reply_call){0};
    }
    reply->tools.count = reply->tools.excess = reply->tools.ends = 0;
}

bool reply_may_use_tools(const struct reply *reply)
{
    return !reply->is_greeting && reply->tools.steps < REPLY_STEPS_MAX;
}

static bool reply_has_all_results(const struct reply *reply)
{
    for (size_t i = 0; i < reply->tools.count; i++)
        if (!reply->tools.calls[i].result)
            return false;
    return true;
}

/* What is asked for. */

/* Why a call cannot be run with these arguments; NULL: it can. */
static const char *fault_of(const char *arguments)
{
    size_t len = strlen(arguments);
    AUTO(js) tree = NULL;
    if (len > ARGUMENTS_MAX_BYTES)
        return "Failed: the arguments are too long.";
    if (js_parse(arguments, len, ARGUMENTS_DEPTH, &tree, NULL) != OK)
        return "Failed: the arguments are not JSON, or too deep.";
    return js_type(tree) == JS_OBJECT || js_type(tree) == JS_NULL
               ? NULL
               : "Failed: the arguments are not a JSON object.";
}

static char *copy_bounded(const char *text, size_t max_bytes)
{
    return text && strlen(text) <= max_bytes ? mem_strdup(text) : NULL;
}

void reply_take_call(struct reply *reply, const struct llm_tool_call *call, int64_t now_us)
{
    reply->due_us = now_us + REPLY_MODEL_US;
    if (reply->tools.count == REPLY_CALLS_MAX) {
        reply->tools.excess++;
        return;
    }
    const char *arguments = call->arguments && *call->arguments ? call->arguments : "{}";
    const char *fault = fault_of(arguments);
    struct reply_call *kept = &reply->tools.calls[reply->tools.count++];
    kept->result = mem_strdup(fault);
    kept->call = (struct llm_tool_call){
        .id = copy_bounded(call->id, CALL_NAME_MAX_BYTES),
        .name = copy_bounded(call->name, CALL_NAME_MAX_BYTES),
        .arguments = mem_strdup(fault ? "{}" : arguments),
        .extra = copy_bounded(call->extra, EXTRA_MAX_BYTES),
    };
    if (!kept->call.id)
        kept->call.id = mem_printf("call_%zu", reply->tools.count);
    if (!kept->call.name)
        kept->call.name = mem_strdup("unknown");
}

/* What comes of it. */

/* Vendors refuse a conversation in which two calls have one id, whoever gave it. */
static void name_apart(struct mind *mind)
{
    struct reply_tools *tools = &mind->reply.tools;
    for (size_t i = 0; i < tools->count; i++) {
        const char **id = &tools->calls[i].call.id;
        bool is_known = history_has_call(&mind->history, *id);
        for (size_t k = 0; k < i && !is_known; k++)
            is_known = strcmp(tools->calls[k].call.id, *id) == 0;
        if (!is_known)
            continue;
        mem_free((char *)*id);
        *id = mem_printf("call_%u_%zu_again", mind->last_gen, i);
    }
}

static void note(struct mind *mind)
{
    struct history_call calls[REPLY_CALLS_MAX];
    const struct reply *reply = &mind->reply;
    name_apart(mind);
    for (size_t i = 0; i < reply->tools.count; i++) {
        const struct reply_call *call = &reply->tools.calls[i];
        calls[i] = (struct history_call){.call = &call->call, .result = call->result};
        if (call->result)
            continue;
        calls[i].result = "Still running: the caller spoke meanwhile.";
        calls[i].run = call->id;
    }
    history_add_calls(&mind->history, calls, reply->tools.count);
    if (reply->tools.excess == 0)
        return;
    AUTO_MEM char *text = mem_printf("%zu or more tool calls were not run: at most %d at once.",
                                     reply->tools.excess, REPLY_CALLS_MAX);
    history_add(&mind->history, LLM_SYSTEM, text);
}

void late_tool_clear(struct late_tool *late)
{
    mem_free(late->name);
    mem_free(late->arguments);
    *late = (struct late_tool){0};
}

static struct late_tool *find_late(struct mind *mind, uint32_t id)
{
    for (size_t i = 0; i < ARRAY_LEN(mind->late); i++)
        if (mind->late[i].id == id)
            return &mind->late[i];
    return NULL;
}

void mind_abandon_tools(struct mind *mind)
{
    for (size_t i = 0; i < mind->reply.tools.count; i++) {
        const struct reply_call *call = &mind->reply.tools.calls[i];
        struct late_tool *late =
            call->result || find_late(mind, call->id) ? NULL : find_late(mind, 0);
        if (late)
            *late = (struct late_tool){.id = call->id,
                                       .name = mem_strdup(call->call.name),
                                       .arguments = mem_strdup(call->call.arguments)};
    }
    note(mind);
}

/* What runs already. */

static bool is_same(const struct llm_tool_call *call, const char *name, const char *arguments)
{
    AUTO(js) ours = NULL;
    AUTO(js) theirs = NULL;
    return strcmp(call->name, name) == 0 &&
           js_parse(call->arguments, strlen(call->arguments), ARGUMENTS_DEPTH, &ours, NULL) == OK &&
           js_parse(arguments, strlen(arguments), ARGUMENTS_DEPTH, &theirs, NULL) == OK &&
           js_equal(ours, theirs);
}

/* A run of the same tool with the same arguments that has not answered yet: its answer serves both.
 * 0: there is none. */
static uint32_t running_twin(struct mind *mind, const struct reply_call *call)
{
    for (struct reply_call *other = mind->reply.tools.calls; other < call; other++)
        if (other->id && !other->result &&
            is_same(&call->call, other->call.name, other->call.arguments))
            return other->id;
    for (size_t i = 0; i < ARRAY_LEN(mind->late); i++) {
        struct late_tool *late = &mind->late[i];
        if (!late->id || !is_same(&call->call, late->name, late->arguments))
            continue;
        uint32_t id = late->id;
        late_tool_clear(late);
        return id;
    }
    return 0;
}

static char *change_language(struct reply *reply, const char *arguments)
{
    static const struct {
        const char *iso, *name;
    } allowed[] = {{"hi", "Hindi"}, {"en", "English"}};
    AUTO(js) tree = NULL;
    if (js_parse(arguments, strlen(arguments), 8, &tree, NULL) != OK)
        return mem_strdup("Failed: the arguments are not JSON.");
    const char *iso = js_text_or(js_get(tree, "language"), "");
    for (size_t i = 0; i < ARRAY_LEN(allowed); i++) {
        if (strcmp(iso, allowed[i].iso) != 0)
            continue;
        reply_wish(reply,
                   (struct reply_want){.wish = REPLY_WANTS_LANGUAGE, .text = allowed[i].iso});
        return mem_printf("Done: from now on speak %s, whatever was said before.", allowed[i].name);
    }
    return mem_strdup("Failed: only Hindi (hi) and English (en) can be switched to.");
}

static bool is_named(const struct reply_call *call, const struct llm_tool *tool)
{
    return strcmp(call->call.name ? call->call.name : "", tool->name) == 0;
}

static bool is_offered(const struct talk_config *config, const char *name)
{
    for (size_t i = 0; i < config->tool_count; i++)
        if (strcmp(config->tools[i].name, name) == 0)
            return true;
    return false;
}

static void run(struct mind *mind, struct reply_call *call)
{
    mind->reply.tools.has_run = true;
    call->id = running_twin(mind, call);
    if (call->id)
        return;
    call->id = ++mind->last_tool;
    reply_wish(&mind->reply, (struct reply_want){.wish = REPLY_WANTS_RUN,
                                                 .id = call->id,
                                                 .name = call->call.name,
                                                 .text = call->call.arguments});
}

static void start(struct mind *mind, struct reply_call *call)
{
    struct reply *reply = &mind->reply;
    if (call->result)
        return; /* refused as it came */
    if (is_named(call, &prompt_end_call) && mind->config->has_end_call) {
        reply->is_ending = true;
        reply->tools.ends++;
        reply_wish(reply, (struct reply_want){.wish = REPLY_WANTS_HANG_UP});
        call->result = mem_strdup("The call ends when your last words have been heard.");
    } else if (is_named(call, &prompt_change_language) && mind->config->has_change_language) {
        call->result = change_language(reply, call->call.arguments);
    } else if (call->call.name && is_offered(mind->config, call->call.name)) {
        run(mind, call);
    } else {
        call->result = mem_strdup("Failed: there is no such tool.");
    }
}

static void go_on(struct mind *mind, int64_t now_us)
{
    note(mind);
    reply_go_on(&mind->reply, now_us);
}

void mind_start_tools(struct mind *mind, int64_t now_us)
{
    struct reply *reply = &mind->reply;
    reply->due_us = now_us + REPLY_TOOL_US;
    reply->hold_us = reply->is_held ? INT64_MAX : now_us + REPLY_HOLD_US;
    for (size_t i = 0; i < reply->tools.count; i++)
        start(mind, &reply->tools.calls[i]);
    if (reply_has_all_results(reply))
        go_on(mind, now_us);
}

void mind_tools_are_late(struct mind *mind, int64_t now_us)
{
    struct reply *reply = &mind->reply;
    for (size_t i = 0; i < reply->tools.count; i++)
        if (!reply->tools.calls[i].result)
            reply->tools.calls[i].result = mem_strdup("Failed: it did not answer in time.");
    go_on(mind, now_us);
}

/* The result stands with every call that waits for this run, in the reply that is made and in those
 * that were cut. */
void mind_tool_done(struct mind *mind, uint32_t id, bool is_ok, const char *result, int64_t now_us)
{
    static const char failed[] = "Failed: it could not be checked. Tell the caller so, carry on "
                                 "and invent nothing.";
    struct reply *reply = &mind->reply;
    AUTO_MEM char *text = is_ok && result ? mem_strdup(result)
                                          : mem_printf("%s%s%s", failed, result ? " Reason: " : "",
                                                       result ? result : "");
    struct late_tool *late = find_late(mind, id);
    bool is_waited_for = false;
    history_settle(&mind->history, id, text);
    if (late)
        late_tool_clear(late);
    for (size_t i = 0; reply->state == REPLY_TOOLS && i < reply->tools.count; i++) {
        if (reply->tools.calls[i].id != id || reply->tools.calls[i].result)
            continue;
        reply->tools.calls[i].result = mem_strdup(text);
        is_waited_for = true;
    }
    if (is_waited_for && reply_has_all_results(reply))
        go_on(mind, now_us);
}
