/* What `earshot show` prints of the calls: gathered on each media loop in turn. */
#pragma once

#include <stddef.h>

#include "call/calls.h"

struct call_loop;

struct list_node;

/* Stands in `gathers` until done comes. Thread: control loop; done comes there. */
void show_gather(struct list_node *gathers, struct loop *control, struct call_loop *const *homes,
                 size_t count, calls_show_fn *done, void *arg);
/* The homes go: what has been gathered is all that done gets, when the loops hand out their last
 * messages. Thread: when no loop runs any more. */
void show_cut(struct list_node *gathers);
