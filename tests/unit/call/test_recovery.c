#include "call/recovery.h"

#include <stdatomic.h>
#include <stdio.h>

#include "await.h"
#include "model/call.h"
#include "store/call.h"
#include "test.h"
#include "unit/call/desk.h"

enum { CALLS = 45 /* more than two batches */ };

struct scene {
    struct desk desk;
    char ids[CALLS][ID_SIZE];
    int running;
};

static void is_first_over(void *arg)
{
    struct scene *scene = arg;
    loop_stop(scene->desk.loop);
}

static enum err count_running(struct tx *tx, void *arg)
{
    struct scene *scene = arg;
    int64_t running = 0;
    enum err err = store_call_running(tx, scene->desk.workspace_id, &running);
    scene->running = (int)running;
    return err;
}

static enum err check_reasons(struct tx *tx, void *arg)
{
    struct scene *scene = arg;
    for (int i = 0; i < CALLS; i++) {
        struct call call;
        CHECK_INT(store_call_row(tx, scene->desk.workspace_id, NULL, scene->ids[i], &call), OK);
        CHECK_INT(call.status, CALL_ENDED);
        CHECK_INT(call.end_reason, END_AGENT_SHUTDOWN);
    }
    return OK;
}

TEST(recovery_ends_the_calls_of_an_earlier_start_and_no_others)
{
    struct scene scene = {0};
    desk_open(&scene.desk);
    for (int i = 0; i < CALLS; i++) {
        if (i > 0)
            desk_add_call(&scene.desk);
        snprintf(scene.ids[i], ID_SIZE, "%s", scene.desk.call_id);
    }
    desk_start_again(&scene.desk);
    desk_add_call(&scene.desk);
    desk_read(&scene.desk, count_running, &scene);
    CHECK_INT(scene.running, CALLS + 1);
    struct recovery *recovery = recovery_new(scene.desk.store, scene.desk.loop, false);
    recovery_start(recovery, is_first_over, &scene);
    desk_run(&scene.desk);
    desk_read(&scene.desk, count_running, &scene);
    CHECK_INT(scene.running, 1);
    desk_read(&scene.desk, check_reasons, &scene);
    recovery_free(recovery);
    desk_close(&scene.desk);
}

/* A database that takes a job and does not answer it until it is let go. */
struct held {
    struct scene scene;
    atomic_bool is_let_go;
    bool is_ready;
};

static enum err hold_the_writer(struct tx *tx, void *arg)
{
    struct held *held = arg;
    (void)tx;
    return AWAITED(atomic_load(&held->is_let_go), 60) ? OK : ERR_TIMEOUT;
}

static void has_let_go(void *arg, enum err err)
{
    (void)arg;
    CHECK_INT(err, OK);
}

static enum err nothing(struct tx *tx, void *arg)
{
    (void)tx, (void)arg;
    return OK;
}

static void all_are_done(void *arg, enum err err)
{
    struct held *held = arg;
    CHECK_INT(err, OK);
    loop_stop(held->scene.desk.loop);
}

static void is_ready(void *arg)
{
    struct held *held = arg;
    held->is_ready = true;
    loop_stop(held->scene.desk.loop);
}

TEST(recovery_keeps_a_start_waiting_for_so_long_only)
{
    struct held held = {0};
    struct desk *desk = &held.scene.desk;
    const struct store_line own = {.mode = STORE_WRITE, .lane = STORE_OWN};
    desk_open(desk);
    REQUIRE(store_job_for(desk->store, own, hold_the_writer, &held, desk->loop, has_let_go) == OK);
    struct recovery *recovery = recovery_new(desk->store, desk->loop, false);
    recovery_start(recovery, is_ready, &held);
    desk_run(desk);
    CHECK(held.is_ready && !atomic_load(&held.is_let_go));
    REQUIRE(store_job_for(desk->store, own, nothing, &held, desk->loop, all_are_done) == OK);
    atomic_store(&held.is_let_go, true);
    desk_run(desk);
    recovery_free(recovery);
    desk_close(desk);
}
