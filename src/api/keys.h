/* Whose key is this? Looked up in the store by its hash and remembered for at most a second, so
 * that a revoked key stops within it on every node. Thread: the control loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/loop.h"
#include "model/workspace.h"

struct keys;
struct store;

enum { KEYS_MAX = 100000 };

/* most: keys that are remembered, 0: KEYS_MAX; of more, those that were used last. */
struct keys *keys_new(struct loop *loop, struct store *store, size_t most);
void keys_free(struct keys *keys); /* no look-up is under way */
DEFINE_AUTO(keys)

/* fn(arg): some key or session is good no more, or for something else, here or on another node; who
 * goes on by one looks again. One fn; before jobs run. */
void keys_watch(struct keys *keys, loop_fn *fn, void *arg);

/* principal NULL: no such key (err OK), or the store did not answer (err). */
typedef void keys_found_fn(void *arg, enum err err, const struct principal *principal);
/* fn may be called before this returns. address: the client's; the look-up of a key that is not
 * known yet waits in the store's line of this address. */
void keys_find(struct keys *keys, const char *key, const char *address, keys_found_fn *fn,
               void *arg);
