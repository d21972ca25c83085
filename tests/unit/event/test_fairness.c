/* Nobody waits for another's receivers; pauses follow elapsed time; the end is bounded. */
#include <stdatomic.h>
#include <string.h>

#include "await.h"
#include "base/clock.h"
#include "store/event.h"
#include "store/webhook.h"
#include "unit/event/office.h"

/* Fairness. Receivers at /hold never answer within a test. */

static void on_hog_result(void *arg, const struct delivery_test_result *result)
{
    struct post_office *office = arg;
    office->refused_tests += result->error != NULL && !result->is_ok;
}

STORE_TEST(mute_receivers_of_one_tenant_delay_no_other)
{
    enum { UNDER_WAY = 256, MUTE = 40, EVENTS = 20 };
    struct post_office office;
    office_open_with(
        &office, fix,
        &(struct delivery_config){.answer_ms = 60000, .max_under_way = UNDER_WAY, .stop_ms = 100});
    for (int i = 0; i < MUTE; i++)
        subscribe(&office, url_at(&office, 1 + i, "/hold"), "*");
    emit(&office, "", NULL, 0, EVENTS);
    wait_us(&office, 500000);
    switch_tenant(&office, NULL);
    subscribe(&office, url_at(&office, 1, "/ok"), "*"); /* also at a host that is mute to others */
    for (int i = 1; i <= 5; i++) {
        emit(&office, "", NULL, 0, 1);
        int64_t until_us = clock_now_us() + WAIT_US;
        while (posts_at(&office, "/ok") < (size_t)i && clock_now_us() < until_us)
            wait_us(&office, 2000);
        CHECK_INT(posts_at(&office, "/ok"), i);
    }
    CHECK(posts_at(&office, "/hold") <= UNDER_WAY / 2); /* the rest is there for others */
    office_close(&office);
}

STORE_TEST(a_dead_host_delays_no_other_of_its_own_workspace)
{
    struct post_office office;
    office_open_with(&office, fix, &(struct delivery_config){.answer_ms = 60000, .stop_ms = 100});
    subscribe(&office, url_at(&office, 1, "/hold"), "*");
    emit(&office, "", NULL, 0, 1500);
    wait_posts(&office, 16);
    wait_us(&office, 100000);
    CHECK_INT(posts_at(&office, "/hold"), 16);
    subscribe(&office, url_at(&office, 2, "/ok"), "call.started");
    struct call_webhook own = {
        .url = url_at(&office, 3, "/own"), .secret = "", .events = {(const char *[]){"*"}, 1}};
    emit(&office, url_at(&office, 4, "/agent"), &own, 1, 1);
    wait_post_at(&office, "/own");
    wait_post_at(&office, "/agent");
    office_close(&office);
}

/* A tenant's failing receiver is the same host as another's that answers. */
STORE_TEST(a_host_is_judged_for_each_workspace)
{
    struct post_office office;
    office_open_with(&office, fix, &(struct delivery_config){.answer_ms = SHORT_MS});
    subscribe(&office, url_at(&office, 1, "/hold"), "*");
    emit(&office, "", NULL, 0, 100);
    wait_us(&office, 3 * SHORT_MS * 1000);
    switch_tenant(&office, NULL);
    subscribe(&office, url_at(&office, 1, "/ok"), "*");
    emit(&office, "", NULL, 0, 300);
    int64_t until_us = clock_now_us() + WAIT_US;
    while (posts_at(&office, "/ok") < 300 && clock_now_us() < until_us)
        wait_us(&office, 2000);
    CHECK(posts_at(&office, "/ok") >= 300); /* a slow machine may send one again */
    office_close(&office);
}

TEST(two_nodes_are_fair_as_well)
{
    struct fix fix = {0};
    struct post_office office;
    fix_begin(&fix, true);
    office_open_with(
        &office, &fix,
        &(struct delivery_config){.answer_ms = 60000, .max_under_way = 64, .stop_ms = 100});
    struct store *other = fix_open(&fix, "node-b", "-b");
    const struct delivery_config config = {.loop = office.loop,
                                           .store = other,
                                           .resolver = office.resolver,
                                           .answer_ms = 60000,
                                           .max_under_way = 64,
                                           .stop_ms = 100};
    struct deliverer *second = delivery_new(&config);
    for (int i = 0; i < 20; i++)
        subscribe(&office, url_at(&office, 1 + i, "/hold"), "*");
    emit(&office, "", NULL, 0, 50);
    delivery_wake(second);
    wait_us(&office, 500000);
    CHECK(posts_at(&office, "/hold") <= 64); /* half of each */
    switch_tenant(&office, NULL);
    subscribe(&office, url_at(&office, 1, "/ok"), "*");
    emit(&office, "", NULL, 0, 40);
    int64_t until_us = clock_now_us() + WAIT_US;
    while (posts_at(&office, "/ok") < 40 && clock_now_us() < until_us)
        wait_us(&office, 2000);
    CHECK_INT(posts_at(&office, "/ok"), 40);
    office.is_stopped = false;
    delivery_stop(second, on_stopped, &office);
    if (!office.is_stopped)
        loop_run(office.loop);
    delivery_free(second);
    store_close(other);
    office_close(&office);
    fix_end(&fix);
}

STORE_TEST(more_than_the_ceiling_is_given_up)
{
    struct post_office office;
    office_open_with(
        &office, fix,
        &(struct delivery_config){.answer_ms = 60000, .most_waiting = 100, .stop_ms = 100});
    const char *id = subscribe(&office, url_at(&office, 1, "/hold"), "*");
    emit(&office, "", NULL, 0, 400);
    int64_t until_us = clock_now_us() + WAIT_US;
    while (still_waiting(&office) > 116 && clock_now_us() < until_us)
        wait_us(&office, 20000);
    CHECK(still_waiting(&office) >= 100); /* 16 of them are under way, or were counted before */
    CHECK_INT(newest(&office, id).state, DELIVERY_WAITING);
    office_close(&office);
}

STORE_TEST(test_events_of_one_tenant_leave_room)
{
    struct post_office office;
    office_open_with(&office, fix, &(struct delivery_config){.answer_ms = 60000, .stop_ms = 100});
    struct delivery_test test = {.workspace_id = "usr_hog",
                                 .url = url_to(&office, "/hold"),
                                 .secret = "s",
                                 .event_id = "evt_1",
                                 .type = "webhook.test",
                                 .body = "{}"};
    for (int i = 0; i < 300; i++)
        delivery_send_test(office.deliverer, &test, office.loop, on_hog_result, &office);
    int64_t until_us = clock_now_us() + WAIT_US;
    while ((posts_at(&office, "/hold") < 8 || office.refused_tests < 284) &&
           clock_now_us() < until_us)
        wait_us(&office, 2000);
    wait_us(&office, 100000); /* in which no more may come */
    CHECK_INT(posts_at(&office, "/hold"), 8);
    CHECK_INT(office.refused_tests, 284); /* 8 under way, 8 wait */
    send_test(&office, "/ok");
    CHECK(office.test_result.is_ok);
    office_close(&office);
    CHECK_INT(office.refused_tests, 300); /* each is answered */
}

/* Ends. */

struct hold {
    _Atomic bool is_held, is_over;
};

static enum err hold_work(struct tx *tx, void *arg)
{
    (void)tx;
    struct hold *hold = arg;
    atomic_store(&hold->is_held, true);
    return AWAITED(atomic_load(&hold->is_over), 60) ? OK : ERR_TIMEOUT;
}

static struct loop *loop_of_hold;

static void hold_done(void *arg, enum err err)
{
    (void)arg;
    CHECK_INT(err, OK);
    loop_stop(loop_of_hold);
}

/* The store takes nothing, the receiver answers nothing: it ends in time all the same. */
TEST(the_end_is_bounded_whatever_the_store_does)
{
    struct fix fix = {0};
    struct post_office office;
    struct hold hold = {0};
    fix_begin(&fix, false);
    office_open_with(&office, &fix, &(struct delivery_config){.answer_ms = 60000, .stop_ms = 200});
    subscribe(&office, url_at(&office, 1, "/hold"), "*");
    subscribe(&office, url_at(&office, 2, "/ok"), "*");
    emit(&office, "", NULL, 0, 10);
    wait_posts(&office, 20);
    CHECK_INT(store_job(fix.store, STORE_WRITE, hold_work, &hold, NULL, NULL), OK);
    int64_t began_us = clock_now_us();
    office_stop(&office);
    CHECK(clock_now_us() - began_us < 40 * 1000000);
    loop_of_hold = office.loop;
    atomic_store(&hold.is_over, true); /* what was left to the store ends by itself */
    CHECK_INT(store_job(fix.store, STORE_WRITE, hold_work, &hold, office.loop, hold_done), OK);
    loop_run(office.loop);
    office_start(&office, 0, PROMPT_MS);
    office_close(&office);
    fix_end(&fix);
}

/* Clocks. */

static void check_steps(struct post_office *office, int64_t step_ms)
{
    static const int64_t least_us[] = {100000, 500000, 1500000};
    const char *id = subscribe(office, url_to(office, "/fail"), "*");
    emit(office, "", NULL, 0, 1);
    for (size_t i = 1; i <= 3; i++) {
        if (!wait_posts(office, i))
            return;
        wait_us(office, 30000); /* its outcome is written */
        clock_step_wall(step_ms);
        delivery_wake(office->deliverer);
    }
    wait_posts(office, 4);
    /* Half: a busy machine notices an arrival late. By the calendar there would be no pause. */
    for (size_t i = 0; i < 3 && i + 1 < office->count; i++)
        CHECK(office->posts[i + 1].at_us - office->posts[i].at_us >= least_us[i] / 2);
    CHECK_INT(settled(office, id).state, DELIVERY_FAILED);
    clock_step_wall(-3 * step_ms);
}

STORE_TEST(pauses_follow_elapsed_time_when_the_clock_is_set_back)
{
    struct post_office office;
    office_open_with(&office, fix,
                     &(struct delivery_config){.answer_ms = PROMPT_MS, .pause_scale_ppm = 100000});
    check_steps(&office, -3600000);
    office_close(&office);
}

STORE_TEST(pauses_follow_elapsed_time_when_the_clock_is_set_forward)
{
    struct post_office office;
    office_open_with(&office, fix,
                     &(struct delivery_config){.answer_ms = PROMPT_MS, .pause_scale_ppm = 100000});
    check_steps(&office, 3600000);
    office_close(&office);
}

/* The retry waits for at most the longest pause, not for the hour. */
STORE_TEST(a_clock_set_back_between_two_runs_delays_no_retry_by_it)
{
    struct post_office office;
    office_open(&office, fix, 0, PROMPT_MS);
    subscribe(&office, url_to(&office, "/fail"), "*");
    emit(&office, "", NULL, 0, 1);
    wait_posts(&office, 1);
    office_stop(&office);
    clock_step_wall(-3600000);
    office_start(&office, 0, PROMPT_MS);
    wait_posts(&office, 4);
    clock_step_wall(3600000);
    office_close(&office);
}

/* Subscriptions that go: what waits for a connection is not sent. */
STORE_TEST(nothing_is_sent_after_a_subscription_is_disabled)
{
    struct post_office office;
    office_open_with(
        &office, fix,
        &(struct delivery_config){.answer_ms = 60000, .max_per_receiver = 1, .stop_ms = 100});
    const char *id = subscribe(&office, url_to(&office, "/hold"), "*");
    emit(&office, "", NULL, 0, 50);
    wait_posts(&office, 1);
    struct tx *tx = fix_write(fix);
    struct webhook webhook;
    REQUIRE(store_webhook_get(tx, fix->workspace_id, id, &webhook) == OK);
    webhook.is_enabled = false;
    CHECK_INT(store_webhook_update(tx, &webhook), OK);
    CHECK_INT(fix_commit(tx), OK);
    delivery_drop(office.deliverer, id);
    struct http_answer answer = {.status = 204};
    http_answer(office.held[0], &answer);
    office.held_count = 0;
    wait_us(&office, 500000);
    CHECK_INT(office.count, 1);
    CHECK_INT(still_waiting(&office), 0);
    office_close(&office);
}
