#include <stdio.h>

#include "base/arena.h"
#include "talk/history.h"
#include "talk/prompt.h"
#include "test.h"
#include "text/words.h"

static const char *value_of(void *arg, const char *name, size_t name_len)
{
    (void)arg;
    return name_len == 4 && memcmp(name, "name", 4) == 0 ? "Asha" : NULL;
}

TEST(variables_facts_and_rules_are_written)
{
    struct prompt_fact facts[] = {{"account", "gold"}, {"weather", NULL}};
    struct prompt_config config = {
        .instructions = "Help {{name}}{{nobody}}.",
        .value_of = value_of,
        .facts = facts,
        .fact_count = 2,
        .language_label = "Hindi",
        .iso = "hi",
        .is_language_sent = true,
    };
    AUTO_BUF out = BUF_INIT(PROMPT_SYSTEM_MAX_BYTES);
    REQUIRE(prompt_system(&config, &out) == OK);
    CHECK(strncmp(out.data, "Help Asha.", 10) == 0);
    CHECK(strstr(out.data, "account: gold") != NULL);
    CHECK(strstr(out.data, "weather: could not be looked up") != NULL);
    CHECK(strstr(out.data, "Speak Hindi. This holds even") != NULL);
    CHECK(strstr(out.data, "Write Hindi in Devanagari") != NULL);
    CHECK(!strstr(out.data, "Gurmukhi") && !strstr(out.data, "Marathi"));
}

TEST(a_prompt_of_the_call_is_used_as_written)
{
    struct prompt_config config = {
        .instructions = "Help {{name}}.", .is_verbatim = true, .language_label = "", .iso = "en"};
    AUTO_BUF out = BUF_INIT(PROMPT_SYSTEM_MAX_BYTES);
    REQUIRE(prompt_system(&config, &out) == OK);
    CHECK_TEXT(out.data, "Help {{name}}.");
}

TEST(messages_come_in_order)
{
    struct history history;
    history_init(&history);
    history_add(&history, LLM_USER, "one");
    history_add(&history, LLM_ASSISTANT, "two");
    struct llm_tool_call call = {.id = "c1", .name = "look", .arguments = "{}"};
    history_add_calls(&history, &(struct history_call){&call, "found", 0}, 1);
    struct arena *arena = arena_new(0);
    struct llm_request request = {0};
    struct prompt_turn turn = {.system = "sys", .history = &history, .caller = "three"};
    prompt_messages(&turn, arena, &request);
    static const enum llm_role roles[] = {LLM_SYSTEM,    LLM_USER, LLM_ASSISTANT,
                                          LLM_ASSISTANT, LLM_TOOL, LLM_USER};
    REQUIRE(request.message_count == 6);
    for (size_t i = 0; i < 6; i++)
        CHECK_INT(request.messages[i].role, roles[i]);
    CHECK_TEXT(request.messages[4].text, "found");
    CHECK_TEXT(request.messages[4].tool_call_id, "c1");
    CHECK_TEXT(request.messages[5].text, "three");
    arena_free(arena);
    history_clear(&history);
}

TEST(history_forgets_its_oldest_first)
{
    struct history history;
    history_init(&history);
    for (int i = 0; i < HISTORY_MAX_ENTRIES + 10; i++)
        history_add(&history, LLM_USER, "a turn");
    CHECK_INT(history.count, HISTORY_MAX_ENTRIES * 3 / 4 + 9);
    char large[HISTORY_MAX_BYTES];
    memset(large, 'x', sizeof(large));
    large[sizeof(large) - 1] = 0;
    history_add(&history, LLM_USER, large);
    CHECK_INT(history.count, 1);
    history_clear(&history);
}

static size_t tokens_of(const struct history *history)
{
    struct llm_message messages[50];
    size_t count = 0, tokens = 0;
    history_write(history, messages, &count);
    for (size_t i = 0; i < count; i++)
        tokens += text_tokens(messages[i].text);
    return tokens;
}

/* One of the caller's turns, a tool with a long answer, the agent's turn: six times over. */
static void talk_about_orders(struct history *history)
{
    static char long_result[1200];
    struct llm_tool_call call = {.id = "c", .name = "look", .arguments = "{}"};
    memset(long_result, 'r', sizeof(long_result) - 1);
    history_init(history);
    for (int i = 0; i < 6; i++) {
        char text[400];
        memset(text, 'a' + i, sizeof(text) - 1);
        text[sizeof(text) - 1] = 0;
        history_add(history, LLM_USER, text);
        history_add_calls(history, &(struct history_call){&call, long_result, 0}, 1);
        history_add(history, LLM_ASSISTANT, text);
    }
}

static const char *oldest_words(const struct llm_message *messages)
{
    while (!messages->text || messages->role == LLM_TOOL)
        messages++;
    return messages->text;
}

TEST(what_tools_said_is_shortened_before_what_people_said_goes)
{
    static const struct {
        size_t most;
        char first;          /* the oldest turn that is left */
        size_t long_results; /* as they were */
    } rows[] = {{10000, 'a', 6}, {4000, 'a', 2}, {2600, 'a', 0}, {1500, 'd', 0}, {300, 'f', 0}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct history history;
        struct llm_message messages[50];
        size_t count = 0, long_results = 0;
        talk_about_orders(&history);
        bool is_cut = history.tokens > rows[i].most;
        history_fit(&history, rows[i].most);
        history_write(&history, messages, &count);
        for (size_t k = 0; k < count; k++)
            long_results += messages[k].role == LLM_TOOL && strlen(messages[k].text) > 1000;
        if (!CHECK_INT(long_results, rows[i].long_results) ||
            !CHECK_INT(oldest_words(messages)[0], rows[i].first) ||
            (is_cut && rows[i].most > 300 &&
             !CHECK(tokens_of(&history) <= rows[i].most * 3 / 4 + 1)))
            test_fail(__FILE__, __LINE__, "within %zu", rows[i].most);
        history_clear(&history);
    }
}

/* What was asked before, the question, and what four tools said to it: most that fits, what must be
 * left of the first, and how long the results are. */
TEST(the_question_stays_and_what_tools_said_to_it_is_shortened)
{
    static const struct {
        size_t most;
        const char *first;
        bool is_long;
    } rows[] = {{2000, "before", true}, {1800, "question", true}, {600, "question", false}};
    static char result[1200], before[1200];
    memset(result, 'r', sizeof(result) - 1);
    snprintf(before, sizeof(before), "before%1000d", 0);
    const struct llm_tool_call call = {.id = "c", .name = "look", .arguments = "{}"};
    const struct history_call one = {&call, result, 0};
    const struct history_call calls[] = {one, one, one, one};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct history history;
        struct llm_message messages[8];
        size_t count = 0;
        history_init(&history);
        history_add(&history, LLM_USER, before);
        history_add(&history, LLM_USER, "question");
        history_add_calls(&history, calls, ARRAY_LEN(calls));
        history_fit(&history, rows[i].most);
        history_write(&history, messages, &count);
        CHECK(history.tokens <= rows[i].most);
        CHECK(messages[0].text &&
              strncmp(messages[0].text, rows[i].first, strlen(rows[i].first)) == 0);
        CHECK((strlen(messages[count - 1].text) == sizeof(result) - 1) == rows[i].is_long);
        history_clear(&history);
    }
}

/* Five rounds of eight tools each are more than a history holds. */
TEST(the_question_stays_however_much_tools_have_said_to_it)
{
    static char result[1801];
    memset(result, 'r', sizeof(result) - 1);
    const struct llm_tool_call call = {.id = "c", .name = "look", .arguments = "{}"};
    struct history_call calls[8];
    struct history history;
    struct llm_message messages[60];
    size_t count = 0;
    history_init(&history);
    history_add(&history, LLM_USER, "before");
    history_add(&history, LLM_USER, "question");
    for (size_t i = 0; i < ARRAY_LEN(calls); i++)
        calls[i] = (struct history_call){&call, result, 0};
    for (int round = 0; round < 5; round++)
        history_add_calls(&history, calls, ARRAY_LEN(calls));
    history_write(&history, messages, &count);
    CHECK(history.bytes <= HISTORY_MAX_BYTES);
    CHECK_TEXT(messages[0].text, "before");
    CHECK_TEXT(messages[1].text, "question");
    CHECK_INT(strlen(messages[count - 1].text), sizeof(result) - 1);
    history_clear(&history);
}

/* What a vendor signs its calls with has kilobytes, and is no word of anybody. */
TEST(signatures_of_calls_go_before_words)
{
    static char extra[8001];
    memset(extra, 'x', sizeof(extra) - 1);
    const struct llm_tool_call call = {
        .id = "c", .name = "look", .arguments = "{}", .extra = extra};
    struct history history;
    struct llm_message messages[60];
    size_t count = 0;
    history_init(&history);
    history_add(&history, LLM_USER, "before");
    for (int i = 0; i < 6; i++)
        history_add_calls(&history, &(struct history_call){&call, "found", 0}, 1);
    history_add(&history, LLM_USER, "question");
    for (int i = 0; i < 3; i++)
        history_add_calls(&history, &(struct history_call){&call, "found", 0}, 1);
    history_write(&history, messages, &count);
    CHECK(history.bytes <= HISTORY_MAX_BYTES);
    CHECK_TEXT(messages[0].text, "before");
    CHECK(!messages[1].calls[0].extra);
    CHECK_INT(count, 20);
    for (size_t i = 14; i < count; i += 2) /* the vendor wants those behind the question */
        CHECK(messages[i].calls[0].extra != NULL);
    history_clear(&history);
}

/* One answer may ask for eight calls with 16 KB of arguments each, and sign them. */
TEST(what_a_model_writes_to_its_tools_does_not_drive_out_the_question)
{
    static char long_text[16000], extra[30000];
    memset(long_text, 'a', sizeof(long_text) - 1);
    memset(extra, 'x', sizeof(extra) - 1);
    const struct llm_tool_call rows[] = {
        {.id = "c", .name = "look", .arguments = long_text},
        {.id = "c", .name = "look", .arguments = "{\"a\":1}", .extra = extra}};
    static const char *const kept[] = {"{}", "{\"a\":1}"};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct history history;
        struct llm_message messages[60];
        struct history_call calls[8];
        size_t count = 0;
        history_init(&history);
        history_add(&history, LLM_USER, "question");
        for (size_t k = 0; k < ARRAY_LEN(calls); k++)
            calls[k] = (struct history_call){&rows[i], "found", 0};
        history_add_calls(&history, calls, ARRAY_LEN(calls));
        history_write(&history, messages, &count);
        CHECK(history.bytes <= HISTORY_MAX_BYTES);
        CHECK_TEXT(messages[0].text, "question");
        REQUIRE(count == 10);
        CHECK_TEXT(messages[1].calls[0].arguments, kept[i]);
        history_clear(&history);
    }
}

/* Lines that are said into a call are many, and nothing of the caller's. */
TEST(a_question_does_not_hold_all_that_was_said_after_it)
{
    struct history history;
    history_init(&history);
    history_add(&history, LLM_USER, "question");
    for (int i = 0; i < 3 * HISTORY_MAX_ENTRIES; i++)
        history_add(&history, LLM_ASSISTANT, "said");
    CHECK(history.count <= HISTORY_MAX_ENTRIES);
    history_clear(&history);
}

TEST(a_result_that_comes_late_stands_where_it_was_asked_for)
{
    struct history history;
    history_init(&history);
    struct llm_tool_call call = {.id = "c1", .name = "look", .arguments = "{}"};
    history_add_calls(&history, &(struct history_call){&call, "Still running", 7}, 1);
    history_add(&history, LLM_USER, "never mind");
    struct llm_message messages[8];
    size_t count = 0, tokens = history.tokens;
    history_settle(&history, 8, "another's");
    history_settle(&history, 7, "found it at last");
    history_settle(&history, 7, "once more");
    history_write(&history, messages, &count);
    CHECK_TEXT(messages[1].text, "found it at last");
    CHECK(history.tokens > tokens);
    history_clear(&history);
    CHECK(history.tokens == 0 && history.bytes == 0);
}

TEST(passages_that_do_not_fit_are_left_out)
{
    struct history history;
    history_init(&history);
    AUTO(arena) arena = arena_new(0);
    struct llm_request request = {0};
    static const struct llm_passage passages[] = {
        {.text = "We open at nine.", .document = "a", .similarity = 0.9},
        {.text = "We close at five.", .document = "a", .similarity = 0.8}};
    struct prompt_turn turn = {.system = "sys",
                               .history = &history,
                               .caller = "when",
                               .has_documents = true,
                               .passages = passages,
                               .passage_count = 2,
                               .passage_tokens = 12};
    prompt_messages(&turn, arena, &request);
    CHECK_INT(request.passage_count, 1);
    CHECK(strstr(request.messages[1].text, "nine") && !strstr(request.messages[1].text, "five"));
    CHECK_INT(request.stable_count, 1);
    turn.passage_tokens = 0;
    prompt_messages(&turn, arena, &request);
    CHECK_TEXT(request.messages[1].text, "Nothing in the documents fits what the caller says now.");
}
