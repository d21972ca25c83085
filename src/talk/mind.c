#include "talk/mind.h"

#include "base/arena.h"
#include "base/attr.h"
#include "base/mem.h"
#include "talk/prompt.h"
#include "text/words.h"

enum { REQUEST_MAX_BYTES = 2 * 1024 * 1024 }; /* history, passages and tools at their greatest */

void mind_init(struct mind *mind, const struct talk_config *config, const char *iso)
{
    mind->config = config;
    history_init(&mind->history);
    reply_init(&mind->reply, iso);
}

void mind_clear(struct mind *mind)
{
    reply_clear(&mind->reply);
    history_clear(&mind->history);
    for (size_t i = 0; i < ARRAY_LEN(mind->late); i++)
        late_tool_clear(&mind->late[i]);
    arena_free(mind->request);
}

bool mind_is_replying(const struct mind *mind)
{
    return mind->reply.state != REPLY_NONE && mind->reply.is_committed;
}

void mind_cancel(struct mind *mind)
{
    if (mind->reply.state == REPLY_TOOLS)
        mind_abandon_tools(mind);
    reply_cancel(&mind->reply);
}

/* One more line for this answer. */
static const char *instruction_of(const struct mind *mind)
{
    const struct reply *reply = &mind->reply;
    const char *wish = mind->config->greeting_instruction;
    if (reply->tools.steps >= REPLY_STEPS_MAX)
        return "Answer the caller now, in words, with what you know: no further tool can be used "
               "for this answer.";
    if (!reply->is_greeting)
        return NULL;
    return arena_printf(mind->request, "The caller has just joined. Say only the opening line: %s",
                        wish && *wish ? wish
                                      : "Greet the caller and offer your help, in one or two "
                                        "sentences.");
}

/* Always the same ones: a vendor's cache takes requests that begin alike. */
static void write_tools(struct mind *mind, struct llm_request *out)
{
    const struct talk_config *config = mind->config;
    size_t most = config->tool_count + 2, count = 0;
    struct llm_tool *tools = arena_new_n(mind->request, struct llm_tool, most);
    for (size_t i = 0; i < config->tool_count; i++)
        tools[count++] = config->tools[i];
    if (config->has_end_call)
        tools[count++] = prompt_end_call;
    if (config->has_change_language)
        tools[count++] = prompt_change_language;
    out->tools = tools;
    out->tool_count = count;
    out->is_without_calls = !reply_may_use_tools(&mind->reply);
}

static size_t fixed_tokens(const struct mind *mind, const struct llm_request *request)
{
    size_t tokens = text_tokens(mind->config->system);
    for (size_t i = 0; i < request->tool_count; i++)
        tokens += text_tokens(request->tools[i].name) + text_tokens(request->tools[i].description) +
                  text_tokens(request->tools[i].parameters);
    return tokens;
}

/* Passages may take half of what instructions and answer leave, the history takes the rest. */
static void fit(struct mind *mind, const struct llm_request *request, struct prompt_turn *turn)
{
    turn->passage_tokens = SIZE_MAX;
    if (mind->window_tokens == 0)
        return;
    if (mind->fixed_tokens == 0)
        mind->fixed_tokens = fixed_tokens(mind, request);
    size_t taken = mind->fixed_tokens + (size_t)MAX(request->max_tokens, 0);
    size_t room = mind->window_tokens - MIN(taken, mind->window_tokens);
    turn->passage_tokens = room / 2;
    size_t now = prompt_turn_tokens(turn);
    history_fit(&mind->history, room - MIN(now, room));
}

static void write_request(struct mind *mind, struct llm_request *out)
{
    const struct talk_config *config = mind->config;
    const struct reply *reply = &mind->reply;
    struct prompt_turn turn = {
        .system = config->system,
        .history = &mind->history,
        .caller = reply->is_committed ? NULL : reply->caller,
        .instruction = instruction_of(mind),
        .has_documents = config->has_documents && !reply->is_greeting,
        .passages = reply->found.passages,
        .passage_count = reply->found.count,
    };
    *out = (struct llm_request){
        .unsure = reply->unsure,
        .language = reply->iso,
        .temperature = config->temperature,
        .max_tokens = config->max_tokens,
    };
    write_tools(mind, out);
    fit(mind, out, &turn);
    prompt_messages(&turn, mind->request, out);
}

const struct llm_request *mind_request(struct mind *mind)
{
    arena_free(mind->request);
    mind->request = arena_new(REQUEST_MAX_BYTES);
    struct llm_request *request = arena_new_of(mind->request, struct llm_request);
    write_request(mind, request);
    return request;
}
