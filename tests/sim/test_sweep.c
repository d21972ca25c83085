/* Whole calls with one outside call failing, each in turn: whatever it is, a call that was taken
 * ends once, is billed for what it lasted, and tells so; one that was refused costs nothing. */
#include "store/money.h"
#include "sweep.h"
#include "test.h"
#include "tool/run.h"
#include "world.h"

enum { SETTLED_MS = 60000 };

static void check_settled(const char *id)
{
    const struct sim_row *row = sim_store_row(id);
    CHECK_INT(row->status, CALL_ENDED);
    CHECK_INT(sim_told_count("call.ended"), 1);
    CHECK(sim_told_count("call.started") <= 1);
    CHECK(sim_told_count("call.user_joined") <= 1);
    int64_t billed_ms = row->joined_us ? row->billed_ms : 0;
    CHECK_INT(row->cost_usd4, money_cost_usd4(row->rate_usd4, money_seconds_up(billed_ms)));
    CHECK_INT(sim_store.balance_usd4, RICH_USD4 - row->cost_usd4);
}

/* A question that needs a tool, an answer, a goodbye. */
static void talk_and_leave(struct sim_caller *caller)
{
    sim_engines.utterances[0] = "do you have a table";
    sim_engines.tool = "table";
    sim_join(caller);
    world_run(500);
    sim_speak(caller, 1000);
    world_run(8000);
    sim_leave(caller);
}

static void one_call(void)
{
    struct world world;
    struct world_call call;
    sweep_pause();
    world_begin(&world, RICH_USD4);
    world_defaults(&call);
    sweep_resume();
    enum err err = world_call(&world, &call);
    CHECK(!err || sweep_failed());
    struct sim_caller *caller = err ? NULL : sim_caller("r1");
    if (caller)
        talk_and_leave(caller);
    world_run(SETTLED_MS);
    sweep_pause();
    check_settled("c1");
    CHECK_INT(sim_store_row("c1")->reason, err ? END_DISPATCH_FAILED : END_USER_LEFT);
    world_end(&world);
    sweep_resume();
}

TEST(a_call_outlives_any_one_fault)
{
    SWEEP(run)
    one_call();
}
