/* A queue that tenants share fairly. Each key (a workspace; a host within one) has a line of its
 * own; the line that has had least so far goes next, measured in whatever its owner says an item
 * cost (microseconds, bytes, or 1). So one key's thousand items delay another key's first by one
 * item and not by a thousand. A line that was empty begins level with the others: nobody saves up.
 *
 *   fair_push(key, item) --waits--> fair_next() --runs--> fair_done(item, cost)
 *                           '--fair_remove(item)
 *
 * The operator's own line (key FAIR_OPERATOR: engines, leases, money, journal) goes before all
 * others and counts towards no ceiling but its own.
 *
 * Thread: its owner's (a mutex around it, or one loop). The items are the owner's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/list.h"

struct fair;
struct fair_line;

#define FAIR_OPERATOR NULL

/* A member of what waits. */
struct fair_item {
    struct list_node node;
    struct fair_line *line; /* NULL: neither waiting nor running */
    bool is_running, is_aside;
};

/* 0: no ceiling. */
struct fair_limits {
    size_t waiting_per_key, waiting; /* over one of them fair_push() refuses */
    size_t running_per_key, running; /* at one of them fair_next() passes a line, or all */
    size_t operator_waiting;         /* of the operator's line, which has no other ceiling */
};

struct fair *fair_new(const struct fair_limits *limits);
void fair_free(struct fair *fair); /* what still waits or runs is forgotten, not freed */
DEFINE_AUTO(fair)

/* ERR_BUSY: the key's line, or all of them, are full. key: copied. */
enum err fair_push(struct fair *fair, const char *key, struct fair_item *item) MUST_USE;
/* The next item, which runs from now on; NULL: nothing waits, or what waits may not run yet. */
struct fair_item *fair_next(struct fair *fair);
/* One that runs leaves its place to others, and goes on: it counts for its key alone. */
void fair_set_aside(struct fair *fair, struct fair_item *item);
/* It has ended; cost (at least 1) is what its line has had. Its memory is free to go. */
void fair_done(struct fair *fair, struct fair_item *item, int64_t cost);
/* It is wanted no more: takes it out, waiting or running. Nothing if it is neither. */
void fair_remove(struct fair *fair, struct fair_item *item);

size_t fair_waiting(const struct fair *fair); /* the operator's included */
size_t fair_running(const struct fair *fair);
size_t fair_waiting_of(const struct fair *fair, const char *key);
