/* See meaning.h. Each question asks by a session of its own; what comes too late for it is kept all
 * the same. Thread: its loop. */
#include "know/meaning.h"

#include <stdio.h>
#include <string.h>

#include "base/ids.h"
#include "base/list.h"
#include "base/loop.h"
#include "base/map.h"
#include "base/mem.h"
#include "engine/registry.h"

enum {
    WAIT_US = 150 * 1000,
    OVER_US = 3 * 1000 * 1000, /* then what comes is not kept either */
    ASKING_MAX = 32,           /* at once; more are answered without */
    ASKING_OF_WORKSPACE = 8,
    KEPT_MAX = 256,
    QUERY_MAX_BYTES = 2000, /* longer ones are not kept */
};

struct meaning {
    const struct engine *engine;
    struct loop *loop;
    struct list_node asking; /* struct asking */
    size_t asking_count;
    struct map *kept; /* query -> struct kept */
    struct list_node by_age;
};

struct kept {
    struct list_node node;
    char *query;
    size_t size;
    float numbers[];
};

struct asking {
    struct meaning *meaning;
    struct list_node node;
    struct embed *embed;
    struct timer late, over;
    char *query;
    char workspace_id[ID_SIZE];
    know_meant_fn *fn; /* NULL: it has been told */
    void *arg;
};

static const struct know_vector nobody_knows = {0};

char *meaning_model(const struct engine *engine)
{
    const char *model = engine->info.model_count ? engine->info.models[0] : "";
    return mem_printf("%s/%s", engine->info.id, model);
}

/* What is kept. */

static void drop(struct meaning *meaning, struct kept *kept)
{
    map_remove_str(meaning->kept, kept->query);
    list_remove(&kept->node);
    mem_free(kept->query);
    mem_free(kept);
}

static void keep(struct meaning *meaning, const char *query, const float *numbers, size_t size)
{
    if (strlen(query) > QUERY_MAX_BYTES || map_get_str(meaning->kept, query))
        return;
    if (map_count(meaning->kept) >= KEPT_MAX)
        drop(meaning, LIST_FIRST(&meaning->by_age, struct kept, node));
    struct kept *kept = mem_zalloc(sizeof(*kept) + size * sizeof(float));
    kept->query = mem_strdup(query);
    kept->size = size;
    memcpy(kept->numbers, numbers, size * sizeof(float));
    map_set_str(meaning->kept, kept->query, kept);
    list_push_back(&meaning->by_age, &kept->node);
}

/* Asking. */

static void tell(struct asking *asking, const struct know_vector *vector)
{
    know_meant_fn *fn = asking->fn;
    asking->fn = NULL;
    if (fn)
        fn(asking->arg, vector);
}

static void end(void *arg)
{
    struct asking *asking = arg;
    tell(asking, &nobody_knows);
    timer_stop(&asking->late);
    timer_stop(&asking->over);
    asking->embed->ops->close(asking->embed);
    list_remove(&asking->node);
    asking->meaning->asking_count--;
    mem_free(asking->query);
    mem_free(asking);
}

static void on_late(void *arg)
{
    tell(arg, &nobody_knows);
}

static void on_embedded(void *arg, const struct embed_event *event)
{
    struct asking *asking = arg;
    bool is_sound = event->kind == EMBED_VECTORS && event->count == 1 && event->size &&
                    event->size <= EMBED_SIZE_MAX;
    if (is_sound) {
        const struct know_vector vector = {event->vectors, event->size};
        keep(asking->meaning, asking->query, event->vectors, event->size);
        tell(asking, &vector);
    }
    timer_set_after(&asking->over, 0); /* not inside the session's own callback */
}

static void ask(struct meaning *meaning, const char *workspace_id, const char *query,
                know_meant_fn *fn, void *arg)
{
    struct asking *asking = mem_new(struct asking);
    asking->meaning = meaning;
    asking->query = mem_strdup(query);
    snprintf(asking->workspace_id, sizeof(asking->workspace_id), "%s", workspace_id);
    asking->fn = fn;
    asking->arg = arg;
    timer_init(&asking->late, meaning->loop, on_late, asking);
    timer_init(&asking->over, meaning->loop, end, asking);
    timer_set_after(&asking->late, WAIT_US);
    timer_set_after(&asking->over, OVER_US);
    list_push_back(&meaning->asking, &asking->node);
    meaning->asking_count++;
    const struct embed_config config = {.model = "", .workspace = workspace_id};
    asking->embed = meaning->engine->ops.embed->open(meaning->engine, &config, meaning->loop,
                                                     on_embedded, asking);
    asking->embed->ops->start(asking->embed, 1, (const char *const[]){asking->query}, 1);
}

static bool has_room(const struct meaning *meaning, const char *workspace_id)
{
    size_t own = 0;
    struct asking *asking;
    LIST_EACH (asking, &meaning->asking, struct asking, node)
        own += strcmp(asking->workspace_id, workspace_id) == 0;
    return meaning->asking_count < ASKING_MAX && own < ASKING_OF_WORKSPACE;
}

void meaning_ask(struct meaning *meaning, const char *workspace_id, const char *query,
                 know_meant_fn *fn, void *arg)
{
    const struct kept *kept = meaning ? map_get_str(meaning->kept, query) : NULL;
    if (kept) {
        const struct know_vector vector = {kept->numbers, kept->size};
        fn(arg, &vector);
    } else if (meaning && *query && has_room(meaning, workspace_id)) {
        ask(meaning, workspace_id, query, fn, arg);
    } else {
        fn(arg, &nobody_knows);
    }
}

struct meaning *meaning_open(const struct know_config *config)
{
    if (!config->embedder)
        return NULL;
    struct meaning *meaning = mem_new(struct meaning);
    meaning->engine = config->embedder;
    meaning->loop = config->loop;
    meaning->kept = map_new();
    list_init(&meaning->asking);
    list_init(&meaning->by_age);
    return meaning;
}

void meaning_close(struct meaning *meaning)
{
    if (!meaning)
        return;
    while (!list_is_empty(&meaning->asking))
        end(LIST_FIRST(&meaning->asking, struct asking, node));
    while (!list_is_empty(&meaning->by_age))
        drop(meaning, LIST_FIRST(&meaning->by_age, struct kept, node));
    map_free(meaning->kept);
    mem_free(meaning);
}
