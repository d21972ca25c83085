/* A machine that holds four calls and no more: nobody is spoilt, nobody is cut, who comes too late
 * is refused. */
#include "base/config.h"
#include "base/metrics.h"
#include "test.h"
#include "world.h"

static int64_t others_milli;

static int64_t busy_milli(void *arg)
{
    (void)arg;
    return others_milli;
}

/* One core. A call costs 121 ms a second, its encoding 181 at best and 17 at least. */
static const struct calls_machine machine = {
    .cores_milli = 1000,
    .frame_ns = {7240000, 2010000, 1340000, 670000},
    .busy_milli = busy_milli,
};

static void begin(struct world *world)
{
    world_machine = &machine;
    world_begin(world, RICH_USD4);
    world_run(1000);
}

static int start_calls(struct world *world, int count)
{
    struct world_call call;
    world_defaults(&call);
    int accepted = 0;
    for (int i = 0; i < count; i++) {
        accepted += world_talk(world, &call) != NULL;
        world_run(1000);
    }
    return accepted;
}

TEST(a_call_too_many_is_refused_and_the_others_stay)
{
    WORLD world;
    begin(&world);
    CHECK_INT(start_calls(&world, 7), 4);
    CHECK(calls_is_full(world.calls));
    CHECK_INT(sim_store_row("c5")->reason, END_DISPATCH_FAILED);
    CHECK_INT(sim_store_row("c5")->cost_usd4, 0);
    CHECK_INT(metric_read(METRIC_CALLS_REFUSED), 3);
    world_run(60000);
    CHECK_INT(calls_count(world.calls), 4);
    CHECK_INT(sim_store_row("c1")->status, CALL_ACTIVE);
    CHECK_INT(world_end_call(&world, "c2"), OK);
    world_run(1000);
    CHECK(!calls_is_full(world.calls));
    CHECK_INT(start_calls(&world, 1), 1);
}

TEST(all_calls_sound_best_while_there_is_room)
{
    WORLD world;
    begin(&world);
    CHECK_INT(start_calls(&world, 1), 1);
    world_run(10000);
    CHECK_INT(metric_read(METRIC_CALLS_LOWERED), 0);
    CHECK_INT(start_calls(&world, 3), 3);
    world_run(10000);
    CHECK_INT(metric_read(METRIC_CALLS_LOWERED), 4);
    for (int i = 2; i <= 4; i++) {
        char id[3] = {'c', (char)('0' + i)};
        CHECK_INT(world_end_call(&world, id), OK);
    }
    world_run(30000);
    CHECK_INT(metric_read(METRIC_CALLS_LOWERED), 0);
}

/* A call that is raised already does not take the turn of one that is not. */
TEST(one_call_after_the_other_sounds_best_again)
{
    static const struct calls_machine twice = {
        .cores_milli = 1000,
        .frame_ns = {3620000, 1000000, 670000, 335000},
        .busy_milli = busy_milli,
    };
    WORLD world;
    world_machine = &twice;
    world_begin(&world, RICH_USD4);
    world_run(1000);
    CHECK_INT(start_calls(&world, 3), 3);
    world_run(10000);
    CHECK_INT(metric_read(METRIC_CALLS_LOWERED), 0);
    others_milli = 600;
    world_run(10000);
    CHECK_INT(metric_read(METRIC_CALLS_LOWERED), 3);
    others_milli = 0;
    world_run(60000);
    CHECK_INT(metric_read(METRIC_CALLS_LOWERED), 0);
}

/* A workspace that fills the node leaves the last places to others. */
TEST(one_workspace_does_not_take_the_last_place)
{
    static const struct calls_machine large = {
        .cores_milli = 1000,
        .frame_ns = {724000, 201000, 134000, 67000},
        .busy_milli = busy_milli,
    };
    WORLD world;
    struct world_call call;
    world_machine = &large;
    world_begin(&world, RICH_USD4);
    world_run(1000);
    world_defaults(&call);
    int accepted = 0;
    while (accepted < 60 && world_call(&world, &call) == OK) {
        accepted++;
        world_run(300);
    }
    CHECK(accepted > 30 && accepted < 40);
    CHECK(!calls_is_full(world.calls));
    call.agent.user_id = "usr_2";
    CHECK_INT(world_call(&world, &call), OK);
}

/* A core computes for so many callers at once; others are still heard elsewhere. */
TEST(embedded_recognition_hears_no_more_calls_than_it_can)
{
    static const struct calls_machine large = {
        .cores_milli = 1000,
        .frame_ns = {724000, 201000, 134000, 67000},
        .busy_milli = busy_milli,
    };
    WORLD world;
    struct world_call call;
    world_machine = &large;
    world_begin(&world, RICH_USD4);
    world_run(1000);
    world_defaults(&call);
    call.agent.stt.provider = "second-stt"; /* embedded */
    int accepted = 0;
    while (accepted < 60 && world_call(&world, &call) == OK) {
        accepted++;
        world_run(300);
    }
    CHECK_INT(accepted, 12);
    CHECK_INT(sim_store_row("c13")->reason, END_DISPATCH_FAILED);
    CHECK(!calls_is_full(world.calls));
    call.agent.stt.provider = "first-stt";
    CHECK_INT(world_call(&world, &call), OK);
    CHECK_INT(world_end_call(&world, "c2"), OK);
    world_run(1000);
    call.agent.stt.provider = "second-stt";
    CHECK_INT(world_call(&world, &call), OK);
}

TEST(what_else_runs_on_the_machine_counts)
{
    WORLD world;
    others_milli = 500;
    begin(&world);
    int accepted = start_calls(&world, 7);
    others_milli = 0;
    CHECK(accepted >= 2 && accepted < 4);
}
