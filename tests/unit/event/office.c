#include "unit/event/office.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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
#include "store/outbox.h"
#include "store/tx.h"
#include "store/webhook.h"
#include "test.h"
#include "unit/store/fixture.h"

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

void office_start_with(struct post_office *office, const struct delivery_config *given)
{
    struct delivery_config config = *given;
    config.loop = office->loop;
    config.store = office->fix->store;
    config.resolver = office->resolver;
    config.pause_scale_ppm = given->pause_scale_ppm ? given->pause_scale_ppm : SCALE_PPM;
    office->deliverer = delivery_new(&config);
}

void office_start(struct post_office *office, unsigned per_receiver, int64_t answer_ms)
{
    office_start_with(office, &(struct delivery_config){.answer_ms = answer_ms,
                                                        .max_per_receiver = per_receiver});
}

void office_open_with(struct post_office *office, struct fix *fix,
                      const struct delivery_config *given)
{
    static const struct http_handler handler = {.on_request = on_post};
    const struct http_server_config config = {.bind = net_addr_ipv4(0, 0, 0, 0, 0)};
    memset(office, 0, sizeof(*office));
    office->fix = fix;
    office->loop = loop_new("test");
    fix_people(fix);
    CHECK(guard_new("127.0.0.0/8", &office->guard, NULL) == OK);
    CHECK(resolver_new(office->loop, office->guard, NULL, &office->resolver, NULL) == OK);
    CHECK(http_server_open(office->loop, &config, &handler, office, &office->server, NULL) == OK);
    office_start_with(office, given);
}

void office_open(struct post_office *office, struct fix *fix, unsigned per_receiver,
                 int64_t answer_ms)
{
    office_open_with(
        office, fix,
        &(struct delivery_config){.answer_ms = answer_ms, .max_per_receiver = per_receiver});
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

bool wait_posts(struct post_office *office, size_t wanted)
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

void wait_us(struct post_office *office, int64_t us)
{
    timer_init(&office->limit, office->loop, on_limit, office);
    timer_set_after(&office->limit, us);
    loop_run(office->loop);
}

void on_stopped(void *arg)
{
    struct post_office *office = arg;
    office->is_stopped = true;
    loop_stop(office->loop);
}

void office_stop(struct post_office *office)
{
    office->is_stopped = false;
    delivery_stop(office->deliverer, on_stopped, office);
    if (!office->is_stopped)
        loop_run(office->loop);
    delivery_free(TAKE(office->deliverer));
}

void office_close(struct post_office *office)
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

size_t distinct_events(const struct post_office *office)
{
    AUTO(map) seen = map_new();
    for (size_t i = 0; i < office->count; i++)
        map_set_str(seen, office->posts[i].event_id, (void *)office);
    return map_count(seen);
}

const char *url_to(struct post_office *office, const char *path)
{
    return arena_printf(office->fix->arena, "http://127.0.0.1:%u%s",
                        http_server_address(office->server).port, path);
}

const char *url_at(struct post_office *office, int host, const char *path)
{
    return arena_printf(office->fix->arena, "http://127.0.0.%d:%u%s", host,
                        http_server_address(office->server).port, path);
}

const char *subscribe(struct post_office *office, const char *url, const char *event)
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

static void write_events(struct post_office *office, const char *agent_url,
                         struct call_webhook *own, size_t own_count, int count)
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
}

void emit(struct post_office *office, const char *agent_url, struct call_webhook *own,
          size_t own_count, int count)
{
    write_events(office, agent_url, own, own_count, count);
    delivery_wake(office->deliverer);
}

void emit_for_the_store_to_tell(struct post_office *office)
{
    write_events(office, "", NULL, 0, 1);
}

const struct post *post_at(struct post_office *office, const char *path)
{
    for (size_t i = 0; i < office->count; i++)
        if (strcmp(office->posts[i].path, path) == 0)
            return &office->posts[i];
    return NULL;
}

struct delivery newest(struct post_office *office, const char *webhook_id)
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

struct delivery settled(struct post_office *office, const char *webhook_id)
{
    struct delivery delivery = newest(office, webhook_id);
    for (int i = 0; i < 250 && delivery.state == DELIVERY_WAITING; i++) {
        wait_us(office, 20000);
        delivery = newest(office, webhook_id);
    }
    return delivery;
}

struct waiting_count {
    struct post_office *office;
    int64_t count;
};

static enum err count_waiting(struct tx *tx, void *arg)
{
    struct waiting_count *waiting = arg;
    waiting->count =
        QUERY_NUMBER(tx, -1, "SELECT COUNT(*) FROM deliveries WHERE state = 'waiting'");
    return tx_result(tx);
}

static void on_counted(void *arg, enum err err)
{
    struct waiting_count *waiting = arg;
    CHECK_INT(err, OK);
    loop_stop(waiting->office->loop);
}

int64_t still_waiting(struct post_office *office)
{
    struct waiting_count waiting = {office, -1};
    CHECK_INT(store_job(office->fix->store, STORE_READ, count_waiting, &waiting, office->loop,
                        on_counted),
              OK);
    loop_run(office->loop);
    return waiting.count;
}

static void on_test_result(void *arg, const struct delivery_test_result *result)
{
    struct post_office *office = arg;
    office->test_result = *result;
    office->test_result.error = result->error ? "error" : NULL;
    office->has_test_result = true;
    loop_stop(office->loop);
}

void send_test(struct post_office *office, const char *path)
{
    const struct delivery_test test = {.workspace_id = "usr_a",
                                       .url = url_to(office, path),
                                       .secret = "s",
                                       .event_id = "evt_1",
                                       .type = "webhook.test",
                                       .body = "{\"id\":\"evt_1\"}"};
    delivery_send_test(office->deliverer, &test, office->loop, on_test_result, office);
    loop_run(office->loop);
}

struct tenant switch_tenant(struct post_office *office, const struct tenant *tenant)
{
    struct fix *fix = office->fix;
    struct tenant before = {fix->workspace_id, fix->agent_id};
    if (tenant) {
        fix->workspace_id = tenant->workspace_id;
        fix->agent_id = tenant->agent_id;
    } else {
        fix_people(fix);
    }
    return before;
}

bool wait_post_at(struct post_office *office, const char *path)
{
    int64_t until_us = clock_now_us() + WAIT_US;
    while (!post_at(office, path) && clock_now_us() < until_us)
        wait_us(office, 2000);
    return CHECK(post_at(office, path) != NULL);
}

size_t posts_at(const struct post_office *office, const char *path)
{
    size_t count = 0;
    for (size_t i = 0; i < office->count; i++)
        count += strcmp(office->posts[i].path, path) == 0;
    return count;
}
