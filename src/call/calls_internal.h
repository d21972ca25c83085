/* The directory of this node's calls, as its own parts see it: calls.c, calls_places.c and
 * node.c, which carries out the commands of other nodes. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/ids.h"
#include "base/list.h"
#include "base/loop.h"
#include "call/calls.h"

struct call_loop;
struct call_plan;
struct map;
struct node;
struct previews;
struct snapshots;
struct watches;

struct entry {
    struct list_node node;
    char id[ID_SIZE], workspace_id[ID_SIZE];
    struct call_loop *home;
    calls_done_fn *started; /* NULL: it was told */
    void *started_arg;
    bool is_ended, is_heard_here;
    struct list_node waiters;
};

struct calls {
    struct calls_config config;
    struct call_loop **homes;
    size_t *loads; /* calls of each home */
    struct map *by_id;
    struct snapshots *snapshots;
    struct watches *watches;
    struct previews *previews;
    struct list_node all;
    atomic_size_t count;
    struct node *node;
    bool is_draining, has_given_up;
    struct timer unjoined, grace, bound;
    calls_done_fn *drained;
    void *drained_arg;
    /* Messages under way: what a loop finds when it is freed itself comes after calls_free(). */
    atomic_size_t messages;
    bool is_freed;
    struct list_node gathers; /* what `earshot show` asks the loops just now (call/show.h) */
};

/* A place on the emptiest loop that has one. false: there is none; *out_index is still a loop, for
 * what is to be recorded. */
bool calls_take_place(struct calls *calls, const char *workspace_id, size_t *out_index) MUST_USE;
/* Is it embedded recognition that will hear the caller, as far as can be said before? */
bool calls_is_heard_here(const struct calls *calls, const struct call_plan *plan);
/* Embedded recognition costs the machine many times what the rest of a call does, and only while
 * callers speak: a place is kept for each. */
bool calls_has_ears(const struct calls *calls);

/* For the commands of others. false: the call is not here; nothing comes of it. */
bool calls_end_here(struct calls *calls, const char *call_id, calls_done_fn *done,
                    void *arg) MUST_USE;
bool calls_say_here(struct calls *calls, const char *call_id, const char *text, calls_done_fn *done,
                    void *arg) MUST_USE;
void calls_end_all(struct calls *calls, enum end_reason reason);
