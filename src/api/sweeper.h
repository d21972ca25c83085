/* Removes the answers kept for an Idempotency-Key that are over their day, also where no new one
 * comes. Thread: the control loop. */
#pragma once

#include <stdbool.h>

struct loop;
struct store;
struct sweeper;

struct sweeper *sweeper_new(struct loop *loop, struct store *store);
void sweeper_free(struct sweeper *sweeper); /* sweeper_is_idle() */
bool sweeper_is_idle(const struct sweeper *sweeper);
