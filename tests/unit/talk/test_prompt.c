#include "base/arena.h"
#include "talk/history.h"
#include "talk/prompt.h"
#include "test.h"

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
    CHECK(strstr(out.data, "Devanagari") != NULL);
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
    const char *result = "found";
    history_add_calls(&history, &call, &result, 1);
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
    CHECK_INT(history.count, HISTORY_MAX_ENTRIES);
    char large[HISTORY_MAX_BYTES];
    memset(large, 'x', sizeof(large));
    large[sizeof(large) - 1] = 0;
    history_add(&history, LLM_USER, large);
    CHECK_INT(history.count, 1);
    history_clear(&history);
}
