/* Sentences of the contract about whole calls that no other test of this folder holds:
 * docs/contract.md names them. */
#include <stdio.h>

#include "model/tool.h"
#include "test.h"
#include "tool/run.h"
#include "world.h"

/* Ends, and what they cost. */

static bool is_drained;
static void drained(void *arg, enum err err, const char *message)
{
    (void)arg, (void)err, (void)message;
    is_drained = true;
}

static void by_api(struct world *world)
{
    CHECK_INT(world_end_call(world, "c1"), OK);
}

static void by_room(struct world *world)
{
    (void)world;
    sim_room_close(sim_caller("r1"));
}

static void by_shutdown(struct world *world)
{
    calls_drain(world->calls, 0, drained, NULL);
}

TEST(each_end_is_billed_as_the_table_says)
{
    static const struct {
        void (*end)(struct world *world);
        const char *told;
    } rows[] = {
        {by_api, "call.ended api"},
        {by_room, "call.ended room-finished"},
        {by_shutdown, "call.ended agent-shutdown"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        WORLD_WITH_CALL(world, call);
        REQUIRE(world_call(&world, &call) == OK);
        world_run(20000); /* the agent waits alone, for nothing */
        sim_join(sim_caller("r1"));
        world_run(9500);
        rows[i].end(&world);
        world_run(100);
        CHECK(sim_told(rows[i].told));
        CHECK_INT(sim_store_row("c1")->duration_s, 10);
        CHECK_INT(sim_store_row("c1")->cost_usd4, 100);
        CHECK_INT(sim_store.balance_usd4, RICH_USD4 - 100);
    }
}

static void switch_off(struct world *world, const char *id)
{
    ((struct engine *)registry_find(world->registry, ENGINE_TTS, id))->info.is_enabled = false;
}

TEST(a_call_that_no_engine_can_serve_is_not_dispatched)
{
    WORLD_WITH_CALL(world, call);
    switch_off(&world, "first-tts");
    CHECK_INT(world_call(&world, &call), OK); /* the second stands in */
    switch_off(&world, "second-tts");
    CHECK_INT(world_call(&world, &call), ERR_UNSUPPORTED);
    CHECK(sim_told("call.ended dispatch-failed [c2]"));
    CHECK(!sim_told("call.started  [c2]"));
    CHECK(!sim_room_is_open("r2"));
    CHECK_INT(sim_store_row("c2")->cost_usd4, 0);
}

/* When a turn is over. */

/* How long after the last voice the caller's turn was taken; -1: there was none. */
static int64_t pause_ms(void (*change)(struct world_call *call), int64_t spoken_ms)
{
    WORLD_WITH_CALL(world, call);
    change(&call);
    sim_engines.utterances[0] = "what time is it";
    struct sim_caller *caller = world_talk(&world, &call);
    if (!CHECK(caller != NULL))
        return -1;
    int64_t end_ms = world_ms() + spoken_ms;
    sim_speak(caller, spoken_ms);
    world_run(9000);
    return sim_told("transcript.user") ? sim_told_ms("transcript.user") - end_ms : -1;
}

static void nothing(struct world_call *call)
{
    (void)call;
}

static void longer_pause(struct world_call *call)
{
    call->start.config.turn.min_endpointing_delay_ms = 3000;
}

/* Neither is more than the usual one, and yet whoever sends them is given them. */
static void shorter_pauses(struct world_call *call)
{
    call->start.config.turn.min_endpointing_delay_ms = 540;
    call->start.config.vad.min_silence_ms = 540;
}

static void longer_silence(struct world_call *call)
{
    call->start.config.vad.min_silence_ms = 2000;
}

static void longer_speech(struct world_call *call)
{
    call->start.config.vad.min_speech_ms = 1500;
}

TEST(a_longer_pause_of_the_call_is_waited_for)
{
    int64_t usual_ms = pause_ms(nothing, 1000), longer_ms = pause_ms(longer_pause, 1000);
    CHECK(usual_ms >= 300 && usual_ms < 500); /* a question needs less */
    CHECK(longer_ms >= 3000 && longer_ms <= 3200);
    CHECK(pause_ms(shorter_pauses, 1000) >= 540);
}

TEST(voice_detection_is_as_the_call_says)
{
    int64_t longer_ms = pause_ms(longer_silence, 1000);
    CHECK(longer_ms >= 2000 && longer_ms <= 2200);
    CHECK_INT(pause_ms(longer_speech, 1000), -1); /* too short for a voice */
    CHECK(pause_ms(longer_speech, 3000) > 0);
}

/* Tools of a call, and what takes their place. */

static char offered[200];
static const char *note_tools(const struct llm_request *request)
{
    offered[0] = '\0';
    for (size_t i = 0; i < request->tool_count; i++) {
        size_t len = strlen(offered);
        snprintf(offered + len, sizeof(offered) - len, "%s ", request->tools[i].name);
    }
    return "Of course.";
}

static struct tool_pair account_params[] = {{"name", "Nobody"}, {"city", "Bonn"}};
static struct tool two_tools[] = {
    {.id = "tool_1",
     .name = "account",
     .description = "",
     .sample_output = "",
     .kind = TOOL_BEFORE_CALL,
     .params = {account_params, 2}},
    {.id = "tool_2",
     .name = "order_status",
     .description = "",
     .sample_output = "",
     .kind = TOOL_DURING_CALL},
};

static struct sim_caller *ask(struct world *world, const struct world_call *call)
{
    sim_engines.utterances[0] = "hello there";
    struct sim_caller *caller = world_talk(world, call);
    if (CHECK(caller != NULL)) {
        sim_speak(caller, 1000);
        world_run(6000);
    }
    return caller;
}

TEST(system_tools_are_offered_where_they_are_on)
{
    static const struct {
        bool end_call, change_language;
        const char *want;
    } rows[] = {
        {false, false, ""},
        {true, false, "endCall "},
        {false, true, "changeLanguage "},
        {true, true, "endCall changeLanguage "},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        WORLD_WITH_CALL(world, call);
        call.agent.system_tools.end_call = rows[i].end_call;
        call.agent.system_tools.change_language = rows[i].change_language;
        sim_engines.reply = note_tools;
        ask(&world, &call);
        CHECK_TEXT(offered, rows[i].want);
    }
}

TEST(a_prompt_of_the_call_runs_no_tool_and_keeps_the_rest)
{
    WORLD world;
    struct world_call call;
    const char *ids[] = {"kd_1"};
    world_begin(&world, RICH_USD4);
    world_defaults(&call);
    call.agent.tools = (struct tool_list){two_tools, 2};
    call.agent.system_tools.end_call = true;
    call.agent.document_ids = (struct text_list){ids, 1};
    call.start.config.prompt.system = "Speak of {{nothing}}, as @order_status.";
    world_passage = "We open at nine.";
    sim_engines.reply = note_tools;
    ask(&world, &call);
    CHECK_INT(world_asked.runs, 0);
    CHECK_TEXT(offered, "endCall ");
    CHECK(strstr(sim_engines.last_request, "S:Speak of {{nothing}}, as @order_status.") != NULL);
    CHECK(strstr(sim_engines.last_request, "We open at nine.") != NULL);
}

TEST(before_call_tools_get_the_calls_variables)
{
    WORLD world;
    struct world_call call;
    struct text_pair sent[] = {{"name", "Ada"}, {"other", "x"}};
    struct agent_variable own[] = {{.name = "city", .default_value = "Ulm"},
                                   {.name = "name", .default_value = "you"}};
    world_begin(&world, RICH_USD4);
    world_defaults(&call);
    call.agent.tools = (struct tool_list){two_tools, 2};
    call.agent.variables = (struct agent_variable_list){own, 2};
    call.start.variables = (struct text_pair_list){sent, 2};
    world_tool_result = (struct tool_result){.status = 500, .model_text = "", .error = "no"};
    ask(&world, &call);
    CHECK_INT(world_asked.runs, 1);
    CHECK_TEXT(world_asked.arguments, "{\"name\":\"Ada\",\"city\":\"Ulm\"}");
    CHECK_INT(world_asked.variable_count, 3);
    CHECK(!world_asked.is_test);
    /* It failed: the model hears of it, and the call goes on. */
    CHECK(strstr(sim_engines.last_request, "account: could not be looked up") != NULL);
    CHECK(sim_told("transcript.assistant This is the answer."));
}

TEST(a_call_of_the_studio_says_so_to_tools)
{
    WORLD_WITH_CALL(world, call);
    call.source = CALL_SOURCE_STUDIO;
    call.agent.tools = (struct tool_list){two_tools, 2};
    REQUIRE(world_talk(&world, &call) != NULL);
    CHECK_INT(world_asked.runs, 1);
    CHECK(world_asked.is_test);
}

TEST(a_tool_that_fails_is_told_to_the_model_as_a_failure)
{
    WORLD_WITH_CALL(world, call);
    call.agent.tools = (struct tool_list){&two_tools[1], 1};
    world_tool_result = (struct tool_result){
        .status = 500, .model_text = "oops", .error = "the endpoint answered 500"};
    sim_engines.tool = "order_status";
    sim_engines.tool_arguments = "{}";
    ask(&world, &call);
    CHECK_INT(world_asked.runs, 1);
    CHECK(strstr(sim_engines.last_request, "T:Failed: ") != NULL);
    CHECK(sim_told("transcript.assistant This is the answer."));
    CHECK(!sim_told("call.ended"));
}
