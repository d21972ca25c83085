/* The way to one network engine from one loop: so many requests under way for each workspace and
 * for all, the others in a queue that workspaces share fairly (base/fair.h, by the time that their
 * requests take). So one tenant's flood neither uses up an engine's connections nor makes others
 * wait for more than one request. Thread: its loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/fair.h"

struct lane;
struct loop;

struct lane_limits {
    size_t all, workspace; /* under way */
};

/* A member of what asks. */
struct lane_seat {
    struct fair_item item;
    void (*go)(void *arg);
    void *arg;
    int64_t since_us; /* it goes; 0: it waits, or is not in the lane */
    bool is_in;
};

struct lane *lane_new(struct loop *loop, const struct lane_limits *limits);
void lane_free(struct lane *lane);
DEFINE_AUTO(lane)

/* go() comes inside the call when there is room, else later, from the loop. ERR_BUSY: too many
 * wait. */
enum err lane_enter(struct lane *lane, const char *workspace, struct lane_seat *seat) MUST_USE;
size_t lane_waiting(const struct lane *lane);
void lane_leave(struct lane *lane, struct lane_seat *seat); /* nothing if it is not in */
