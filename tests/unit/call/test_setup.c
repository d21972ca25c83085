#include "call/setup.h"

#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "call/plan.h"
#include "call/tools.h"
#include "model/agent.h"
#include "model/call.h"
#include "model/document.h"
#include "model/language.h"
#include "store/document.h"
#include "store/workspace.h"
#include "test.h"
#include "unit/call/desk.h"

struct scene {
    struct desk desk;
    struct config *config;
    struct agent agent;
    struct call row;
    struct call_start start;
    struct call_plan plan;
    struct call_tools tools;
    struct talk_config talk;
    char document_id[ID_SIZE];
    const char *documents[1];
    int ready;
};

static enum err add_document(struct tx *tx, void *arg)
{
    struct scene *scene = arg;
    static const char text[] = "We repair bicycles.";
    const struct document_source source = {text, sizeof(text) - 1, -1};
    const struct passage passages[] = {
        {.text = "We repair bicycles.", .language = "en"},
        {.text = "Ten euros.", .question = "What is a tyre?", .language = "en"}};
    struct document document = {.user_id = scene->desk.workspace_id, .name = "guide"};
    const struct text_list none = {0};
    CHECK_INT(store_workspace_lock(tx, scene->desk.workspace_id), OK);
    CHECK_INT(store_document_insert(tx, &document, &source, 0), OK);
    CHECK_INT(store_document_take(tx, document.id, &document), OK);
    CHECK_INT(store_document_ready(tx, document.id, 19, passages, 2, &none), OK);
    snprintf(scene->document_id, ID_SIZE, "%s", document.id);
    return OK;
}

static void on_ready(void *arg)
{
    struct scene *scene = arg;
    scene->ready++;
    loop_stop(scene->desk.loop);
}

static void begin(struct scene *scene)
{
    static char *none[] = {NULL};
    struct fault fault = {0};
    *scene = (struct scene){0};
    desk_open(&scene->desk);
    REQUIRE(config_load(NULL, none, &scene->config, &fault) == OK);
    field_defaults(&agent_table, &scene->agent);
    field_defaults(&call_start_table, &scene->start);
    scene->agent.system_instruction = "You are the desk of {{shop}}.";
    scene->agent.greeting_mode = GREETING_STATIC;
    scene->agent.greeting_instruction = "";
    scene->agent.greeting_text = "{{shop}}, hello {{name}}!";
    scene->row.id = scene->desk.call_id;
    scene->row.user_id = scene->desk.workspace_id;
    scene->row.agent_id = scene->desk.agent_id;
    scene->plan = (struct call_plan){
        .row = &scene->row, .start = &scene->start, .agent = &scene->agent, .language = "en"};
    scene->tools = (struct call_tools){.list = &scene->agent.tools};
    list_init(&scene->tools.runs);
}

static void end(struct scene *scene)
{
    config_free(scene->config);
    desk_close(&scene->desk);
}

static struct setup *start(struct scene *scene)
{
    return setup_start(&(struct setup_config){.loop = scene->desk.loop,
                                              .store = scene->desk.store,
                                              .tools = &scene->tools,
                                              .config = scene->config,
                                              .plan = &scene->plan,
                                              .on_ready = on_ready,
                                              .arg = scene});
}

TEST(setup_fills_variables_of_the_call_and_of_the_agent)
{
    struct scene scene;
    begin(&scene);
    struct agent_variable variables[] = {{.name = "shop", .default_value = "Acme"},
                                         {.name = "name", .default_value = "you"}};
    struct text_pair sent[] = {{"name", "Ada"}};
    scene.agent.variables = (struct agent_variable_list){variables, 2};
    scene.start.variables = (struct text_pair_list){sent, 1};
    struct setup *setup = start(&scene);
    CHECK_INT(scene.ready, 0); /* never from inside */
    desk_run(&scene.desk);
    CHECK_INT(scene.ready, 1);
    REQUIRE(setup_talk(setup, "en", &scene.talk) == OK);
    CHECK_TEXT(scene.talk.greeting_text, "Acme, hello Ada!");
    CHECK(strncmp(scene.talk.system, "You are the desk of Acme.", 25) == 0);
    CHECK_INT(scene.talk.greeting, TALK_GREETING_STATIC);
    CHECK_INT(scene.tools.variable_count, 2); /* tools get them too */
    /* Nothing of the caller's: one model for all calls. */
    CHECK_TEXT(setup_vocabulary(setup), "\nAcme, hello you!\nYou are the desk of Acme.");
    setup_free(setup);
    end(&scene);
}

TEST(setup_gathers_the_words_of_the_documents)
{
    struct scene scene;
    begin(&scene);
    desk_write(&scene.desk, add_document, &scene);
    scene.documents[0] = scene.document_id;
    scene.agent.document_ids = (struct text_list){scene.documents, 1};
    struct setup *setup = start(&scene);
    desk_run(&scene.desk);
    REQUIRE(setup_talk(setup, "en", &scene.talk) == OK);
    CHECK(scene.talk.has_documents);
    CHECK_TEXT(setup_vocabulary(setup), "We repair bicycles.\nWhat is a tyre?\nTen euros.\n\n"
                                        ", hello !\nYou are the desk of .");
    CHECK_TEXT(setup_words(setup), "You are the desk of .\n, hello !\n"
                                   "We repair bicycles.\nWhat is a tyre?\nTen euros.\n");
    setup_free(setup);
    end(&scene);
}

TEST(setup_names_the_first_tools_that_are_left_out)
{
    static const char *names[] = {"a", "b", "c", "d", "e", "f", "g"};
    struct scene scene;
    begin(&scene);
    for (size_t count = 5; count <= 7; count += 2) {
        scene.plan.left_out = (struct text_list){names, count};
        struct setup *setup = start(&scene);
        desk_run(&scene.desk);
        REQUIRE(setup_talk(setup, "en", &scene.talk) == OK);
        CHECK_TEXT(setup_left_out(setup),
                   count == 5 ? "5 of the agent's tools are too large together and are left out: "
                                "a, b, c, d, e"
                              : "7 of the agent's tools are too large together and are left out: "
                                "a, b, c, d, e, ...");
        setup_free(setup);
    }
    end(&scene);
}

TEST(setup_that_is_freed_while_the_store_reads_for_it_is_not_told)
{
    struct scene scene;
    begin(&scene);
    desk_write(&scene.desk, add_document, &scene);
    scene.documents[0] = scene.document_id;
    scene.agent.document_ids = (struct text_list){scene.documents, 1};
    setup_free(start(&scene));
    struct setup *second = start(&scene); /* its job comes after the first one's */
    desk_run(&scene.desk);
    CHECK_INT(scene.ready, 1);
    setup_free(second);
    end(&scene);
}

TEST(setup_of_a_prompt_that_is_sent_whole_takes_it_as_it_is)
{
    struct scene scene;
    begin(&scene);
    scene.start.config.prompt.system = "Say {{nothing}}.";
    struct setup *setup = start(&scene);
    desk_run(&scene.desk);
    REQUIRE(setup_talk(setup, "en", &scene.talk) == OK);
    CHECK_TEXT(scene.talk.system, "Say {{nothing}}.");
    CHECK_INT(scene.talk.tool_count, 0);
    setup_free(setup);
    end(&scene);
}

static void check_greeting(struct scene *scene, enum talk_greeting mode, const char *text,
                           const char *instruction)
{
    struct setup *setup = start(scene);
    desk_run(&scene->desk);
    if (CHECK_INT(setup_talk(setup, "en", &scene->talk), OK)) {
        CHECK_INT(scene->talk.greeting, mode);
        CHECK_TEXT(scene->talk.greeting_text, text);
        CHECK_TEXT(scene->talk.greeting_instruction, instruction);
    }
    setup_free(setup);
}

TEST(greetings_of_the_call_take_the_place_of_the_agents)
{
    struct scene scene;
    begin(&scene);
    struct text_pair sent[] = {{"name", "Ada"}, {"shop", "Acme"}};
    scene.start.variables = (struct text_pair_list){sent, 2};
    scene.agent.greeting_instruction = "Greet {{name}}.";
    struct call_greeting *greeting = &scene.start.config.prompt.greeting;
    check_greeting(&scene, TALK_GREETING_STATIC, "Acme, hello Ada!", "Greet Ada.");
    greeting->text = "Good day, {{name}}.";
    check_greeting(&scene, TALK_GREETING_STATIC, "Good day, Ada.", "Greet Ada.");
    greeting->mode = "generate";
    greeting->instruction = "Mention {{shop}}.";
    check_greeting(&scene, TALK_GREETING_GENERATE, "Good day, Ada.", "Mention Acme.");
    *greeting = (struct call_greeting){.mode = "none"};
    check_greeting(&scene, TALK_GREETING_NONE, "Acme, hello Ada!", "Greet Ada.");
    *greeting = (struct call_greeting){.mode = "static", .text = ""};
    check_greeting(&scene, TALK_GREETING_STATIC, "", "Greet Ada.");
    end(&scene);
}
