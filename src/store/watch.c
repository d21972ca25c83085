/* Watches: what has changed is told to loops of this process. Several changes before a loop looks
 * become one call. Thread: see each function. */
#include "store/internal.h"

static void call_watch(void *arg)
{
    struct store_watch *watch = arg;
    unsigned topics = atomic_exchange(&watch->pending, 0);
    if (watch->fn && topics)
        watch->fn(watch->arg, topics);
}

struct store_watch *store_watch(struct store *store, unsigned topics, struct loop *loop,
                                store_watch_fn *fn, void *arg)
{
    unsigned place = atomic_load(&store->watch_count);
    if (place == WATCHES_MAX)
        return NULL;
    struct store_watch *watch = &store->watches[place];
    watch->store = store;
    watch->topics = topics;
    watch->loop = loop;
    watch->fn = fn;
    watch->arg = arg;
    atomic_store(&store->watch_count, place + 1);
    return watch;
}

void store_unwatch(struct store_watch *watch)
{
    if (watch)
        watch->fn = NULL;
}

void watch_tell(struct store *store, unsigned topics)
{
    unsigned count = atomic_load(&store->watch_count);
    for (unsigned i = 0; i < count; i++) {
        struct store_watch *watch = &store->watches[i];
        unsigned wanted = topics & watch->topics;
        if (wanted && atomic_fetch_or(&watch->pending, wanted) == 0)
            loop_post(watch->loop, call_watch, watch);
    }
}
