/* What `earshot show` prints of the calls: gathered on each media loop in turn. */
#pragma once

#include <stddef.h>

#include "call/calls.h"

struct call_loop;

/* Thread: control loop; done comes there. */
void show_gather(struct loop *control, struct call_loop *const *homes, size_t count,
                 calls_show_fn *done, void *arg);
