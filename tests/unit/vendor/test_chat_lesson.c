/* What may be learned from a refusal, and by whom. */
#include <stdio.h>

#include "base/attr.h"
#include "engine/llm.h"
#include "test.h"
#include "vendor/chat_lesson.h"
#include "vendor/chat_name.h"

static struct chat_lesson lesson_of(const char *body, const char *said, const char *tool,
                                    unsigned known)
{
    struct llm_message message = {.role = LLM_USER, .text = said};
    struct llm_tool tools[] = {{"look", tool, "{}"}};
    struct llm_request request = {
        .messages = &message, .message_count = 1, .tools = tools, .tool_count = 1};
    return chat_lesson_read(body, strlen(body), &request, known);
}

TEST(a_refusal_teaches_what_its_server_names)
{
    static const struct {
        const char *body;
        unsigned known, quirk;
        bool is_for_all;
    } rows[] = {
        /* OpenAI */
        {"{\"error\":{\"message\":\"Unsupported value: 'temperature' does not support 0.4 with "
         "this model.\",\"param\":\"temperature\",\"code\":\"unsupported_value\"}}",
         0, CHAT_NO_TEMPERATURE, true},
        {"{\"error\":{\"message\":\"Unsupported parameter: 'max_tokens' is not supported with this "
         "model. Use 'max_completion_tokens' instead.\",\"param\":\"max_tokens\",\"code\":"
         "\"unsupported_parameter\"}}",
         0, CHAT_COMPLETION_CAP, true},
        {"{\"error\":{\"message\":\"Unrecognized request argument supplied: reasoning_effort\","
         "\"type\":\"invalid_request_error\",\"param\":null,\"code\":null}}",
         0, CHAT_NO_REASONING, true},
        /* A validator (Mistral, vLLM) */
        {"{\"detail\":[{\"type\":\"extra_forbidden\",\"loc\":[\"body\",\"stream_options\"],"
         "\"msg\":\"Extra inputs are not permitted\",\"input\":{\"a\":1}}]}",
         0, CHAT_NO_STREAM_OPTIONS, true},
        {"{\"error\":{\"message\":\"no\",\"param\":\"stream_options.include_usage\",\"code\":"
         "\"unknown_parameter\"}}",
         0, CHAT_NO_STREAM_OPTIONS, true},
        /* Gemini */
        {"[{\"error\":{\"code\":400,\"message\":\"Unknown name \\\"reasoning_effort\\\": Cannot "
         "find field.\"}}]",
         0, CHAT_NO_REASONING, true},
        /* no JSON */
        {"System message must be at the beginning", 0, CHAT_ONE_SYSTEM, true},
        /* A bad value is the call's own. */
        {"{\"error\":{\"message\":\"temperature: 1.9 is above the maximum of 1\",\"param\":"
         "\"temperature\",\"code\":\"decimal_above_max_value\"}}",
         0, CHAT_NO_TEMPERATURE, false},
        /* Whatever tools are refused for, the others keep theirs. */
        {"{\"error\":{\"message\":\"Invalid 'tools[0].function.name': string too long. Expected a "
         "string with maximum length 64\",\"param\":\"tools[0].function.name\",\"code\":"
         "\"string_above_max_length\"}}",
         0, CHAT_NO_TOOLS, false},
        {"{\"error\":{\"message\":\"llama3 does not support tools\"}}", 0, CHAT_NO_TOOLS, false},
        {"{\"error\":{\"message\":\"llama3 does not support tools\"}}", CHAT_NO_TOOLS, 0, false},
        /* Too long, filtered: nothing to leave out. */
        {"{\"error\":{\"message\":\"This model's maximum context length is 8192 tokens. However, "
         "you requested 9000 tokens (8500 in the messages, 500 in max_tokens). Please reduce the "
         "length\",\"param\":\"messages\",\"code\":\"context_length_exceeded\"}}",
         0, 0, false},
        {"{\"error\":{\"message\":\"'max_tokens' is too large: 500\"}}", 0, 0, false},
        {"{\"error\":{\"message\":\"The tool of the filter was triggered\",\"param\":\"prompt\","
         "\"code\":\"content_filter\"}}",
         0, 0, false},
        {"", 0, 0, false},
        {"{", 0, 0, false},
        {"{\"detail\":[]}", 0, 0, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct chat_lesson lesson = lesson_of(rows[i].body, "hello", "Looks.", rows[i].known);
        bool is_right = CHECK_INT(lesson.quirk, rows[i].quirk);
        if (rows[i].quirk)
            is_right = CHECK_INT(lesson.is_for_all, rows[i].is_for_all) && is_right;
        if (!is_right)
            fprintf(stderr, "      %s\n", rows[i].body);
    }
}

TEST(words_of_the_call_teach_nobody_else)
{
    static const char echo[] =
        "{\"error\":{\"message\":\"1 validation error: input_value='temperature is not supported, "
        "system message must be first, this model does not support tools'\"}}";
    struct chat_lesson lesson = lesson_of(echo, "say: TEMPERATURE is not supported", "Looks.", 0);
    CHECK_INT(lesson.quirk, CHAT_NO_TEMPERATURE);
    CHECK(!lesson.is_for_all);
    lesson = lesson_of(echo, "hello", "temperature is not supported", 0);
    CHECK(!lesson.is_for_all);
    lesson = lesson_of(echo, "hello", "System Message must be", CHAT_NO_TEMPERATURE);
    CHECK_INT(lesson.quirk, CHAT_ONE_SYSTEM);
    CHECK(!lesson.is_for_all);
}

TEST(a_lesson_ends)
{
    struct chat_lessons lessons = {0};
    CHECK_INT(chat_lessons_now(&lessons, 1), 0);
    chat_lessons_keep(&lessons, CHAT_COMPLETION_CAP, INT64_MAX);
    chat_lessons_keep(&lessons, CHAT_NO_TEMPERATURE | CHAT_ONE_SYSTEM, CHAT_LESSON_US);
    CHECK_INT(chat_lessons_now(&lessons, CHAT_LESSON_US - 1),
              CHAT_COMPLETION_CAP | CHAT_NO_TEMPERATURE | CHAT_ONE_SYSTEM);
    CHECK_INT(chat_lessons_now(&lessons, CHAT_LESSON_US), CHAT_COMPLETION_CAP);
}

TEST(names_are_made_to_fit_and_found_again)
{
    char first[CHAT_NAME_SIZE], second[CHAT_NAME_SIZE], long_name[129], other[129];
    memset(long_name, 'a', 128);
    long_name[128] = 0;
    memcpy(other, long_name, 129);
    other[127] = 'b';
    CHECK_TEXT(chat_name("order_status", first), "order_status");
    CHECK_INT(strlen(chat_name(long_name, first)), 64);
    CHECK_INT(strlen(chat_name(other, second)), 64);
    CHECK(strcmp(first, second) != 0);
    CHECK_TEXT(chat_name("was ist los?", second), "was_ist_los__2c11e7bf");
    struct llm_tool tools[] = {{other, "", "{}"}, {long_name, "", "{}"}};
    struct llm_request request = {.tools = tools, .tool_count = 2};
    CHECK_TEXT(chat_name_back(first, &request), long_name);
    CHECK_TEXT(chat_name_back("nothing_of_ours", &request), "nothing_of_ours");
}
