#include "call/money.h"

#include <stdio.h>

#include "model/workspace.h"
#include "store/call.h"
#include "store/money.h"
#include "store/workspace.h"
#include "test.h"
#include "unit/call/desk.h"

struct scene {
    struct desk desk;
    struct money money;
    struct money_seat seat;
    int told;
    int64_t exhausted_us;
    bool is_fenced;
    int64_t used_us; /* 0: until now */
    struct workspace workspace;
};

static int64_t billed_to(void *arg)
{
    const struct scene *scene = arg;
    return scene->used_us ? scene->seat.begun_us + scene->used_us : loop_now_us(scene->desk.loop);
}

static void told(void *arg, int64_t exhausted_us, bool is_fenced)
{
    struct scene *scene = arg;
    scene->told++;
    scene->exhausted_us = exhausted_us;
    scene->is_fenced = is_fenced;
    loop_stop(scene->desk.loop);
}

static enum err caller_joins(struct tx *tx, void *arg)
{
    struct scene *scene = arg;
    struct call_funds funds = {.at_us = scene->seat.begun_us};
    return store_call_user_joined(tx, scene->desk.call_id, "me", tx->now_ms, &funds);
}

static enum err credit(struct tx *tx, void *arg)
{
    struct scene *scene = arg;
    return store_workspace_credit(tx, scene->desk.workspace_id, DESK_BALANCE_USD4, NULL);
}

static void begin(struct scene *scene)
{
    *scene = (struct scene){0};
    desk_open(&scene->desk);
    money_init(&scene->money, scene->desk.store, scene->desk.loop);
    scene->seat = (struct money_seat){.call_id = scene->desk.call_id,
                                      .workspace_id = scene->desk.workspace_id,
                                      .begun_us = loop_now_us(scene->desk.loop),
                                      .billed_to_us = billed_to,
                                      .told = told,
                                      .arg = scene};
    desk_write(&scene->desk, caller_joins, scene);
    money_join(&scene->money, &scene->seat);
}

static void end(struct scene *scene)
{
    money_leave(&scene->seat);
    money_clear(&scene->money);
    desk_close(&scene->desk);
}

/* Of a call that has lasted moments: the whole balance is ahead. */
static void check_lasts(const struct scene *scene, int64_t seconds)
{
    int64_t lasts_us = scene->exhausted_us - scene->seat.begun_us;
    CHECK(lasts_us > (seconds - 2) * 1000000 && lasts_us <= (seconds + 1) * 1000000);
}

TEST(money_tells_when_it_will_be_out)
{
    struct scene scene;
    begin(&scene);
    money_ask(&scene.money);
    desk_run(&scene.desk);
    CHECK_INT(scene.told, 1);
    CHECK(!scene.is_fenced);
    check_lasts(&scene, 100);
    end(&scene);
}

static enum err read_balance(struct tx *tx, void *arg)
{
    struct scene *scene = arg;
    return store_workspace_get(tx, scene->desk.workspace_id, &scene->workspace);
}

TEST(money_takes_what_was_used_while_the_call_goes_on)
{
    struct scene scene;
    begin(&scene);
    for (int seconds = 10; seconds <= 30; seconds += 10) {
        scene.used_us = seconds * INT64_C(1000000) + 900000; /* whole seconds are taken */
        money_ask(&scene.money);
        desk_run(&scene.desk);
        desk_read(&scene.desk, read_balance, &scene);
        CHECK_INT(scene.workspace.balance_usd4, DESK_BALANCE_USD4 - seconds * DESK_RATE_USD4 / 60);
    }
    end(&scene);
}

TEST(money_hears_of_a_credit)
{
    struct scene scene;
    begin(&scene);
    desk_write(&scene.desk, credit, &scene);
    money_hint(&scene.money);
    desk_run(&scene.desk);
    CHECK_INT(scene.told, 1);
    check_lasts(&scene, 200);
    end(&scene);
}

TEST(money_of_a_call_that_another_has_taken_over_is_fenced)
{
    struct scene scene;
    begin(&scene);
    desk_start_again(&scene.desk);
    money_ask(&scene.money);
    desk_run(&scene.desk);
    CHECK(scene.is_fenced);
    end(&scene);
}

TEST(money_of_a_seat_that_has_left_is_nobodys)
{
    struct scene scene;
    begin(&scene);
    struct money_seat left = {.call_id = "gone",
                              .workspace_id = scene.desk.workspace_id,
                              .begun_us = scene.seat.begun_us,
                              .billed_to_us = billed_to,
                              .told = NULL, /* must not come */
                              .arg = &scene};
    money_join(&scene.money, &left);
    money_ask(&scene.money);
    money_leave(&left);
    desk_run(&scene.desk);
    CHECK_INT(scene.told, 1);
    end(&scene);
}
