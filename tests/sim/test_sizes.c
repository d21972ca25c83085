/* The largest agent, tools and start of a call that the contract allows: nothing ends the process.
 * What has no room in a model's request is left out, and the call says so. */
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "call/snapshot.h"
#include "most.h"
#include "test.h"
#include "vendor/chat_request.h"
#include "world.h"

enum { TOOLS = 46 };

/* A model's request as it would leave: its bytes, its tools. */
static size_t request_bytes, request_tools;

static const char *look(const struct llm_request *request)
{
    AUTO_BUF body = BUF_INIT(6 << 20);
    AUTO(arena) arena = arena_new(0);
    const struct chat_settings settings = {"model", "", 0};
    const struct llm_request *copy = chat_request_copy(request, arena);
    CHECK_INT(chat_request_write(copy, &settings, &body), OK);
    request_bytes = body.len;
    request_tools = request->tool_count;
    return "Yes.";
}

static void fill(struct world_call *call, const char *unit, struct arena *arena)
{
    struct agent engines = call->agent;
    struct call_config config = call->start.config;
    most_fill(&agent_table, &call->agent, unit, arena);
    call->agent.id = engines.id;
    call->agent.user_id = engines.user_id;
    call->agent.voice = engines.voice;
    call->agent.llm = engines.llm;
    call->agent.stt = engines.stt;
    call->agent.greeting_mode = GREETING_NONE;
    most_fill(&call_start_table, &call->start, unit, arena);
    call->start.config.vad = config.vad;
    call->start.config.turn = config.turn;
    call->start.config.prompt = (struct call_prompt){0};
    call->agent.tools.items = arena_new_n(arena, struct tool, TOOLS);
    call->agent.tools.count = TOOLS;
    for (size_t i = 0; i < TOOLS; i++) {
        struct tool *tool = &call->agent.tools.items[i];
        most_fill(&tool_table, tool, unit, arena);
        tool->name = arena_printf(arena, "tool_%zu", i);
        tool->kind = TOOL_DURING_CALL;
    }
}

/* offered: how many of the agent's tools; endCall and changeLanguage are there as well. */
static void run(const char *unit, bool is_small_last, size_t offered)
{
    AUTO(arena) arena = arena_new((size_t)1 << 30);
    struct world world;
    struct world_call call;
    world_begin(&world, RICH_USD4);
    world_defaults(&call);
    fill(&call, unit, arena);
    if (is_small_last) {
        struct tool *last = &call.agent.tools.items[TOOLS - 1];
        last->params.count = 0;
        last->sample_output = "";
        last->description = "Small.";
    }
    sim_engines.utterances[0] = "hello";
    sim_engines.reply = look;
    struct sim_caller *caller = world_talk(&world, &call);
    REQUIRE(caller != NULL);
    sim_speak(caller, 1000);
    world_run(9000);
    CHECK(request_bytes > 0);
    CHECK_INT(request_tools, offered + 2);
    CHECK(sim_told("call.error"));
    CHECK_INT(world_end_call(&world, "c1"), OK);
    world_end(&world);
}

TEST(the_largest_agent_with_characters_of_four_bytes_is_called)
{
    run("\xF0\x9F\x8E\xA7", false, 1);
}

TEST(the_largest_agent_with_characters_that_grow_in_json_is_called)
{
    run("\x01", false, 0);
}

TEST(a_tool_that_has_room_is_offered_behind_those_that_have_none)
{
    run("\xF0\x9F\x8E\xA7", true, 2);
}

/* It is neither lost without a word nor said with its placeholders. */
TEST(a_greeting_that_its_variables_make_too_long_is_told)
{
    AUTO(arena) arena = arena_new((size_t)1 << 30);
    static const size_t sizes[] = {10, 70 * 1000, 1100 * 1000};
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        WORLD_WITH_CALL(world, call);
        char *value = arena_alloc(arena, sizes[i] + 1);
        memset(value, 'a', sizes[i]);
        value[sizes[i]] = '\0';
        struct text_pair variable = {"v", value};
        call.start.variables = (struct text_pair_list){&variable, 1};
        call.agent.greeting_mode = GREETING_STATIC;
        call.agent.greeting_text = "Hello {{v}}.";
        REQUIRE(world_call(&world, &call) == OK);
        sim_join(sim_caller("r1"));
        world_run(8000);
        CHECK_INT(sim_told_count("call.error greeting"), i == 0 ? 0 : 1);
        CHECK_INT(sim_told_count("transcript.assistant Hello aaaaaaaaaa."), i == 0 ? 1 : 0);
        CHECK_INT(sim_told_count("transcript.assistant"), i == 0 ? 1 : 0);
        CHECK_INT(world_end_call(&world, "c1"), OK);
    }
}

TEST(a_definition_tells_the_example_and_no_credential)
{
    AUTO(arena) arena = arena_new(0);
    struct tool_pair param = {"number", "7"}, header = {"X-Team", "hush-header"};
    struct tool tool = {.name = "look_up",
                        .description = "Looks up.",
                        .sample_output = "{\"state\":\"sent\"}",
                        .url = "https://a.example/?k=hush-url",
                        .body = "hush-body",
                        .auth = TOOL_AUTH_BEARER,
                        .auth_token = "hush-token",
                        .auth_username = "hush-user",
                        .params = {&param, 1},
                        .headers = {&header, 1}};
    struct llm_tool told = tool_define(&tool, arena).tool;
    CHECK_TEXT(told.name, "look_up");
    CHECK_TEXT(told.description, "Looks up.\nIt answers like this: {\"state\":\"sent\"}");
    CHECK(strstr(told.parameters, "for example: 7") && !strstr(told.parameters, "hush"));
}

TEST(a_definition_tells_what_it_takes)
{
    AUTO(arena) arena = arena_new((size_t)64 << 20);
    struct tool tool = {.name = "look_up", .description = "Looks \"up\".", .sample_output = ""};
    struct tool_definition definition = tool_define(&tool, arena);
    CHECK_TEXT(definition.tool.parameters, "{\"type\":\"object\",\"properties\":{}}");
    size_t small = definition.bytes;
    struct tool_pair params[] = {{"number", "7"}, {"empty", ""}};
    tool.params.items = params;
    tool.params.count = 2;
    definition = tool_define(&tool, arena);
    CHECK_TEXT(definition.tool.parameters,
               "{\"type\":\"object\",\"properties\":{\"number\":{\"type\":\"string\","
               "\"description\":\"for example: 7\"},\"empty\":{\"type\":\"string\"}}}");
    CHECK(definition.bytes > small && definition.bytes < small + 200);
    most_fill(&tool_table, &tool, "\xF0\x9F\x8E\xA7", arena);
    definition = tool_define(&tool, arena);
    CHECK(definition.bytes < TOOLS_MAX_BYTES); /* of four bytes, the largest has room alone */
}
