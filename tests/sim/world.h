/* A whole service on simulated time: control loop, one media loop, the calls; the store, the rooms
 * with their callers, the engines, tools and documents are scripted. A test starts calls and looks
 * at what the caller hears and what is told. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "call/calls.h"
#include "call/plan.h"
#include "engines.h"
#include "fake/loop.h"
#include "model/agent.h"
#include "model/call.h"
#include "room.h"
#include "store.h"

struct tool_result;

struct world {
    struct loop *control, *media;
    struct config *config;
    struct registry *registry;
    struct rooms *rooms;
    struct calls *calls;
    int started;
};

/* What a test changes before world_call(). */
struct world_call {
    struct agent agent;
    struct call_start start;
    const char *language;
    bool is_language_sent;
    int64_t join_within_ms;
    enum call_source source;
    int64_t rate_usd4;
};

extern const char *world_passage;                    /* found for every question; NULL: nothing */
extern const char *(*world_find)(const char *query); /* what is found; NULL: world_passage */
extern int64_t world_tool_us;                        /* how long a tool runs */
extern struct tool_result world_tool_result;
/* What tools were asked with: the last run. */
struct world_asked {
    int runs;
    bool is_test;
    size_t variable_count;
    char arguments[500];
};
extern struct world_asked world_asked;

/* Set before world_begin(): other engines than the scripted ones (net.h). */
struct config;
struct engine_adapter;
struct world_engines {
    const struct engine_adapter *adapters;
    size_t count;
    void *env;
    void (*configure)(struct config *config, struct loop *media);
    const char *const *settings; /* one more: section, name, value; NULL: none */
};
extern struct world_engines world_engines;
/* Of the tools' double, tool.c or net.c. */
void world_tools_begin(struct loop *media);

/* Set before world_begin(): what the calls know of the machine; NULL: every call is taken. */
extern const struct calls_machine *world_machine;
/* The same: so many jobs of the start fail. */
extern int world_start_failures;

/* The settings are read by world_begin(): change them with config_set() through `settings`. */
void world_begin(struct world *world, int64_t balance_usd4);
void world_end(struct world *world);
void world_defaults(struct world_call *call);

enum { RICH_USD4 = 1000000 };
#define WORLD __attribute__((cleanup(world_end))) struct world
#define RICH_WORLD(world)                                                                          \
    WORLD world;                                                                                   \
    world_begin(&(world), RICH_USD4)
/* The usual beginning: a world whose workspace is rich, and a call as it is by default. */
#define WORLD_WITH_CALL(world, call)                                                               \
    RICH_WORLD(world);                                                                             \
    struct world_call call;                                                                        \
    world_defaults(&(call))

/* Starts it and runs until Start a call would be answered; the result of calls_start(). id: "c1",
 * "c2", ... by order; the room is "r1", ... */
enum err world_call(struct world *world, const struct world_call *call);
/* The usual beginning: a call with defaults, its caller in the room. */
struct sim_caller *world_talk(struct world *world, const struct world_call *call);
enum err world_end_call(struct world *world, const char *id);
enum err world_say(struct world *world, const char *id, const char *text);
int64_t world_ms(void);
void world_run(int64_t ms); /* from now */
