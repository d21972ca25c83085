#include "call/journal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "model/call.h"
#include "store/call.h"
#include "test.h"
#include "unit/call/desk.h"

#define JOINED_WALL_MS INT64_C(1800000000000)

struct scene {
    struct desk desk;
    struct journal_total total;
    struct journal *journal;
    enum journal_kind kinds[32];
    enum journal_outcome outcomes[32];
    size_t told;
    bool is_one_enough;
    int64_t exhausted_us, cost_usd4;
    struct call call;
    struct arena *arena;
};

static void on_written(void *arg, const struct journal_record *record, enum journal_outcome outcome)
{
    struct scene *scene = arg;
    scene->kinds[scene->told] = record->kind;
    scene->outcomes[scene->told++] = outcome;
    if (record->kind == JOURNAL_USER_JOINED)
        scene->exhausted_us = record->exhausted_us;
    if (record->kind == JOURNAL_END)
        scene->cost_usd4 = record->cost_usd4;
    if (journal_is_idle(scene->journal) || scene->is_one_enough)
        loop_stop(scene->desk.loop);
}

static void begin(struct scene *scene)
{
    *scene = (struct scene){0};
    desk_open(&scene->desk);
    scene->arena = arena_new(0);
    scene->journal = journal_new(&(struct journal_config){.store = scene->desk.store,
                                                          .loop = scene->desk.loop,
                                                          .call_id = scene->desk.call_id,
                                                          .workspace_id = scene->desk.workspace_id,
                                                          .total = &scene->total,
                                                          .on_written = on_written,
                                                          .arg = scene});
}

static void end(struct scene *scene)
{
    journal_free(scene->journal);
    CHECK_INT(scene->total.bytes, 0);
    arena_free(scene->arena);
    desk_close(&scene->desk);
}

static void add(struct scene *scene, struct journal_record record)
{
    CHECK_INT(journal_add(scene->journal, &record), OK);
}

static void add_turn(struct scene *scene, const char *text)
{
    add(scene, (struct journal_record){.kind = JOURNAL_TURN, .a = (char *)text, .role = TURN_USER});
}

static enum err get_call(struct tx *tx, void *arg)
{
    struct scene *scene = arg;
    struct call call;
    enum err err = store_call_get(tx, scene->desk.workspace_id, NULL, scene->desk.call_id, &call);
    if (!err)
        field_copy(&call_table, &call, &scene->call, scene->arena);
    return err;
}

TEST(journal_writes_all_in_order_and_once)
{
    struct scene scene;
    begin(&scene);
    add(&scene, (struct journal_record){.kind = JOURNAL_STARTED});
    add(&scene, (struct journal_record){.kind = JOURNAL_AGENT_JOINED,
                                        .a = (char *)"stt",
                                        .b = (char *)"llm",
                                        .c = (char *)"tts"});
    add(&scene, (struct journal_record){.kind = JOURNAL_USER_JOINED,
                                        .a = (char *)"me",
                                        .at_wall_ms = JOINED_WALL_MS,
                                        .at_us = loop_now_us(scene.desk.loop),
                                        .exhausted_us = INT64_MAX});
    add_turn(&scene, "one");
    add_turn(&scene, "two");
    add_turn(&scene, "three");
    add(&scene,
        (struct journal_record){.kind = JOURNAL_ERROR, .a = (char *)"noise", .stage = STAGE_STT});
    add(&scene, (struct journal_record){.kind = JOURNAL_END,
                                        .reason = END_API,
                                        .at_wall_ms = JOINED_WALL_MS + 1500,
                                        .billed_ms = 1500});
    CHECK_INT(journal_waiting(scene.journal), 8);
    desk_run(&scene.desk);
    REQUIRE(scene.told == 8);
    for (size_t i = 0; i < scene.told; i++)
        CHECK_INT(scene.outcomes[i], JOURNAL_WRITTEN);
    CHECK_INT(scene.kinds[0], JOURNAL_STARTED);
    CHECK_INT(scene.kinds[7], JOURNAL_END);
    CHECK(scene.exhausted_us < INT64_MAX); /* the store told when the money will be out */
    CHECK_INT(scene.cost_usd4, 2 * DESK_RATE_USD4 / 60);
    desk_read(&scene.desk, get_call, &scene);
    CHECK_INT(scene.call.status, CALL_ENDED);
    REQUIRE(scene.call.transcript.count == 3);
    CHECK_TEXT(scene.call.transcript.items[0].text, "one");
    CHECK_TEXT(scene.call.transcript.items[2].text, "three");
    end(&scene);
}

TEST(journal_of_a_call_that_another_has_taken_over_is_fenced)
{
    struct scene scene;
    begin(&scene);
    desk_start_again(&scene.desk);
    add(&scene, (struct journal_record){.kind = JOURNAL_STARTED});
    add_turn(&scene, "nobody is to read this");
    desk_run(&scene.desk);
    REQUIRE(scene.told == 1); /* the first tells what became of all */
    CHECK_INT(scene.outcomes[0], JOURNAL_FENCED);
    CHECK(journal_is_idle(scene.journal));
    desk_read(&scene.desk, get_call, &scene);
    CHECK_INT(scene.call.transcript.count, 0);
    end(&scene);
}

TEST(journal_has_a_ceiling_and_an_end_is_taken_all_the_same)
{
    struct scene scene;
    begin(&scene);
    size_t len = JOURNAL_MAX_BYTES / 4;
    AUTO_MEM char *text = mem_zalloc(len + 1);
    memset(text, 'x', len);
    struct journal_record turn = {.kind = JOURNAL_TURN, .a = text, .role = TURN_USER};
    int taken = 0;
    while (taken < 10 && journal_add(scene.journal, &turn) == OK)
        taken++;
    CHECK(taken >= 3 && taken < 5);
    CHECK(journal_waiting_bytes(scene.journal) <= JOURNAL_MAX_BYTES);
    CHECK_INT(journal_add(scene.journal, &turn), ERR_LIMIT);
    add(&scene, (struct journal_record){.kind = JOURNAL_END, .reason = END_API});
    desk_run(&scene.desk);
    CHECK_INT(scene.told, (size_t)taken + 1);
    desk_read(&scene.desk, get_call, &scene);
    CHECK_INT(scene.call.status, CALL_ENDED);
    end(&scene);
}

TEST(journal_that_is_given_up_writes_what_is_under_way_and_nothing_more)
{
    struct scene scene;
    begin(&scene);
    add(&scene, (struct journal_record){.kind = JOURNAL_STARTED});
    add_turn(&scene, "this one waits");
    scene.is_one_enough = true;
    journal_give_up(scene.journal);
    desk_run(&scene.desk);
    CHECK_INT(scene.told, 1);
    CHECK_INT(scene.outcomes[0], JOURNAL_WRITTEN);
    add_turn(&scene, "this one comes too late");
    CHECK(journal_is_idle(scene.journal));
    desk_read(&scene.desk, get_call, &scene);
    CHECK_INT(scene.call.transcript.count, 0);
    end(&scene);
}
