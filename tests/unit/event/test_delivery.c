#include "event/delivery.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "event/sign.h"
#include "net/http_server.h"
#include "net/resolver.h"
#include "store/call.h"
#include "store/event.h"
#include "store/webhook.h"
#include "test.h"
#include "unit/store/fixture.h"

enum {
    POSTS_MAX = 2000,
    WAIT_US = 20 * 1000000,
    SCALE_PPM = 10000, /* pauses of 10, 50, 150 ms */
    PROMPT_MS = 5000,  /* the answer's time where receivers answer, however slow the machine */
    SHORT_MS = 300,    /* where they do not */
};

struct post {
    char path[32], type[40], event_id[ID_SIZE], timestamp[24], signature[SIGN_HEADER_SIZE];
    char *body;
    int64_t at_us;
};

/* A store, the deliverer and its receivers on one loop. The path says how a receiver behaves. */
struct post_office {
    struct fix *fix;
    struct loop *loop;
    struct guard *guard;
    struct resolver *resolver;
    struct http_server *server;
    struct deliverer *deliverer;
    struct post posts[POSTS_MAX];
    size_t count, wanted;
    struct http_exchange *held[POSTS_MAX];
    size_t held_count;
    struct timer limit, look;
    bool is_stopped, timed_out;
    struct delivery_test_result test_result;
    bool has_test_result;
};

static void copy_header(struct http_exchange *exchange, const char *name, char *out, size_t size)
{
    const char *value = http_exchange_header(exchange, name);
    snprintf(out, size, "%s", value ? value : "");
}

static void on_post(void *arg, struct http_exchange *exchange)
{
    struct post_office *office = arg;
    const struct http_request *request = http_exchange_request(exchange);
    struct http_answer answer = {.status = 204};
    if (office->count < POSTS_MAX) {
        struct post *post = &office->posts[office->count++];
        post->at_us = clock_now_us();
        post->body = mem_strdup(request->body);
        snprintf(post->path, sizeof(post->path), "%s", request->path);
        copy_header(exchange, "X-Service-Event", post->type, sizeof(post->type));
        copy_header(exchange, "X-Service-Delivery", post->event_id, sizeof(post->event_id));
        copy_header(exchange, "X-Service-Timestamp", post->timestamp, sizeof(post->timestamp));
        copy_header(exchange, "X-Service-Signature", post->signature, sizeof(post->signature));
    }
    if (strcmp(request->path, "/hold") == 0) {
        office->held[office->held_count++] = exchange;
        return;
    }
    if (strcmp(request->path, "/fail") == 0)
        answer.status = 500;
    if (strcmp(request->path, "/redirect") == 0)
        answer.status = 302;
    http_answer(exchange, &answer);
}

static void office_start(struct post_office *office, unsigned per_receiver, int64_t answer_ms)
{
    const struct delivery_config config = {
        .loop = office->loop,
        .store = office->fix->store,
        .resolver = office->resolver,
        .answer_ms = answer_ms,
        .pause_scale_ppm = SCALE_PPM,
        .max_per_receiver = per_receiver,
    };
    office->deliverer = delivery_new(&config);
}

static void office_open(struct post_office *office, struct fix *fix, unsigned per_receiver,
                        int64_t answer_ms)
{
    static const struct http_handler handler = {.on_request = on_post};
    const struct http_server_config config = {.bind = net_addr_ipv4(127, 0, 0, 1, 0)};
    memset(office, 0, sizeof(*office));
    office->fix = fix;
    office->loop = loop_new("test");
    fix_people(fix);
    CHECK(guard_new("127.0.0.1", &office->guard, NULL) == OK);
    CHECK(resolver_new(office->loop, office->guard, NULL, &office->resolver, NULL) == OK);
    CHECK(http_server_open(office->loop, &config, &handler, office, &office->server, NULL) == OK);
    office_start(office, per_receiver, answer_ms);
}

static void on_limit(void *arg)
{
    struct post_office *office = arg;
    office->timed_out = true;
    loop_stop(office->loop);
}

static void on_look(void *arg)
{
    struct post_office *office = arg;
    if (office->count >= office->wanted)
        loop_stop(office->loop);
    else
        timer_set_after(&office->look, 1000);
}

static bool wait_posts(struct post_office *office, size_t wanted)
{
    office->wanted = wanted;
    office->timed_out = false;
    timer_init(&office->limit, office->loop, on_limit, office);
    timer_init(&office->look, office->loop, on_look, office);
    timer_set_after(&office->limit, WAIT_US);
    timer_set_after(&office->look, 0);
    loop_run(office->loop);
    timer_stop(&office->limit);
    timer_stop(&office->look);
    return CHECK(!office->timed_out) && CHECK_INT(office->count, wanted);
}

static void wait_us(struct post_office *office, int64_t us)
{
    timer_init(&office->limit, office->loop, on_limit, office);
    timer_set_after(&office->limit, us);
    loop_run(office->loop);
}

static void on_stopped(void *arg)
{
    struct post_office *office = arg;
    office->is_stopped = true;
    loop_stop(office->loop);
}

static void office_stop(struct post_office *office)
{
    office->is_stopped = false;
    delivery_stop(office->deliverer, on_stopped, office);
    if (!office->is_stopped)
        loop_run(office->loop);
    delivery_free(TAKE(office->deliverer));
}

static void office_close(struct post_office *office)
{
    office_stop(office);
    http_server_close(office->server);
    for (size_t i = 0; i < office->held_count; i++)
        http_answer_error(office->held[i], 500, "X", "over");
    resolver_free(office->resolver);
    loop_free(office->loop);
    guard_free(office->guard);
    for (size_t i = 0; i < office->count; i++)
        mem_free(office->posts[i].body);
}

static size_t distinct_events(const struct post_office *office)
{
    AUTO(map) seen = map_new();
    for (size_t i = 0; i < office->count; i++)
        map_set_str(seen, office->posts[i].event_id, (void *)office);
    return map_count(seen);
}

static const char *url_to(struct post_office *office, const char *path)
{
    return arena_printf(office->fix->arena, "http://127.0.0.1:%u%s",
                        http_server_address(office->server).port, path);
}

static const char *subscribe(struct post_office *office, const char *url, const char *event)
{
    struct tx *tx = fix_write(office->fix);
    struct webhook webhook = {.user_id = office->fix->workspace_id,
                              .url = url,
                              .events = {&event, 1},
                              .is_enabled = true,
                              .secret = "whsec_of_the_subscription"};
    CHECK_INT(store_webhook_insert(tx, &webhook), OK);
    const char *id = arena_strdup(office->fix->arena, webhook.id);
    CHECK_INT(fix_commit(tx), OK);
    return id;
}

/* A call with the agent's webhookUrl and webhooks of its own, then `count` events of it. */
static void emit(struct post_office *office, const char *agent_url, struct call_webhook *own,
                 size_t own_count, int count)
{
    struct tx *tx = fix_write(office->fix);
    char id[ID_SIZE];
    uuid_new(id);
    struct call call = {.id = id,
                        .user_id = office->fix->workspace_id,
                        .agent_id = office->fix->agent_id,
                        .room_name = "room",
                        .participant_identity = "caller",
                        .metadata = "{}",
                        .metadata_sent = "{\"order\":7}",
                        .webhooks = {own, own_count}};
    CHECK_INT(store_call_insert(tx, &call, agent_url, tx->now_ms + 3600000), OK);
    for (int i = 0; i < count; i++)
        CHECK_INT(
            store_event_emit(tx, id, EVENT_TRANSCRIPT_USER, &(struct event_text){"h\xc3\xa9"}), OK);
    CHECK_INT(fix_commit(tx), OK);
    delivery_wake(office->deliverer);
}

static const struct post *post_at(struct post_office *office, const char *path)
{
    for (size_t i = 0; i < office->count; i++)
        if (strcmp(office->posts[i].path, path) == 0)
            return &office->posts[i];
    return NULL;
}

static struct delivery newest(struct post_office *office, const char *webhook_id)
{
    struct tx *tx = fix_read(office->fix);
    struct delivery_list list = {0};
    struct delivery first = {0};
    CHECK_INT(store_delivery_list(tx, office->fix->workspace_id, webhook_id, 1, NULL, &list), OK);
    if (CHECK_INT(list.count, 1)) {
        first = list.items[0];
        first.error = arena_strdup(office->fix->arena, first.error);
    }
    fix_rollback(tx);
    return first;
}

/* The newest delivery once it is settled: outcomes are written a little after they came. */
static struct delivery settled(struct post_office *office, const char *webhook_id)
{
    struct delivery delivery = newest(office, webhook_id);
    for (int i = 0; i < 250 && delivery.state == DELIVERY_WAITING; i++) {
        wait_us(office, 20000);
        delivery = newest(office, webhook_id);
    }
    return delivery;
}

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
    static const int64_t least_us[] = {10000, 50000, 150000};
    if (!wait_posts(office, 4))
        return;
    for (size_t i = 0; i < 3; i++) {
        int64_t gap_us = office->posts[i + 1].at_us - office->posts[i].at_us;
        CHECK(gap_us >= least_us[i] - 1000 && gap_us < least_us[i] + 1000000);
        CHECK_TEXT(office->posts[i].event_id, office->posts[i + 1].event_id);
    }
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
    emit(&office, "", NULL, 0, 1);
    if (wait_posts(&office, 4)) {
        struct delivery delivery = settled(&office, id);
        CHECK_INT(delivery.state, DELIVERY_FAILED);
        CHECK_INT(delivery.status, 0);
        CHECK(strstr(delivery.error, "no answer within 300 ms"));
        for (size_t i = 0; i < 3; i++)
            CHECK(office.posts[i + 1].at_us - office.posts[i].at_us >= 300000);
    }
    office_close(&office);
}

STORE_TEST(a_denied_address_uses_up_its_attempts)
{
    struct post_office office;
    office_open(&office, fix, 0, PROMPT_MS);
    const char *id = subscribe(&office, "http://127.0.0.2:9/", "*");
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
    office_open(&office, fix, 4, SHORT_MS);
    subscribe(&office, url_to(&office, "/hold"), "*");
    emit(&office, "", NULL, 0, 40);
    wait_posts(&office, 4); /* its four connections are taken */
    int64_t began_us = clock_now_us();
    /* The same host and port would share them: another address is another receiver. */
    struct call_webhook own = {
        .url = arena_printf(fix->arena, "http://localhost:%u/quick",
                            http_server_address(office.server).port),
        .secret = "",
        .events = {(const char *[]){"*"}, 1},
    };
    emit(&office, "", &own, 1, 1);
    while (!post_at(&office, "/quick") && clock_now_us() - began_us < WAIT_US)
        wait_us(&office, 1000);
    const struct post *quick = post_at(&office, "/quick");
    CHECK(quick && quick->at_us - began_us < 250000);
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

static void on_test_result(void *arg, const struct delivery_test_result *result)
{
    struct post_office *office = arg;
    office->test_result = *result;
    office->test_result.error = result->error ? "error" : NULL;
    office->has_test_result = true;
    loop_stop(office->loop);
}

static void send_test(struct post_office *office, const char *path)
{
    const struct delivery_test test = {.url = url_to(office, path),
                                       .secret = "s",
                                       .event_id = "evt_1",
                                       .type = "webhook.test",
                                       .body = "{\"id\":\"evt_1\"}"};
    delivery_send_test(office->deliverer, &test, office->loop, on_test_result, office);
    loop_run(office->loop);
}

STORE_TEST(a_test_event_is_sent_once)
{
    struct post_office office;
    office_open(&office, fix, 0, SHORT_MS);
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

struct waiting_count {
    struct post_office *office;
    int64_t count;
};

static enum err count_waiting(struct tx *tx, void *arg)
{
    struct waiting_count *waiting = arg;
    return store_outbox_waiting(tx, &waiting->count);
}

static void on_counted(void *arg, enum err err)
{
    struct waiting_count *waiting = arg;
    CHECK_INT(err, OK);
    loop_stop(waiting->office->loop);
}

static int64_t still_waiting(struct post_office *office)
{
    struct waiting_count waiting = {office, -1};
    CHECK_INT(store_job(office->fix->store, STORE_READ, count_waiting, &waiting, office->loop,
                        on_counted),
              OK);
    loop_run(office->loop);
    return waiting.count;
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
    for (int i = 0; i < 150 && (distinct_events(&office) < EVENTS || still_waiting(&office) > 0);
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
