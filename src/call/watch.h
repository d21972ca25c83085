/* Who watches which call of this node, and is told what happens in it: calls_watch() and its like.
 * A call that nobody has watched costs its loop one look at a flag for each thing that happens.
 * Thread: control loop. */
#pragma once

#include "base/attr.h"
#include "call/calls.h"

struct watches;

struct watches *watches_new(void);
void watches_free(struct watches *watches); /* nobody watches any more */
DEFINE_AUTO(watches)

/* call_id: copied. */
struct calls_watch *watches_add(struct watches *watches, const char *call_id, calls_news_fn *fn,
                                void *arg);
/* fn must not remove a watch. */
void watches_tell(struct watches *watches, const char *call_id, enum call_news news,
                  const char *text);
