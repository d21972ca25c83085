/* What the model asked to be run: the built-in tools at once, the agent's through the call; then
 * the model is asked again with the results, TALK_STEPS_MOST times at most. What it asks for is
 * somebody else's text: what is too long or cannot be read is not run, and the model is told. */
#include <stdio.h>
#include <string.h>

#include "base/js.h"
#include "base/mem.h"
#include "talk/internal.h"
#include "talk/prompt.h"
#include "text/phrase.h"

void tools_clear(struct reply *reply)
{
    for (size_t i = 0; i < reply->call_count; i++) {
        struct reply_call *call = &reply->calls[i];
        mem_free((char *)call->call.id);
        mem_free((char *)call->call.name);
        mem_free((char *)call->call.arguments);
        mem_free((char *)call->call.extra);
        mem_free(call->result);
        *call = (struct reply_call){0};
    }
    reply->call_count = reply->call_excess = 0;
}

bool tools_are_offered(const struct talk *talk)
{
    return !talk->reply.is_greeting && talk->reply.steps < TALK_STEPS_MOST;
}

/* ---- what is asked for ---- */

/* Why a call cannot be run with these arguments; NULL: it can. */
static const char *fault_of(const char *arguments)
{
    size_t len = strlen(arguments);
    AUTO(js) tree = NULL;
    if (len > TALK_ARGUMENTS_MAX_BYTES)
        return "Failed: the arguments are too long.";
    if (js_parse(arguments, len, TALK_ARGUMENTS_DEPTH, &tree, NULL) != OK)
        return "Failed: the arguments are not JSON, or too deep.";
    return js_type(tree) == JS_OBJECT || js_type(tree) == JS_NULL
               ? NULL
               : "Failed: the arguments are not a JSON object.";
}

static char *copy_bounded(const char *text, size_t max_bytes)
{
    return text && strlen(text) <= max_bytes ? mem_strdup(text) : NULL;
}

void tools_take(struct reply *reply, const struct llm_tool_call *call)
{
    if (reply->call_count == TALK_CALLS_MOST) {
        reply->call_excess++;
        return;
    }
    const char *arguments = call->arguments && *call->arguments ? call->arguments : "{}";
    const char *fault = fault_of(arguments);
    struct reply_call *kept = &reply->calls[reply->call_count++];
    kept->result = mem_strdup(fault);
    kept->call = (struct llm_tool_call){
        .id = copy_bounded(call->id, TALK_CALL_NAME_MAX_BYTES),
        .name = copy_bounded(call->name, TALK_CALL_NAME_MAX_BYTES),
        .arguments = mem_strdup(fault ? "{}" : arguments),
        .extra = copy_bounded(call->extra, TALK_EXTRA_MAX_BYTES),
    };
    if (!kept->call.id)
        kept->call.id = mem_printf("call_%zu", reply->call_count);
    if (!kept->call.name)
        kept->call.name = mem_strdup("unknown");
}

/* ---- what comes of it ---- */

static void note(struct talk *talk)
{
    struct llm_tool_call calls[TALK_CALLS_MOST];
    const char *results[TALK_CALLS_MOST];
    const struct reply *reply = &talk->reply;
    for (size_t i = 0; i < reply->call_count; i++) {
        calls[i] = reply->calls[i].call;
        results[i] = reply->calls[i].result ? reply->calls[i].result
                                            : "Still running: the caller spoke meanwhile.";
    }
    history_add_calls(&talk->history, calls, results, reply->call_count);
    if (reply->call_excess == 0)
        return;
    AUTO_MEM char *text = mem_printf("%zu or more tool calls were not run: at most %d at once.",
                                     reply->call_excess, TALK_CALLS_MOST);
    history_add(&talk->history, LLM_SYSTEM, text);
}

void tools_abandon(struct talk *talk)
{
    for (size_t i = 0; i < talk->reply.call_count; i++) {
        struct reply_call *call = &talk->reply.calls[i];
        for (size_t k = 0; !call->result && k < ARRAY_LEN(talk->late); k++) {
            if (talk->late[k].id)
                continue;
            talk->late[k] = (struct late_tool){.id = call->id, .name = mem_strdup(call->call.name)};
            break;
        }
    }
    note(talk);
}

static char *change_language(struct talk *talk, const char *arguments)
{
    static const char *const allowed[] = {"hi", "en"};
    struct js *tree = NULL;
    if (js_parse(arguments, strlen(arguments), 8, &tree, NULL) != OK)
        return mem_strdup("Failed: the arguments are not JSON.");
    const char *iso = js_text_or(js_get(tree, "language"), "");
    char *result = mem_strdup("Failed: only Hindi (hi) and English (en) can be switched to.");
    for (size_t i = 0; i < ARRAY_LEN(allowed); i++) {
        if (strcmp(iso, allowed[i]) != 0)
            continue;
        snprintf(talk->iso, sizeof(talk->iso), "%s", allowed[i]);
        snprintf(talk->endpoint.iso, sizeof(talk->endpoint.iso), "%s", allowed[i]);
        talk->language = allowed[i];
        talk_do(talk, (struct talk_action){.what = TALK_DO_LANGUAGE, .text = allowed[i]});
        mem_free(result);
        result = mem_printf("Done: from now on speak %s, whatever was said before.",
                            i == 0 ? "Hindi" : "English");
    }
    js_free(tree);
    return result;
}

static bool is_named(const struct reply_call *call, const struct llm_tool *tool)
{
    return strcmp(call->call.name ? call->call.name : "", tool->name) == 0;
}

static bool is_offered(const struct talk *talk, const char *name)
{
    for (size_t i = 0; i < talk->config->tool_count; i++)
        if (strcmp(talk->config->tools[i].name, name) == 0)
            return true;
    return false;
}

static void start(struct talk *talk, struct reply_call *call)
{
    if (call->result)
        return; /* refused as it came */
    if (is_named(call, &prompt_end_call) && talk->config->has_end_call) {
        talk->is_ending = true;
        call->result = mem_strdup("The call ends when your last words have been heard.");
    } else if (is_named(call, &prompt_change_language) && talk->config->has_change_language) {
        call->result = change_language(talk, call->call.arguments);
    } else if (call->call.name && is_offered(talk, call->call.name)) {
        call->id = ++talk->last_tool;
        talk_do(talk, (struct talk_action){.what = TALK_DO_RUN_TOOL,
                                           .gen = call->id,
                                           .name = call->call.name,
                                           .text = call->call.arguments});
    } else {
        call->result = mem_strdup("Failed: there is no such tool.");
    }
}

static bool is_all_done(const struct reply *reply)
{
    for (size_t i = 0; i < reply->call_count; i++)
        if (!reply->calls[i].result)
            return false;
    return true;
}

static void conclude(struct talk *talk, int64_t now_us)
{
    struct reply *reply = &talk->reply;
    note(talk);
    bool was_only_goodbye = talk->is_ending && reply->call_count == 1;
    bool has_text = reply->has_text;
    tools_clear(reply);
    reply->hold_us = reply->due_us = INT64_MAX;
    if (was_only_goodbye) {
        if (reply->line)
            speech_close(reply->line);
        reply->line = NULL;
        reply_clear(talk);
        if (!has_text)
            voice_say(talk, SPEECH_REPLY, phrase_line(PHRASE_GOODBYE, talk->iso),
                      talk->config->is_interruptible);
        return;
    }
    reply->steps++;
    reply->tries = 0;
    reply->stage = REPLY_ASKED;
    reply_reopened(talk, now_us); /* asks again, with the results */
}

void tools_start(struct talk *talk, int64_t now_us)
{
    struct reply *reply = &talk->reply;
    reply->stage = REPLY_TOOLS;
    reply->due_us = now_us + TALK_TOOL_US;
    reply->hold_us = reply->is_held ? INT64_MAX : now_us + TALK_HOLD_US;
    for (size_t i = 0; i < reply->call_count; i++)
        start(talk, &reply->calls[i]);
    if (is_all_done(reply))
        conclude(talk, now_us);
}

void tools_overdue(struct talk *talk, int64_t now_us)
{
    struct reply *reply = &talk->reply;
    for (size_t i = 0; i < reply->call_count; i++)
        if (!reply->calls[i].result)
            reply->calls[i].result = mem_strdup("Failed: it did not answer in time.");
    conclude(talk, now_us);
}

static void note_late(struct talk *talk, uint32_t id, const char *result)
{
    for (size_t i = 0; i < ARRAY_LEN(talk->late); i++) {
        struct late_tool *late = &talk->late[i];
        if (late->id != id)
            continue;
        AUTO_MEM char *text =
            mem_printf("%s, which was asked for earlier, has answered: %s", late->name, result);
        history_add(&talk->history, LLM_SYSTEM, text);
        mem_free(late->name);
        *late = (struct late_tool){0};
    }
}

void talk_tool_done(struct talk *talk, uint32_t id, bool is_ok, const char *result, int64_t now_us)
{
    static const char failed[] = "Failed: it could not be checked. Tell the caller so, carry on "
                                 "and invent nothing.";
    struct reply *reply = &talk->reply;
    char *text = is_ok && result ? mem_strdup(result)
                                 : mem_printf("%s%s%s", failed, result ? " Reason: " : "",
                                              result ? result : "");
    bool is_known = false;
    for (size_t i = 0; reply->stage == REPLY_TOOLS && i < reply->call_count; i++) {
        if (reply->calls[i].id != id || reply->calls[i].result)
            continue;
        reply->calls[i].result = text;
        is_known = true;
    }
    if (!is_known) {
        note_late(talk, id, text);
        mem_free(text);
        return;
    }
    if (is_all_done(reply))
        conclude(talk, now_us);
    talk_settle(talk, now_us);
}
