#include "call/watch.h"

#include <stdio.h>

#include "base/ids.h"
#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"

struct watched {
    struct list_node watchers;
    char call_id[ID_SIZE];
};

struct calls_watch {
    struct list_node node;
    struct watches *watches;
    struct watched *watched;
    calls_news_fn *fn;
    void *arg;
};

struct watches {
    struct map *by_id; /* of a call: struct watched */
};

struct watches *watches_new(void)
{
    struct watches *watches = mem_new(struct watches);
    watches->by_id = map_new();
    return watches;
}

void watches_free(struct watches *watches)
{
    if (!watches)
        return;
    map_free(watches->by_id);
    mem_free(watches);
}

struct calls_watch *watches_add(struct watches *watches, const char *call_id, calls_news_fn *fn,
                                void *arg)
{
    struct watched *watched = map_get_str(watches->by_id, call_id);
    if (!watched) {
        watched = mem_new(struct watched);
        list_init(&watched->watchers);
        snprintf(watched->call_id, sizeof(watched->call_id), "%s", call_id);
        map_set_str(watches->by_id, watched->call_id, watched);
    }
    struct calls_watch *watch = mem_new(struct calls_watch);
    *watch = (struct calls_watch){.watches = watches, .watched = watched, .fn = fn, .arg = arg};
    list_push_back(&watched->watchers, &watch->node);
    return watch;
}

void calls_unwatch(struct calls_watch *watch)
{
    if (!watch)
        return;
    struct watched *watched = watch->watched;
    list_remove(&watch->node);
    if (list_is_empty(&watched->watchers)) {
        map_remove_str(watch->watches->by_id, watched->call_id);
        mem_free(watched);
    }
    mem_free(watch);
}

void watches_tell(struct watches *watches, const char *call_id, enum call_news news,
                  const char *text)
{
    struct watched *watched = map_get_str(watches->by_id, call_id);
    struct calls_watch *watch;
    if (!watched)
        return;
    LIST_EACH (watch, &watched->watchers, struct calls_watch, node)
        watch->fn(watch->arg, news, text);
}
