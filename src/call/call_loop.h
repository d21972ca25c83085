/* A media loop's part of the calls: those that live on it, and how full it is. calls.c on the
 * control loop sends to it what is asked of a call, by id; for call/ only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audio/codec.h"
#include "base/list.h"
#include "base/loop.h"
#include "call/calls.h"
#include "call/journal.h"
#include "call/load.h"
#include "call/money.h"

struct line_cache;
struct live_call;
struct map;
struct otlp;
struct pacer;

/* One media loop, with the calls on it. Thread: that loop. */
struct call_loop {
    struct calls *calls;
    const struct calls_config *config;
    struct calls_media media;
    struct pacer *pacer;
    struct map *by_id; /* id -> struct live_call */
    struct list_node all;
    size_t count;
    struct money money;
    struct journal_total journals;
    bool has_given_up; /* the service ends and the database is away: no journal is written */
    struct line_cache *lines;
    struct otlp *otlp; /* NULL: no collector */

    /* How full it is; `load` only where config->machine is set. load_take() any thread. */
    struct load load;
    struct timer look;
    int64_t looked_us, looked_cpu_us;
    enum codec_profile best, first; /* of the settings; of a call that begins now */
    bool has_left_place;            /* among the threads that wait for a core (base/place.h) */
    unsigned lowered;               /* calls below the best, as the metric was told */
};

struct call_loop *call_loop_new(struct calls *calls, const struct calls_config *config,
                                const struct calls_media *media);
/* Thread: the loop's. */
void call_loop_start(struct call_loop *home); /* looks how full it is, from now on */
void call_loop_free(struct call_loop *home);
/* Is there a place for one call more? Takes it. any */
bool call_loop_take(struct call_loop *home);
int call_loop_room(const struct call_loop *home);     /* calls that it would take now; any */
bool call_loop_is_full(const struct call_loop *home); /* any */
/* No journal is written any more; calls whose end waits go. */
void call_loop_give_up(struct call_loop *home);
struct live_call *call_loop_find(const struct call_loop *home, const char *call_id);
