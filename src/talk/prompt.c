#include "talk/prompt.h"

#include <string.h>

#include "base/arena.h"
#include "talk/history.h"
#include "text/words.h"

const struct llm_tool prompt_end_call = {
    .name = "endCall",
    .description = "Hangs up. Use it only when the conversation is finished: the caller has said "
                   "goodbye or wants nothing more. Say goodbye in the same answer.",
    .parameters = "{\"type\":\"object\",\"properties\":{}}",
};

const struct llm_tool prompt_change_language = {
    .name = "changeLanguage",
    .description = "Switches the voice and the listening between Hindi and English. Use it when "
                   "the caller goes over to the other language, then answer in it.",
    .parameters = "{\"type\":\"object\",\"properties\":{\"language\":{\"type\":\"string\","
                  "\"enum\":[\"hi\",\"en\"]}},\"required\":[\"language\"]}",
};

static const char speech_rules[] =
    "\n\n# How you speak\n"
    "You are on a telephone call: everything you write is read aloud.\n"
    "- Answer in one to three short sentences, as people talk. Ask one question at a time.\n"
    "- Plain sentences only: no lists, headings, markdown, emoji, links or stage directions.\n"
    "- Write numbers, dates, prices and abbreviations the way they are spoken.\n"
    "- The caller's words come from speech recognition and may be misheard; if something makes no "
    "sense, ask.\n"
    "- Never say that you will do something that you have no tool for, and never invent results.\n";

static void write_facts(const struct prompt_config *config, struct buf *out)
{
    if (config->fact_count == 0)
        return;
    buf_append_str(out, "\n\n# What is known as the call starts\n");
    for (size_t i = 0; i < config->fact_count; i++) {
        const struct prompt_fact *fact = &config->facts[i];
        if (fact->answer)
            buf_printf(out, "%s: %s\n", fact->name, fact->answer);
        else
            buf_printf(out, "%s: could not be looked up; do not guess what it would say.\n",
                       fact->name);
    }
}

static void write_language(const struct prompt_config *config, struct buf *out)
{
    static const struct {
        const char *iso, *rule;
    } rules[] = {
        {"hi", "Write Hindi in Devanagari; common English words may stay in Latin letters.\n"},
        {"pa", "Write Punjabi in Gurmukhi.\n"},
        {"mr", "Write Marathi in Devanagari.\n"},
    };
    buf_printf(out, "\n# Language\nSpeak %s.", config->language_label);
    if (config->is_language_sent)
        buf_printf(out,
                   " This holds even where the instructions above name another language. The "
                   "caller may also use English or the agent's usual language: understand "
                   "them, and answer in %s.",
                   config->language_label);
    buf_append_char(out, '\n');
    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        if (strcmp(rules[i].iso, config->iso) == 0)
            buf_append_str(out, rules[i].rule);
}

enum err prompt_system(const struct prompt_config *config, struct buf *out)
{
    if (config->is_verbatim)
        return buf_append_str(out, config->instructions);
    enum err err = template_fill(config->instructions, config->value_of, config->value_arg, out);
    if (err)
        return err;
    write_facts(config, out);
    buf_append_str(out, speech_rules);
    if (config->has_documents)
        buf_append_str(out, "- Facts come from the passages you are given. When they do not hold "
                            "the answer, say that you do not have that information.\n");
    write_language(config, out);
    return out->is_full ? ERR_LIMIT : OK;
}

/* The first ones, for which there is room; they come best first. */
static size_t fitting_passages(const struct prompt_turn *turn, size_t *out_tokens)
{
    size_t count = 0;
    *out_tokens = 0;
    for (; count < turn->passage_count; count++) {
        const struct llm_passage *passage = &turn->passages[count];
        size_t tokens = text_tokens(passage->question) + text_tokens(passage->text) +
                        text_tokens(passage->document);
        if (*out_tokens + tokens > turn->passage_tokens)
            break;
        *out_tokens += tokens;
    }
    return count;
}

size_t prompt_turn_tokens(const struct prompt_turn *turn)
{
    size_t passages;
    fitting_passages(turn, &passages);
    return passages + text_tokens(turn->caller) + text_tokens(turn->instruction);
}

static const char *passages_text(const struct prompt_turn *turn, size_t count, struct arena *arena)
{
    if (count == 0)
        return "Nothing in the documents fits what the caller says now.";
    AUTO_BUF text = BUF_INIT(PROMPT_PASSAGES_MAX_BYTES);
    buf_append_str(&text, "Passages of the documents that may fit what the caller says now:");
    for (size_t i = 0; i < count; i++) {
        const struct llm_passage *passage = &turn->passages[i];
        if (passage->question)
            buf_printf(&text, "\n\n[%s] Q: %s\nA: %s", passage->document, passage->question,
                       passage->text);
        else
            buf_printf(&text, "\n\n[%s] %s", passage->document, passage->text);
    }
    return arena_strdup(arena, text.data);
}

void prompt_messages(const struct prompt_turn *turn, struct arena *arena, struct llm_request *out)
{
    size_t most = history_message_count(turn->history) + 4, count = 0, tokens;
    size_t passages = fitting_passages(turn, &tokens);
    struct llm_message *messages = arena_new_n(arena, struct llm_message, most);
    messages[count++] = (struct llm_message){.role = LLM_SYSTEM, .text = turn->system};
    history_write(turn->history, messages, &count);
    out->stable_count = count;
    if (turn->has_documents)
        messages[count++] =
            (struct llm_message){.role = LLM_SYSTEM, .text = passages_text(turn, passages, arena)};
    if (turn->caller)
        messages[count++] = (struct llm_message){.role = LLM_USER, .text = turn->caller};
    if (turn->instruction)
        messages[count++] = (struct llm_message){.role = LLM_SYSTEM, .text = turn->instruction};
    out->messages = messages;
    out->message_count = count;
    out->passages = turn->passages;
    out->passage_count = passages;
}
