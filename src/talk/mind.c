#include "talk/mind.h"

#include "base/arena.h"
#include "base/attr.h"
#include "base/mem.h"
#include "talk/prompt.h"

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
        mem_free(mind->late[i].name);
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
    if (reply->steps >= REPLY_STEPS_MAX)
        return "Answer the caller now, in words, with what you know: no further tool can be used "
               "for this answer.";
    if (!reply->is_greeting)
        return NULL;
    return arena_printf(mind->request, "The caller has just joined. Say only the opening line: %s",
                        wish && *wish ? wish
                                      : "Greet the caller and offer your help, in one or two "
                                        "sentences.");
}

static void write_request(struct mind *mind, struct llm_request *out)
{
    const struct talk_config *config = mind->config;
    const struct reply *reply = &mind->reply;
    size_t most = config->tool_count + 2, count = 0;
    struct llm_tool *tools = arena_new_n(mind->request, struct llm_tool, most);
    if (reply_may_use_tools(reply)) {
        for (size_t i = 0; i < config->tool_count; i++)
            tools[count++] = config->tools[i];
        if (config->has_end_call)
            tools[count++] = prompt_end_call;
        if (config->has_change_language)
            tools[count++] = prompt_change_language;
    }
    struct prompt_turn turn = {
        .system = config->system,
        .history = &mind->history,
        .caller = reply->is_committed ? NULL : reply->caller,
        .instruction = instruction_of(mind),
        .has_documents = config->has_documents && !reply->is_greeting,
        .passages = reply->passages,
        .passage_count = reply->passage_count,
    };
    *out = (struct llm_request){
        .tools = tools,
        .tool_count = count,
        .language = reply->iso,
        .temperature = config->temperature,
        .max_tokens = config->max_tokens,
    };
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
