/* The names that one loop's client is resolving: many requests for one host share one look-up, so
 * that a host with a dead name server holds one worker of the pool and no more, and a fast one is
 * not asked for again and again. Nothing is remembered: each request that comes when no look-up is
 * under way begins one. Thread: its loop. */
#pragma once

#include "net/resolver.h"

struct name_wait;
struct names;

struct names *names_new(struct resolver *resolver, struct loop *loop); /* resolver: borrowed */
void names_free(struct names *names); /* no callback comes any more */

/* As resolve_start(). */
struct name_wait *names_resolve(struct names *names, const struct resolve_target *target,
                                resolve_fn *fn, void *arg);
void names_cancel(struct name_wait *wait); /* fn comes no more; NULL is fine */
