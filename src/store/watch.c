/* Watches: what has changed is told to loops of this process, through a bell each. A watch that is
 * over keeps its place with a closed bell until the store is closed, because store threads look at
 * the places without a lock. Thread: see each function. */
#include "base/bell.h"
#include "store/internal.h"

/* Thread: the one that starts the service. */
struct store_watch *store_watch(struct store *store, unsigned topics, struct loop *loop,
                                store_watch_fn *fn, void *arg)
{
    unsigned place = atomic_load(&store->watches.count);
    if (place == WATCHES_MAX)
        return NULL;
    struct store_watch *watch = &store->watches.items[place];
    watch->topics = topics;
    watch->bell = bell_new(loop, fn, arg);
    atomic_store(&store->watches.count, place + 1);
    return watch;
}

void store_unwatch(struct store_watch *watch)
{
    if (watch)
        bell_close(watch->bell);
}

/* Thread: any. */
void watch_tell(struct store *store, unsigned topics)
{
    unsigned count = atomic_load(&store->watches.count);
    for (unsigned i = 0; i < count; i++)
        bell_ring(store->watches.items[i].bell, topics & store->watches.items[i].topics);
}

/* Thread: the one that closes the store; no other runs. */
void watches_clear(struct store *store)
{
    for (unsigned i = 0; i < atomic_load(&store->watches.count); i++)
        bell_free(store->watches.items[i].bell);
}
