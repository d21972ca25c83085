/* Deliveries: who gets an event, how often it is tried, what a restart does. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "store/call.h"
#include "store/dead_letter.h"
#include "store/event.h"
#include "store/outbox.h"
#include "store/tx.h"
#include "store/webhook.h"
#include "unit/event/office.h"

STORE_TEST(an_event_reaches_subscription_agent_and_call)
{
    struct post_office office;
    office_open(&office, fix, 0, PROMPT_MS);
    static const char *all[] = {"*"}, *ended[] = {"call.ended"};
    struct call_webhook own[] = {
        {.url = url_to(&office, "/call"), .secret = "of_the_call", .events = {all, 1}},
        {.url = url_to(&office, "/other"), .secret = "", .events = {ended, 1}},
    };
    subscribe(&office, url_to(&office, "/subscription"), "*");
    subscribe(&office, url_to(&office, "/unwanted"), "call.ended");
    emit(&office, url_to(&office, "/agent"), own, 2, 1);
    if (wait_posts(&office, 3)) {
        const struct post *post = post_at(&office, "/subscription");
        CHECK_TEXT(post->type, "transcript.user");
        CHECK(strstr(post->body, "\"data\":{\"text\":\"h\xc3\xa9\"}"));
        CHECK(strstr(post->body, post->event_id));
        CHECK_INT(sign_verify("whsec_of_the_subscription", post->timestamp, post->signature,
                              post->body, strlen(post->body), clock_wall_ms() / 1000),
                  OK);
        const struct post *call = post_at(&office, "/call"), *agent = post_at(&office, "/agent");
        CHECK_INT(sign_verify("of_the_call", call->timestamp, call->signature, call->body,
                              strlen(call->body), clock_wall_ms() / 1000),
                  OK);
        CHECK_TEXT(agent->signature, "");
        CHECK_TEXT(agent->body, post->body);
    }
    office_close(&office);
}

static void check_four_attempts(struct post_office *office, const char *webhook_id, int status)
{
    if (!wait_posts(office, 4))
        return;
    for (size_t i = 0; i < 3; i++)
        CHECK_TEXT(office->posts[i].event_id, office->posts[i + 1].event_id);
    /* 210 ms less what the process was held up between two looks at its clocks, which tells of an
     * attempt late or has the next one early. */
    CHECK(office->posts[3].at_us - office->posts[0].at_us >= 70000);
    struct delivery delivery = settled(office, webhook_id);
    CHECK_INT(delivery.state, DELIVERY_FAILED);
    CHECK_INT(delivery.attempts, 4);
    CHECK_INT(delivery.status, status);
    CHECK_INT(office->count, 4);
}

STORE_TEST(a_failing_receiver_gets_four_attempts)
{
    struct post_office office;
    office_open(&office, fix, 0, PROMPT_MS);
    const char *id = subscribe(&office, url_to(&office, "/fail"), "*");
    emit(&office, "", NULL, 0, 1);
    check_four_attempts(&office, id, 500);
    office_close(&office);
}

STORE_TEST(a_redirect_is_a_failure)
{
    struct post_office office;
    office_open(&office, fix, 0, PROMPT_MS);
    const char *id = subscribe(&office, url_to(&office, "/redirect"), "*");
    emit(&office, "", NULL, 0, 1);
    check_four_attempts(&office, id, 302);
    office_close(&office);
}

STORE_TEST(no_answer_in_time_is_a_failure)
{
    struct post_office office;
    office_open(&office, fix, 0, SHORT_MS);
    const char *id = subscribe(&office, url_to(&office, "/hold"), "*");
    int64_t began_us = clock_now_us();
    emit(&office, "", NULL, 0, 1);
    if (wait_posts(&office, 4)) {
        struct delivery delivery = settled(&office, id);
        CHECK_INT(delivery.state, DELIVERY_FAILED);
        CHECK_INT(delivery.status, 0);
        CHECK(strstr(delivery.error, "no answer within 300 ms"));
        CHECK(office.posts[3].at_us - began_us >= 3 * 300000);
    }
    office_close(&office);
}

/* Once is enough: it takes so long. */
TEST(a_receiver_has_five_seconds)
{
    struct fix fix = {0};
    struct post_office office;
    fix_begin(&fix, false);
    office_open_with(&office, &fix, &(struct delivery_config){0});
    const char *id = subscribe(&office, url_to(&office, "/hold"), "*");
    int64_t began_us = clock_now_us();
    emit(&office, "", NULL, 0, 1);
    if (wait_posts(&office, 2)) {
        CHECK(office.posts[1].at_us - began_us >= 5000000);
        CHECK(strstr(newest(&office, id).error, "no answer within 5000 ms"));
    }
    office_close(&office);
    fix_end(&fix);
}

STORE_TEST(a_denied_address_uses_up_its_attempts)
{
    struct post_office office;
    office_open(&office, fix, 0, PROMPT_MS);
    const char *id = subscribe(&office, "http://10.0.0.1:9/", "*");
    emit(&office, "", NULL, 0, 1);
    struct delivery delivery = settled(&office, id);
    CHECK_INT(delivery.state, DELIVERY_FAILED);
    CHECK_INT(delivery.attempts, 4);
    CHECK(strstr(delivery.error, "not a public address"));
    office_close(&office);
}

STORE_TEST(a_slow_receiver_delays_no_other)
{
    struct post_office office;
    office_open_with(&office, fix,
                     &(struct delivery_config){
                         .answer_ms = 10 * WAIT_US / 1000, .max_per_receiver = 4, .stop_ms = 100});
    subscribe(&office, url_to(&office, "/hold"), "*");
    emit(&office, "", NULL, 0, 40);
    wait_posts(&office, 4); /* its four connections are taken */
    /* The same host and port would share them: another address is another receiver. */
    struct call_webhook own = {
        .url = arena_printf(fix->arena, "http://localhost:%u/quick",
                            http_server_address(office.server).port),
        .secret = "",
        .events = {(const char *[]){"*"}, 1},
    };
    emit(&office, "", &own, 1, 1);
    CHECK(wait_post_at(&office, "/quick")); /* while the other one still holds the four */
    CHECK_INT(office.count, 5);
    office_close(&office);
}

STORE_TEST(a_removed_subscription_drops_what_waits)
{
    struct post_office office;
    office_open(&office, fix, 0, PROMPT_MS);
    const char *id = subscribe(&office, url_to(&office, "/fail"), "*");
    emit(&office, "", NULL, 0, 1);
    wait_posts(&office, 1);
    struct tx *tx = fix_write(fix);
    CHECK_INT(store_webhook_remove(tx, fix->workspace_id, id), OK);
    CHECK_INT(fix_commit(tx), OK);
    wait_us(&office, 300000);
    CHECK(office.count <= 2); /* one may have been under way */
    office_close(&office);
}

static int64_t letters(struct post_office *office)
{
    struct tx *tx = fix_read(office->fix);
    int64_t count = QUERY_NUMBER(tx, -1, "SELECT COUNT(*) FROM dead_letters");
    fix_rollback(tx);
    return count;
}

STORE_TEST(what_was_set_aside_is_kept_for_a_while_only)
{
    struct post_office office;
    office_open(&office, fix, 0, PROMPT_MS);
    struct dead_letter old = {.kind = DEAD_EVENT, .workspace_id = "w", .subject_id = "old"};
    struct dead_letter fresh = {.kind = DEAD_EVENT, .workspace_id = "w", .subject_id = "fresh"};
    struct tx *tx = fix_write(fix);
    store_dead_letter_add(tx, &fresh);
    tx->now_ms -= DEAD_LETTERS_KEEP_MS + 1000;
    store_dead_letter_add(tx, &old);
    CHECK_INT(fix_commit(tx), OK);
    for (int64_t until_us = clock_now_us() + WAIT_US;
         letters(&office) > 1 && clock_now_us() < until_us;)
        wait_us(&office, 50000);
    CHECK_INT(letters(&office), 1);
    office_close(&office);
}

STORE_TEST(the_end_waits_for_the_one_that_is_under_way)
{
    struct post_office office;
    office_open(&office, fix, 0, PROMPT_MS);
    const char *id = subscribe(&office, url_to(&office, "/hold"), "*");
    emit(&office, "", NULL, 0, 1);
    REQUIRE(wait_posts(&office, 1));
    office.is_stopped = false;
    delivery_stop(office.deliverer, on_stopped, &office);
    CHECK(!office.is_stopped);
    REQUIRE(office.held_count == 1);
    http_answer(office.held[0], &(struct http_answer){.status = 204});
    office.held_count = 0;
    loop_run(office.loop);
    CHECK(office.is_stopped);
    CHECK_INT(newest(&office, id).state, DELIVERY_DELIVERED);
    delivery_free(TAKE(office.deliverer));
    office_start(&office, 0, PROMPT_MS);
    office_close(&office);
}

/* What is due in an hour is not looked for all the time. */
STORE_TEST(a_deliverer_at_rest_hardly_asks_its_database)
{
    enum { REST_US = 1000000, JOBS_MAX = 40 };
    struct post_office office;
    office_open(&office, fix, 0, PROMPT_MS);
    subscribe(&office, url_to(&office, "/later"), "*");
    emit(&office, "", NULL, 0, 1);
    REQUIRE(wait_posts(&office, 1));
    struct tx *tx = fix_write(fix);
    EXEC(tx,
         "UPDATE deliveries SET state = 'waiting', leased_by = '', attempts = 1, due_ms = due_ms + "
         "?",
         NUMBER(3600000));
    CHECK_INT(fix_commit(tx), OK);
    uint64_t before = store_commits(fix->store);
    delivery_wake(office.deliverer);
    wait_us(&office, REST_US);
    CHECK(store_commits(fix->store) - before <= JOBS_MAX);
    office_close(&office);
}

STORE_TEST(a_restart_goes_on_with_the_schedule)
{
    struct post_office office;
    office_open(&office, fix, 0, PROMPT_MS);
    const char *id = subscribe(&office, url_to(&office, "/fail"), "*");
    emit(&office, "", NULL, 0, 1);
    wait_posts(&office, 2);
    office_stop(&office);
    CHECK_INT(newest(&office, id).attempts, 2);
    office_start(&office, 0, PROMPT_MS);
    check_four_attempts(&office, id, 500);
    office_close(&office);
}

STORE_TEST(a_thousand_events_arrive_once_each)
{
    struct post_office office;
    office_open(&office, fix, 64, PROMPT_MS);
    const char *id = subscribe(&office, url_to(&office, "/ok"), "*");
    emit(&office, "", NULL, 0, 1000);
    wait_posts(&office, 1000);
    CHECK_INT(settled(&office, id).state, DELIVERY_DELIVERED);
    CHECK_INT(office.count, 1000);
    for (size_t i = 0; i < office.count; i++)
        for (size_t j = 0; j < i && j < 50; j++)
            CHECK(strcmp(office.posts[i].event_id, office.posts[j].event_id) != 0);
    office_close(&office);
}

STORE_TEST(a_test_event_is_sent_once)
{
    struct post_office office;
    office_open(&office, fix, 0, 5 * SHORT_MS);
    send_test(&office, "/ok");
    CHECK(office.test_result.is_ok && office.test_result.status == 204 &&
          !office.test_result.error);
    CHECK_TEXT(office.posts[0].type, "webhook.test");
    CHECK_INT(sign_verify("s", office.posts[0].timestamp, office.posts[0].signature,
                          "{\"id\":\"evt_1\"}", 14, clock_wall_ms() / 1000),
              OK);
    send_test(&office, "/fail");
    CHECK(!office.test_result.is_ok && office.test_result.status == 500);
    send_test(&office, "/hold");
    CHECK(!office.test_result.is_ok && office.test_result.status == 0 && office.test_result.error);
    wait_us(&office, 200000);
    CHECK_INT(office.count, 3);
    office_close(&office);
}

/* Nobody looks by itself before the test would have given up. */
STORE_TEST(what_the_store_tells_of_is_sent)
{
    static const struct delivery_config config = {.answer_ms = 60000, .look_again_ms = 3600000};
    struct post_office office;
    office_open_with(&office, fix, &config);
    subscribe(&office, url_to(&office, "/ok"), "*");
    for (size_t i = 1; i <= 3; i++) {
        emit_for_the_store_to_tell(&office);
        wait_posts(&office, i);
    }
    office_close(&office);
}

/* While a lease holds, no attempt is made twice, whichever of two nodes looks. */
TEST(two_nodes_share_the_work)
{
    struct fix fix = {0};
    struct post_office office;
    fix_begin(&fix, true);
    office_open(&office, &fix, 0, PROMPT_MS);
    struct store *other = fix_open(&fix, "node-b", "-b");
    const struct delivery_config config = {
        .loop = office.loop, .store = other, .resolver = office.resolver, .answer_ms = PROMPT_MS};
    struct deliverer *second = delivery_new(&config);
    const char *id = subscribe(&office, url_to(&office, "/ok"), "*");
    for (int i = 0; i < 10; i++) {
        emit(&office, "", NULL, 0, 100);
        delivery_wake(second);
    }
    wait_posts(&office, 1000);
    wait_us(&office, 200000);
    CHECK_INT(office.count, 1000);
    CHECK_INT(distinct_events(&office), 1000);
    CHECK_INT(settled(&office, id).state, DELIVERY_DELIVERED);
    office.is_stopped = false;
    delivery_stop(second, on_stopped, &office);
    if (!office.is_stopped)
        loop_run(office.loop);
    delivery_free(second);
    store_close(other);
    office_close(&office);
    fix_end(&fix);
}

TEST(a_database_that_goes_away_loses_no_event)
{
    enum { EVENTS = 400 };
    struct fix fix = {.is_pg = true};
    struct post_office office;
    struct postgres *postgres = postgres_start();
    REQUIRE(postgres != NULL);
    log_set(LOG_ERROR + 1, LOG_LOGFMT, 2);
    fix.arena = arena_new(0);
    snprintf(fix.dir, sizeof(fix.dir), "/tmp/earshot-event-XXXXXX");
    REQUIRE(mkdtemp(fix.dir) && postgres_database(postgres, "away", fix.url, sizeof(fix.url)));
    fix.store = fix_open(&fix, "", "");
    REQUIRE(fix.store != NULL);
    office_open(&office, &fix, 8, PROMPT_MS);
    subscribe(&office, url_to(&office, "/ok"), "*");
    emit(&office, "", NULL, 0, EVENTS);
    while (office.count < EVENTS / 4)
        wait_us(&office, 1000);
    postgres_crash(postgres);
    wait_us(&office, 500000);
    REQUIRE(postgres_again(postgres));
    for (int i = 0; i < 900 && (distinct_events(&office) < EVENTS || still_waiting(&office) > 0);
         i++)
        wait_us(&office, 100000);
    CHECK_INT(distinct_events(&office), EVENTS);
    CHECK_INT(still_waiting(&office), 0);
    office_close(&office);
    store_close(fix.store);
    arena_free(fix.arena);
    postgres_stop(postgres);
}

TEST(four_attempts_with_the_pauses_of_the_contract)
{
    static const int64_t want_ms[] = {-1, 1000, 5000, 15000, -1};
    for (int i = 0; i < 5; i++)
        CHECK_INT(delivery_pause_ms(i), want_ms[i]);
}
