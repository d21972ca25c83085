/* Both implementations of struct room_link face each other over real sockets of one loop: a hosted
 * room with admission, and a participant that dials it. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/loop.h"
#include "base/metrics.h"
#include "net/dial.h"
#include "net/http_server.h"
#include "net/resolver.h"
#include "net/tls.h"
#include "room/directory.h"
#include "room/host.h"
#include "room/participant.h"
#include "room/participant_internal.h"
#include "room/rooms.h"
#include "rtc/dtls.h"
#include "rtc/port.h"
#include "test.h"

enum { LIMIT_US = 90000000 };

struct side { /* what one end has seen */
    struct room_link *link;
    unsigned joined, left, opus, muted, unmuted, chats, closed, ended, lines;
    enum room_left how;
    uint8_t last_opus[16];
    size_t last_opus_len;
    char text[256], name[64], state[32], reason[64];
    bool line_is_agent, line_is_final;
};

static const struct token_signer signer = {"key", "0123456789abcdef0123456789abcdef"};

struct world {
    struct loop *loop;
    struct resolver *resolver;
    struct tls_context *tls;
    struct dialer *dialer;
    struct dtls_identity *identity;
    struct port *port;
    struct rooms *rooms;
    struct room_directory *directory;
    struct http_server *http;
    struct side host, caller;
    struct timer poll, give_up;
    bool (*is_done)(struct world *world);
    bool has_failed;
    char url[64];
};

static void on_joined(void *arg, const char *identity, const char *name)
{
    struct side *side = arg;
    (void)name;
    side->joined++;
    snprintf(side->name, sizeof(side->name), "%s", identity);
}

static void on_left(void *arg, const char *identity, enum room_left how, int64_t last_packet_us)
{
    struct side *side = arg;
    (void)identity;
    (void)last_packet_us;
    side->left++;
    side->how = how;
}

static void on_opus(void *arg, const uint8_t *payload, size_t len, uint16_t sequence,
                    uint32_t timestamp, int64_t now_us)
{
    struct side *side = arg;
    (void)sequence;
    (void)timestamp;
    (void)now_us;
    side->opus++;
    side->last_opus_len = len;
    memcpy(side->last_opus, payload, len < sizeof(side->last_opus) ? len : sizeof(side->last_opus));
}

static void on_muted(void *arg, bool is_muted)
{
    struct side *side = arg;
    side->muted += is_muted;
    side->unmuted += !is_muted;
}

static void on_chat(void *arg, const char *text)
{
    struct side *side = arg;
    side->chats++;
    snprintf(side->text, sizeof(side->text), "%s", text);
}

static void on_closed(void *arg)
{
    struct side *side = arg;
    side->closed++;
    side->link = NULL;
}

static void on_transcript(void *arg, const struct room_transcript *line)
{
    struct side *side = arg;
    side->lines++;
    side->line_is_agent = line->is_agent;
    side->line_is_final = line->is_final;
    size_t len = strlen(side->text);
    snprintf(side->text + len, sizeof(side->text) - len, "%s", line->text);
}

static void on_agent_state(void *arg, const char *state)
{
    struct side *side = arg;
    snprintf(side->state, sizeof(side->state), "%s", state);
}

static void on_ended(void *arg, enum err err, const char *reason)
{
    struct side *side = arg;
    (void)err;
    side->ended++;
    snprintf(side->reason, sizeof(side->reason), "%s", reason);
}

static const struct room_participant_events caller_events = {
    .room = {on_joined, on_left, on_opus, on_muted, on_chat, on_closed},
    .on_transcript = on_transcript,
    .on_agent_state = on_agent_state,
    .on_ended = on_ended,
};

static void on_request(void *arg, struct http_exchange *exchange)
{
    struct world *world = arg;
    if (!room_admit(world->directory, exchange))
        http_answer_error(exchange, 404, "NOT_FOUND", "no such path");
}

static void on_poll(void *arg)
{
    struct world *world = arg;
    if (world->is_done(world))
        loop_stop(world->loop);
    else
        timer_set_after(&world->poll, 2000);
}

static void on_give_up(void *arg)
{
    struct world *world = arg;
    world->has_failed = true;
    loop_stop(world->loop);
}

static bool await(struct world *world, bool (*is_done)(struct world *world))
{
    world->is_done = is_done;
    world->has_failed = false;
    timer_set_after(&world->poll, 0);
    timer_set_after(&world->give_up, LIMIT_US);
    loop_run(world->loop);
    timer_stop(&world->poll);
    timer_stop(&world->give_up);
    return !world->has_failed;
}

static void open_network(struct world *world)
{
    static const struct http_handler handler = {.on_request = on_request};
    struct fault fault = {0};
    struct net_addr loopback = net_addr_ipv4(127, 0, 0, 1, 0);
    struct http_server_config http_config = {.bind = loopback};
    if (resolver_new(world->loop, NULL, NULL, &world->resolver, &fault) != OK ||
        tls_client_new(NULL, &world->tls, &fault) != OK ||
        dtls_identity_new(&world->identity, &fault) != OK)
        test_fail(__FILE__, __LINE__, "%s", fault.text);
    world->dialer = dialer_new(world->resolver, world->tls);
    struct port_config port_config = {.loop = world->loop, .identity = world->identity};
    port_config.binds = &loopback;
    port_config.bind_count = 1;
    if (port_open(&port_config, &world->port, &fault) != OK ||
        http_server_open(world->loop, &http_config, &handler, world, &world->http, &fault) != OK)
        test_fail(__FILE__, __LINE__, "%s", fault.text);
    struct net_addr addr = http_server_address(world->http);
    snprintf(world->url, sizeof(world->url), "ws://127.0.0.1:%u/", addr.port);
}

static void open_world(struct world *world)
{
    memset(world, 0, sizeof(*world));
    world->loop = loop_new("test");
    timer_init(&world->poll, world->loop, on_poll, world);
    timer_init(&world->give_up, world->loop, on_give_up, world);
    open_network(world);
    world->rooms = rooms_new(&(struct rooms_config){
        .loop = world->loop, .port = world->port, .signer = &signer, .dialer = world->dialer});
    world->directory = room_directory_new(world->loop, &signer);
}

static bool nothing_is_left(struct world *world)
{
    return !world->host.link && !world->caller.link;
}

static void close_world(struct world *world)
{
    if (world->caller.link)
        world->caller.link->ops->close(world->caller.link, ROOM_CLOSE_ENDED);
    if (world->host.link)
        world->host.link->ops->close(world->host.link, ROOM_CLOSE_ENDED);
    CHECK(await(world, nothing_is_left));
    http_server_close(world->http);
    port_close(world->port);
    room_directory_free(world->directory);
    rooms_free(world->rooms);
    dialer_free(world->dialer);
    resolver_free(world->resolver);
    loop_free(world->loop);
    tls_context_free(world->tls);
    dtls_identity_free(world->identity);
}

static void open_host(struct world *world, bool is_late)
{
    static const struct room_events events = {on_joined, on_left, on_opus,
                                              on_muted,  on_chat, on_closed};
    struct room_host_config config = {
        .room = "r", .agent_identity = "agent-1", .agent_name = "A", .events = &events};
    config.arg = &world->host;
    CHECK_INT(room_directory_add(world->directory, "r", world->rooms), OK);
    CHECK_INT(room_host_open(world->rooms, &config, &world->host.link), OK);
    if (!is_late)
        world->host.link->ops->set_agent_state(world->host.link, "listening");
}

static void dial_room(struct world *world, bool is_single_pc, int64_t ttl_s)
{
    AUTO_BUF token = BUF_INIT(TOKEN_MAX_BYTES);
    struct fault fault = {0};
    struct token_claims claims =
        token_claims_for_caller("r", "me", "Me", clock_wall_ms() / 1000 + ttl_s);
    CHECK_INT(token_mint(&signer, &claims, &token), OK);
    struct room_participant_config config = {
        .url = world->url,
        .token = token.data,
        .is_single_pc = is_single_pc,
        .events = &caller_events,
        .arg = &world->caller,
    };
    if (!CHECK_INT(room_participant_open(world->rooms, &config, &world->caller.link, &fault), OK))
        fprintf(stderr, "    %s\n", fault.text);
}

static bool both_are_joined(struct world *world)
{
    return world->host.joined && world->caller.joined;
}

static bool opus_came_both_ways(struct world *world)
{
    static const uint8_t up[] = {0x78, 1, 2, 3}, down[] = {0x78, 9};
    if (world->host.opus >= 3 && world->caller.opus >= 3)
        return true;
    world->caller.link->ops->send_opus(world->caller.link, up, sizeof(up), 960, false);
    world->host.link->ops->send_opus(world->host.link, down, sizeof(down), 960, false);
    return false;
}

static bool line_has_ended(struct world *world)
{
    return world->caller.line_is_final;
}

static bool chat_came(struct world *world)
{
    return world->host.chats > 0;
}

static bool was_muted(struct world *world)
{
    return world->host.muted > 0;
}

static bool state_came(struct world *world)
{
    return strcmp(world->caller.state, "thinking") == 0;
}

static bool caller_was_ended(struct world *world)
{
    return world->caller.ended > 0;
}

static bool caller_has_left(struct world *world)
{
    return world->host.left > 0;
}

static void talk(struct world *world)
{
    struct room_link *host = world->host.link;
    CHECK(await(world, both_are_joined));
    CHECK_TEXT(world->host.name, "me");
    CHECK_TEXT(world->caller.name, "agent-1");
    CHECK(await(world, opus_came_both_ways));
    CHECK_INT(world->host.last_opus_len, 4);
    CHECK_INT(world->host.last_opus[3], 3);
    CHECK_INT(world->caller.last_opus_len, 2);
    CHECK_INT(world->caller.last_opus[1], 9);
    struct room_transcript line = {.segment_id = "SG_1", .text = "Good ", .is_agent = true};
    host->ops->send_transcript(host, &line);
    line.text = "day.";
    line.is_final = true;
    host->ops->send_transcript(host, &line);
    CHECK(await(world, line_has_ended));
    CHECK_TEXT(world->caller.text, "Good day.");
    CHECK(world->caller.line_is_agent);
    CHECK_INT(room_participant_chat(world->caller.link, "hello"), OK);
    CHECK(await(world, chat_came));
    CHECK_TEXT(world->host.text, "hello");
    room_participant_mute(world->caller.link, true);
    CHECK(await(world, was_muted));
    host->ops->set_agent_state(host, "thinking");
    CHECK(await(world, state_came));
    struct room_stats stats;
    host->ops->stats(host, &stats);
    CHECK(stats.packets_received >= 3 && stats.packets_lost == 0);
}

TEST(link_host_and_participant_talk_over_one_or_two_connections)
{
    for (int is_single = 0; is_single <= 1; is_single++) {
        struct world world;
        open_world(&world);
        open_host(&world, false);
        dial_room(&world, is_single, 60);
        talk(&world);
        world.caller.link->ops->close(world.caller.link, ROOM_CLOSE_ENDED);
        CHECK(await(&world, caller_has_left));
        CHECK_INT(world.host.how, ROOM_LEFT_CLEAN);
        close_world(&world);
    }
}

TEST(link_end_of_the_room_is_told)
{
    struct world world;
    open_world(&world);
    open_host(&world, false);
    dial_room(&world, true, 60);
    CHECK(await(&world, both_are_joined));
    world.host.link->ops->close(world.host.link, ROOM_CLOSE_ENDED);
    CHECK(await(&world, caller_was_ended));
    CHECK_TEXT(world.caller.reason, "room deleted");
    CHECK_INT(world.host.left, 0);
    close_world(&world);
}

static bool agent_is_heard(struct world *world)
{
    static const uint8_t payload[] = {0x78, 9};
    world->host.link->ops->send_opus(world->host.link, payload, sizeof(payload), 960, false);
    return world->caller.opus > 0;
}

TEST(link_agent_may_come_late)
{
    for (int is_single = 0; is_single <= 1; is_single++) {
        struct world world;
        open_world(&world);
        open_host(&world, true);
        dial_room(&world, is_single, 60);
        CHECK(await(&world, both_are_joined));
        CHECK_TEXT(world.caller.name, "");
        world.host.link->ops->set_agent_state(world.host.link, "thinking");
        CHECK(await(&world, state_came));
        CHECK(await(&world, agent_is_heard));
        close_world(&world);
    }
}

TEST(link_refusals_reach_the_participant)
{
    static const struct {
        bool has_room;
        int64_t ttl_s;
        const char *reason;
    } rows[] = {{false, 60, "404"}, {true, -600, "401"}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct world world;
        open_world(&world);
        if (rows[i].has_room)
            open_host(&world, false);
        dial_room(&world, i, rows[i].ttl_s);
        CHECK(await(&world, caller_was_ended));
        if (!CHECK(strstr(world.caller.reason, rows[i].reason)))
            fprintf(stderr, "    %s\n", world.caller.reason);
        close_world(&world);
    }
}

static bool both_have_left(struct world *world)
{
    return world->host.left >= 1 && world->caller.closed >= 1;
}

static bool has_joined_again(struct world *world)
{
    return world->host.joined >= 2;
}

static bool room_is_over(struct world *world)
{
    return room_directory_count(world->directory) == 0;
}

TEST(link_caller_may_come_again_and_a_closed_room_may_not_be_joined)
{
    struct world world;
    open_world(&world);
    open_host(&world, false);
    dial_room(&world, true, 60);
    CHECK(await(&world, both_are_joined));
    world.caller.link->ops->close(world.caller.link, ROOM_CLOSE_ENDED);
    CHECK(await(&world, both_have_left));
    dial_room(&world, false, 60);
    CHECK(await(&world, has_joined_again));
    world.caller.link->ops->close(world.caller.link, ROOM_CLOSE_ENDED);
    CHECK(await(&world, both_have_left));
    room_directory_over(world.directory, "r");
    CHECK(await(&world, room_is_over));
    dial_room(&world, true, 60);
    CHECK(await(&world, caller_was_ended));
    CHECK(strstr(world.caller.reason, "403"));
    close_world(&world);
}

/* Callers who flood. */

static struct participant *participant_of(struct world *world)
{
    return CONTAINER_OF(world->caller.link, struct participant, link);
}

static bool requests_are_too_many(struct world *world)
{
    struct participant *participant = participant_of(world);
    for (int i = 0; i < 50 && participant->ws; i++)
        participant_send_add_track(participant);
    return world->host.left > 0;
}

TEST(link_caller_who_floods_by_signalling_is_put_out)
{
    struct world world;
    open_world(&world);
    open_host(&world, false);
    dial_room(&world, true, 60);
    CHECK(await(&world, both_are_joined));
    int64_t put_out = metric_read(METRIC_CALLERS_PUT_OUT);
    CHECK(await(&world, requests_are_too_many));
    CHECK_INT(world.host.how, ROOM_LEFT_CLEAN);
    CHECK_INT(metric_read(METRIC_CALLERS_PUT_OUT) - put_out, 1);
    close_world(&world);
}

static bool chats_were_sent(struct world *world)
{
    for (int i = 0; i < 500; i++)
        (void)!room_participant_chat(world->caller.link, "hello");
    return world->host.chats > 0 && metric_read(METRIC_REQUESTS_DROPPED) > 0;
}

TEST(link_data_packets_over_the_allowance_are_dropped)
{
    struct world world;
    open_world(&world);
    open_host(&world, false);
    dial_room(&world, true, 60);
    CHECK(await(&world, both_are_joined));
    CHECK(await(&world, chats_were_sent));
    CHECK(world.host.chats < 200);
    close_world(&world);
}

static bool joined_or_ended(struct world *world)
{
    return world->caller.joined || world->caller.ended;
}

static bool caller_link_is_gone(struct world *world)
{
    return !world->caller.link;
}

TEST(link_room_that_is_joined_without_end_refuses)
{
    struct world world;
    open_world(&world);
    open_host(&world, false);
    bool is_refused = false;
    for (int i = 0; i < 15 && !is_refused; i++) {
        memset(&world.caller, 0, sizeof(world.caller));
        world.host.joined = world.host.left = 0;
        dial_room(&world, true, 60);
        CHECK(await(&world, joined_or_ended));
        is_refused = strstr(world.caller.reason, "429") != NULL;
        if (world.caller.link)
            world.caller.link->ops->close(world.caller.link, ROOM_CLOSE_ENDED);
        CHECK(await(&world, caller_link_is_gone));
    }
    CHECK(is_refused);
    close_world(&world);
}

static bool caller_floods_with_sound(struct world *world)
{
    static const uint8_t payload[] = {0x78, 1, 2, 3};
    for (int i = 0; i < 30 && world->caller.link; i++)
        world->caller.link->ops->send_opus(world->caller.link, payload, sizeof(payload), 960,
                                           false);
    return world->host.left > 0;
}

TEST(link_caller_who_floods_with_packets_is_put_out)
{
    struct world world;
    open_world(&world);
    open_host(&world, false);
    dial_room(&world, true, 60);
    CHECK(await(&world, both_are_joined));
    int64_t put_out = metric_read(METRIC_CALLERS_PUT_OUT);
    CHECK(await(&world, caller_floods_with_sound));
    CHECK_INT(world.host.how, ROOM_LEFT_CLEAN);
    CHECK_INT(metric_read(METRIC_CALLERS_PUT_OUT) - put_out, 1);
    CHECK(world.host.opus < 6000); /* of some 150,000 */
    close_world(&world);
}
