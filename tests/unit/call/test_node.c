#include "call/node.h"

#include <stdio.h>

#include "base/mem.h"
#include "call/calls_internal.h"
#include "store/call.h"
#include "unit/store/fixture.h"

/* Two processes: the owner of a call, whose store is the fixture's, and another one that is asked
 * to end it or to say something. */
struct scene {
    struct fix *fix;
    struct loop *loop;
    struct timer limit;
    struct store *store; /* of the one that asks */
    struct node *node;
    struct calls none; /* it has no calls of its own */
    struct store_watch *owner;
    char call_id[ID_SIZE];
    enum err says;        /* what the owner answers */
    struct command taken; /* the last one that the owner took */
    char text[64];
    unsigned taken_count, answers;
    enum err answer;
    bool is_inside; /* node_command() has not come back yet */
};

static void took_too_long(void *arg)
{
    struct scene *scene = arg;
    test_fail(__FILE__, __LINE__, "what was awaited has not come");
    loop_stop(scene->loop);
}

static void run(struct scene *scene)
{
    timer_set_after(&scene->limit, INT64_C(90000000));
    loop_run(scene->loop);
    timer_stop(&scene->limit);
}

static void is_told(void *arg, enum err err, const char *message)
{
    struct scene *scene = arg;
    (void)message;
    CHECK(!scene->is_inside);
    scene->answers++;
    scene->answer = err;
    loop_stop(scene->loop);
}

/* The owner is told of commands, takes and answers them. */
static void on_commands(void *arg, unsigned topics)
{
    struct scene *scene = arg;
    struct command *commands = NULL;
    size_t count = 0;
    CHECK(topics & STORE_COMMANDS);
    struct tx *tx = fix_write(scene->fix);
    CHECK_INT(store_command_take(tx, 2 * COMMANDS_OF_CALL, &commands, &count), OK);
    for (size_t i = 0; i < count; i++) {
        scene->taken_count++;
        scene->taken = commands[i];
        snprintf(scene->text, sizeof(scene->text), "%s", commands[i].text);
        CHECK_INT(store_command_answer(tx, commands[i].id, scene->says), OK);
    }
    CHECK_INT(fix_commit(tx), OK);
}

static void make_call(struct scene *scene)
{
    struct call call = {0};
    struct tx *tx = fix_write(scene->fix);
    field_defaults(&call_table, &call);
    uuid_new(scene->call_id);
    call.id = scene->call_id;
    call.user_id = scene->fix->workspace_id;
    call.agent_id = scene->fix->agent_id;
    call.room_name = scene->call_id;
    call.participant_identity = "me";
    call.metadata = call.metadata_sent = "{}";
    CHECK_INT(store_node_start(tx, "http://owner"), OK);
    CHECK_INT(store_call_insert(tx, &call, "", tx->now_ms + 3600000), OK);
    CHECK_INT(fix_commit(tx), OK);
}

static void scene_open(struct scene *scene, struct fix *fix)
{
    *scene = (struct scene){.fix = fix, .loop = loop_new("node")};
    fix_people(fix);
    make_call(scene);
    timer_init(&scene->limit, scene->loop, took_too_long, scene);
    scene->store = fix->is_pg ? fix_open(fix, "asker", "-asker") : fix->store;
    const struct calls_config config = {
        .control = scene->loop, .store = scene->store, .public_url = "http://asker"};
    scene->node = node_new(&scene->none, &config);
    node_start(scene->node, is_told, scene);
    run(scene);
    CHECK_INT(scene->answer, OK);
    scene->answers = 0;
    scene->owner = store_watch(fix->store, STORE_COMMANDS, scene->loop, on_commands, scene);
}

static void is_drained(void *arg)
{
    struct scene *scene = arg;
    loop_stop(scene->loop);
}

/* As a process ends: what the node has begun in the store is over before it goes. */
static void scene_close(struct scene *scene)
{
    store_unwatch(scene->owner);
    node_stop(scene->node, is_told, scene);
    run(scene);
    store_drain(scene->store, INT64_C(10000000), scene->loop, is_drained, scene);
    run(scene);
    node_free(scene->node);
    if (scene->store != scene->fix->store)
        store_close(scene->store);
    loop_free(scene->loop);
}

static void ask(struct scene *scene, enum command_kind kind, const char *call_id, const char *text)
{
    const struct node_command command = {
        .kind = kind, .workspace_id = scene->fix->workspace_id, .call_id = call_id, .text = text};
    scene->is_inside = true;
    node_command(scene->node, &command, is_told, scene);
    scene->is_inside = false;
}

TEST(node_that_is_alone_has_nobody_to_ask)
{
    struct fix fix = {0};
    struct scene scene;
    fix_begin(&fix, false);
    scene_open(&scene, &fix);
    ask(&scene, COMMAND_END, scene.call_id, "");
    CHECK_INT(scene.answers, 0);
    run(&scene);
    CHECK_INT(scene.answer, ERR_NOT_FOUND);
    scene_close(&scene);
    fix_end(&fix);
}

TEST(node_tells_what_the_owner_of_a_call_answers)
{
    static const struct {
        enum command_kind kind;
        const char *text;
        enum err says;
    } rows[] = {{COMMAND_SAY, "Your table is ready.", OK},
                {COMMAND_SAY, "Still there?", ERR_CONFLICT},
                {COMMAND_END, "", OK}};
    struct fix fix = {0};
    struct scene scene;
    fix_begin(&fix, true);
    scene_open(&scene, &fix);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        scene.says = rows[i].says;
        ask(&scene, rows[i].kind, scene.call_id, rows[i].text);
        run(&scene);
        CHECK_INT(scene.answer, rows[i].says);
        CHECK_INT(scene.taken.kind, rows[i].kind);
        CHECK_TEXT(scene.taken.call_id, scene.call_id);
        CHECK_TEXT(scene.text, rows[i].text);
    }
    CHECK_INT(scene.taken_count, ARRAY_LEN(rows));
    scene_close(&scene);
    fix_end(&fix);
}

TEST(node_asks_nobody_for_a_call_that_is_none)
{
    struct fix fix = {0};
    struct scene scene;
    fix_begin(&fix, true);
    scene_open(&scene, &fix);
    ask(&scene, COMMAND_END, "0b4cb09e-7a6f-4d5f-9d37-7bd8a5a0a001", "");
    run(&scene);
    CHECK_INT(scene.answer, ERR_NOT_FOUND);
    CHECK_INT(scene.taken_count, 0);
    scene_close(&scene);
    fix_end(&fix);
}

TEST(node_lets_only_so_many_lines_wait)
{
    struct fix fix = {0};
    struct scene scene;
    fix_begin(&fix, true);
    scene_open(&scene, &fix);
    store_unwatch(scene.owner); /* it takes nothing */
    for (int i = 0; i <= COMMANDS_OF_CALL; i++)
        ask(&scene, COMMAND_SAY, scene.call_id, "One moment.");
    run(&scene);
    CHECK_INT(scene.answers, 1);
    CHECK_INT(scene.answer, ERR_LIMIT);
    scene.owner = store_watch(fix.store, STORE_COMMANDS, scene.loop, on_commands, &scene);
    on_commands(&scene, STORE_COMMANDS);
    while (scene.answers <= COMMANDS_OF_CALL && test_failures() == 0)
        run(&scene);
    CHECK_INT(scene.taken_count, COMMANDS_OF_CALL);
    CHECK_INT(scene.answer, OK);
    scene_close(&scene);
    fix_end(&fix);
}

static void time_is_over(void *arg)
{
    loop_stop(arg);
}

/* It looks for commands once a second, and again at once only after as many as it takes. */
TEST(node_at_rest_hardly_asks_its_database)
{
    enum { REST_US = 1500000, JOBS_MAX = 20 };
    struct fix fix = {0};
    struct scene scene;
    struct timer rest;
    fix_begin(&fix, true);
    scene_open(&scene, &fix);
    uint64_t before = store_commits(scene.store);
    timer_init(&rest, scene.loop, time_is_over, scene.loop);
    timer_set_after(&rest, REST_US);
    run(&scene);
    CHECK(store_commits(scene.store) - before <= JOBS_MAX);
    scene_close(&scene);
    fix_end(&fix);
}
