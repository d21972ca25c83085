#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/js.h"
#include "base/mem.h"
#include "know/know.h"
#include "room/host.h"
#include "room/rooms.h"
#include "sweep.h"

const char *world_passage;
const char *(*world_find)(const char *query);
struct world_engines world_engines;
const struct calls_machine *world_machine;
int world_start_failures;

int64_t world_ms(void)
{
    return fake_now_us() / 1000;
}

void world_run(int64_t ms)
{
    fake_run_for(ms * 1000);
}

/* Documents. */

struct question {
    struct timer timer;
    const char *passage;
    know_found_fn *fn;
    void *arg;
};

static void found(void *arg)
{
    struct question *question = arg;
    struct hit hit = {
        .text = question->passage, .document = "guide", .question = "", .similarity = 1};
    struct hit_list hits = {.items = &hit, .count = question->passage ? 1 : 0};
    question->fn(question->arg, sweep_fails("search") ? ERR_IO : OK, &hits);
    mem_free(question);
}

enum err know_ask(struct know *know, const struct know_question *asked, struct loop *loop,
                  know_found_fn *fn, void *arg)
{
    (void)know;
    struct question *question = mem_new(struct question);
    question->passage = world_find ? world_find(asked->query) : world_passage;
    question->fn = fn;
    question->arg = arg;
    timer_init(&question->timer, loop, found, question);
    timer_set_after(&question->timer, 2000);
    return OK;
}

/* Answers on the control loop. */

static bool has_answer;
static enum err answer;

static void answered(void *arg, enum err err, const char *message)
{
    (void)arg;
    (void)message;
    has_answer = true;
    answer = err;
}

static bool is_answered(void *arg)
{
    (void)arg;
    return has_answer;
}

static enum err wait_for_answer(void)
{
    if (!fake_run_while_not(is_answered, NULL, INT64_C(40000000)))
        abort();
    has_answer = false;
    return answer;
}

/* The service. */

void world_begin(struct world *world, int64_t balance_usd4)
{
    static char *none[] = {NULL};
    struct fault fault;
    *world = (struct world){0};
    fake_begin(FAKE_START_US, FAKE_START_WALL_MS);
    sim_store_begin(balance_usd4);
    sim_store.failures = world_start_failures;
    world_passage = NULL;
    sim_engines = (struct sim_engines){.stt_us = 120000, .llm_us = 200000, .tts_us = 80000};
    world->control = loop_new("control");
    world->media = loop_new("media");
    world_tools_begin(world->media);
    if (config_load(NULL, none, &world->config, &fault) != OK)
        abort();
    struct world_engines *engines = &world_engines;
    if (engines->configure)
        engines->configure(world->config, world->media);
    else
        *engines = (struct world_engines){.adapters = sim_adapters, .count = sim_adapter_count};
    if (registry_new(world->config, engines->adapters, engines->count, engines->env,
                     &world->registry, &fault) != OK)
        abort();
    struct rooms_config rooms = {.loop = world->media};
    world->rooms = rooms_new(&rooms);
    struct calls_media media = {.loop = world->media,
                                .joins = world->rooms,
                                .rooms = room_host_provider(world->rooms),
                                .http = (void *)world};
    struct calls_config config = {
        .control = world->control,
        .media = &media,
        .media_count = 1,
        .config = world->config,
        .registry = world->registry,
        .public_url = "http://test",
        .machine = world_machine,
    };
    world->calls = calls_new(&config);
    calls_recover(world->calls, answered, NULL);
    if (wait_for_answer() != OK)
        abort();
}

void world_end(struct world *world)
{
    sim_store.failures = 0;
    sim_store.is_frozen = false;
    sim_store.away_until_us = sim_store.fail_at = 0;
    calls_drain(world->calls, 0, answered, NULL);
    world_run(3000);
    has_answer = false;
    calls_free(world->calls);
    rooms_free(world->rooms);
    registry_free(world->registry);
    config_free(world->config);
    loop_free(world->media);
    loop_free(world->control);
    buf_clear(&sim_store.events);
    clock_fake_off();
}

void world_defaults(struct world_call *call)
{
    *call = (struct world_call){.language = "en", .join_within_ms = 60000, .rate_usd4 = 600};
    call->agent = (struct agent){
        .id = "ua_1",
        .user_id = "usr_1",
        .name = "Front desk",
        .system_instruction = "Be brief.",
        .greeting_mode = GREETING_NONE,
        .greeting_text = "",
        .greeting_instruction = "",
        .voice = {"first-tts", "en", "", 1, 1, ""},
        .llm = {"first-llm", "", 0.5, 300},
        .stt = {"first-stt", "en", false},
    };
    call->start.config = (struct call_config){
        .turn = {500, {true}},
        .vad = {0.5, 60, 550, 300},
    };
}

enum err world_call(struct world *world, const struct world_call *call)
{
    struct call_plan *plan = call_plan_new();
    struct arena *arena = plan->arena;
    struct agent *agent = arena_new_of(arena, struct agent);
    struct call_start *start = arena_new_of(arena, struct call_start);
    struct call *row = arena_new_of(arena, struct call);
    int number = ++world->started;
    *agent = call->agent;
    *start = call->start;
    *row = (struct call){
        .id = arena_printf(arena, "c%d", number),
        .user_id = agent->user_id,
        .agent_id = agent->id,
        .room_name = arena_printf(arena, "r%d", number),
        .source = call->source,
        .created_wall_ms = clock_wall_ms(),
        .cost_per_minute_usd4 = call->rate_usd4,
        .participant_identity = "caller-1",
    };
    plan->agent = agent;
    plan->start = start;
    plan->row = row;
    plan->language = call->language;
    plan->is_language_sent = call->is_language_sent;
    plan->join_until_wall_ms = row->created_wall_ms + call->join_within_ms;
    sim_store_insert(row->id, call->rate_usd4, call->source == CALL_SOURCE_EMBED);
    calls_start(world->calls, plan, answered, NULL);
    return wait_for_answer();
}

struct sim_caller *world_talk(struct world *world, const struct world_call *call)
{
    char room[16];
    if (world_call(world, call) != OK)
        return NULL;
    snprintf(room, sizeof(room), "r%d", world->started);
    struct sim_caller *caller = sim_caller(room);
    sim_join(caller);
    world_run(500);
    return caller;
}

enum err world_end_call(struct world *world, const char *id)
{
    calls_end(world->calls, "", id, answered, NULL);
    return wait_for_answer();
}

enum err world_say(struct world *world, const char *id, const char *text)
{
    calls_say(world->calls, "", id, text, answered, NULL);
    return wait_for_answer();
}
