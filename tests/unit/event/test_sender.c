/* What a workspace may still have taken, by what is held for it. Where no receiver gets a
 * connection, all waits. */
#include "event/sender.h"

#include <stdio.h>

#include "base/loop.h"
#include "event/allowance.h"
#include "event/attempt.h"
#include "net/guard.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "net/resolver.h"
#include "store/outbox.h"
#include "test.h"

enum { FREE_UNITS = 100, UNITS = 10 };

static void on_sent(void *arg, const struct sent *sent, const struct attempt_outcome *outcome)
{
    (void)sent, (void)outcome;
    ++*(int *)arg;
}

static void hold(struct sender *sender, const char *workspace_id, const char *url)
{
    struct outbox_item item = {.id = 1,
                               .workspace_id = workspace_id,
                               .webhook_id = "",
                               .line = url,
                               .event_id = "evt_1",
                               .type = "call.ended",
                               .body = "{}",
                               .url = url,
                               .secret = "",
                               .attempt = 1,
                               .units = UNITS};
    sender_send(sender, &item);
}

static unsigned room_of(struct sender *sender, const char *workspace_id)
{
    struct allowance *allowance = sender_allowance(sender, FREE_UNITS);
    unsigned room = allowance_of_workspace(allowance, workspace_id);
    allowance_free(allowance);
    return room;
}

TEST(a_workspace_has_one_share_however_many_receivers_it_has)
{
    int put_back = 0;
    struct loop *loop = loop_new("sender");
    struct sender *sender = sender_new(&(struct sender_config){
        .loop = loop, .answer_ms = 1000, .max_per_receiver = 0, .fn = on_sent, .arg = &put_back});
    CHECK_INT(room_of(sender, "usr_1"), FREE_UNITS / 2); /* so that as much is left for others */
    hold(sender, "usr_1", "https://one.test/");
    CHECK_INT(room_of(sender, "usr_1"), (FREE_UNITS - UNITS) / 2);
    hold(sender, "usr_1", "https://two.test/");
    hold(sender, "usr_1", "https://three.test/");
    CHECK_INT(room_of(sender, "usr_1"), (FREE_UNITS - 3 * UNITS) / 2);
    CHECK_INT(room_of(sender, "usr_2"), FREE_UNITS / 2);
    sender_drop(sender, "https://two.test/"); /* lines are named by their subscription */
    CHECK_INT(put_back, 1);
    CHECK_INT(room_of(sender, "usr_1"), (FREE_UNITS - 2 * UNITS) / 2);
    CHECK_INT(sender_cancel(sender), 2 * UNITS);
    CHECK_INT(room_of(sender, "usr_1"), FREE_UNITS / 2);
    sender_free(sender);
    loop_free(loop);
}

/* So many lines are known of a receiver; one that holds something is not forgotten for another. */
TEST(of_too_many_lines_one_that_holds_nothing_is_forgotten)
{
    enum { LINES = 128 };
    int put_back = 0;
    char name[40];
    struct loop *loop = loop_new("sender");
    struct sender *sender = sender_new(&(struct sender_config){
        .loop = loop, .answer_ms = 1000, .max_per_receiver = 0, .fn = on_sent, .arg = &put_back});
    for (int i = 0; i < LINES; i++) {
        snprintf(name, sizeof(name), "https://one.test/%d", i);
        hold(sender, "usr_1", name);
    }
    sender_drop(sender, "https://one.test/1");
    CHECK_INT(put_back, 1);
    hold(sender, "usr_1", "https://one.test/more");
    sender_drop(sender, "https://one.test/0"); /* the longest unused one, which held something */
    CHECK_INT(put_back, 2);
    sender_drop(sender, "https://one.test/more");
    CHECK_INT(put_back, 3);
    CHECK_INT(sender_cancel(sender), (LINES - 2) * UNITS);
    sender_free(sender);
    loop_free(loop);
}

/* The sanitizer's build tells of what is left. */
TEST(a_sender_that_is_freed_lets_go_of_what_waits)
{
    int put_back = 0;
    struct loop *loop = loop_new("sender");
    struct sender *sender = sender_new(&(struct sender_config){
        .loop = loop, .answer_ms = 1000, .max_per_receiver = 0, .fn = on_sent, .arg = &put_back});
    hold(sender, "usr_1", "https://one.test/");
    sender_free(sender);
    CHECK_INT(put_back, 0);
    loop_free(loop);
}

struct answered {
    struct loop *loop;
    int status;
};

static void on_request(void *arg, struct http_exchange *exchange)
{
    (void)arg;
    http_answer(exchange, &(struct http_answer){.status = 204});
}

static void on_answered(void *arg, const struct sent *sent, const struct attempt_outcome *outcome)
{
    struct answered *answered = arg;
    (void)sent;
    answered->status = outcome ? outcome->status : -1;
    loop_stop(answered->loop);
}

static unsigned line_room_of(struct sender *sender, const char *line)
{
    struct allowance *allowance = sender_allowance(sender, 10000);
    unsigned room = allowance_of_line(allowance, "usr_1", line);
    allowance_free(allowance);
    return room;
}

/* Each answer is one connection more, and a fast one makes room for what follows at once. */
TEST(what_a_receiver_answers_makes_room_for_more)
{
    static const struct http_handler handler = {.on_request = on_request};
    const struct http_server_config at = {.bind = net_addr_ipv4(127, 0, 0, 1, 0)};
    struct answered answered = {.loop = loop_new("sender")};
    struct http_server *server;
    struct guard *guard;
    struct resolver *resolver;
    REQUIRE(http_server_open(answered.loop, &at, &handler, NULL, &server, NULL) == OK);
    REQUIRE(guard_new("127.0.0.1", &guard, NULL) == OK);
    REQUIRE(resolver_new(answered.loop, guard, NULL, &resolver, NULL) == OK);
    struct http_client *client =
        http_client_new(answered.loop, &(struct http_client_config){.resolver = resolver});
    struct sender *sender = sender_new(&(struct sender_config){.loop = answered.loop,
                                                               .client = client,
                                                               .answer_ms = 10000,
                                                               .max_per_receiver = 100,
                                                               .fn = on_answered,
                                                               .arg = &answered});
    char url[40];
    snprintf(url, sizeof(url), "http://127.0.0.1:%u/", http_server_address(server).port);
    hold(sender, "usr_1", url);
    unsigned before = line_room_of(sender, url);
    loop_run(answered.loop);
    CHECK_INT(answered.status, 204);
    CHECK(line_room_of(sender, url) > before + 1); /* the place given back, and one more */
    sender_free(sender);
    http_client_free(client);
    http_server_close(server);
    resolver_free(resolver);
    loop_free(answered.loop);
    guard_free(guard);
}
