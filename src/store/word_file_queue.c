/* The changes that the background has before it, by turns of workspaces, each charged with the time
 * that its documents took: nobody's thousand documents stand before another's one. A line has a
 * ceiling; what finds no room is looked for again when some of them are done.
 * Thread: any for what searches leave, else the background's. */
#include <limits.h>

#include "base/fair.h"
#include "base/map.h"
#include "base/mem.h"
#include "store/word_file.h"

enum { AGAIN_AFTER = 64 /* documents */ };
static const struct fair_limits limits = {.waiting_per_key = 32, .waiting = 16384};

struct waiting {
    struct fair_item item;
    char *document_id, *workspace_id;
    int64_t revision;
    bool is_left; /* searches do not try it */
};

struct word_queue {
    pthread_mutex_t mutex;
    struct fair *order;
    struct map *items; /* document id -> struct waiting: it waits, or is being made */
    unsigned generation;
    int64_t scanned;
    int64_t refused; /* the first change that found no room; 0: none */
    unsigned ended;  /* since it was looked for */
};

struct word_queue *word_queue_new(void)
{
    struct word_queue *queue = mem_new(struct word_queue);
    pthread_mutex_init(&queue->mutex, NULL);
    queue->order = fair_new(&limits);
    queue->items = map_new();
    queue->generation = UINT_MAX;
    return queue;
}

static void waiting_free(struct waiting *waiting)
{
    mem_free(waiting->document_id);
    mem_free(waiting->workspace_id);
    mem_free(waiting);
}

static int drop(void *arg, const void *key, size_t key_len, void *value)
{
    struct word_queue *queue = arg;
    struct waiting *waiting = value;
    fair_remove(queue->order, &waiting->item);
    map_remove(queue->items, key, key_len);
    waiting_free(waiting);
    return 0;
}

void word_queue_free(struct word_queue *queue)
{
    if (!queue)
        return;
    map_each(queue->items, drop, queue);
    map_free(queue->items);
    fair_free(queue->order);
    pthread_mutex_destroy(&queue->mutex);
    mem_free(queue);
}

static void note_refused(struct word_queue *queue, int64_t revision)
{
    if (!queue->refused || revision < queue->refused)
        queue->refused = revision;
}

/* NULL: there is no room. */
static struct waiting *stand_in_line(struct word_queue *queue, const struct word_change *change)
{
    struct waiting *waiting = map_get_str(queue->items, change->document_id);
    if (waiting) {
        waiting->is_left = waiting->is_left && waiting->revision >= change->revision;
        waiting->revision = MAX(waiting->revision, change->revision);
        return waiting;
    }
    waiting = mem_new(struct waiting);
    waiting->document_id = mem_strdup(change->document_id);
    waiting->workspace_id = mem_strdup(change->workspace_id);
    waiting->revision = change->revision;
    if (fair_push(queue->order, waiting->workspace_id, &waiting->item)) {
        waiting_free(waiting);
        return NULL;
    }
    map_set_str(queue->items, waiting->document_id, waiting);
    return waiting;
}

void word_queue_leave(struct word_queue *queue, const struct word_change *change)
{
    pthread_mutex_lock(&queue->mutex);
    struct waiting *waiting = stand_in_line(queue, change);
    if (waiting)
        waiting->is_left = true;
    pthread_mutex_unlock(&queue->mutex);
}

bool word_queue_is_left(struct word_queue *queue, const struct word_change *change)
{
    pthread_mutex_lock(&queue->mutex);
    const struct waiting *waiting = map_get_str(queue->items, change->document_id);
    bool is_left = waiting && waiting->is_left && waiting->revision >= change->revision;
    pthread_mutex_unlock(&queue->mutex);
    return is_left;
}

void word_queue_begin(struct word_queue *queue, unsigned generation, int64_t seen)
{
    pthread_mutex_lock(&queue->mutex);
    if (queue->generation != generation) {
        map_each(queue->items, drop, queue);
        queue->generation = generation;
        queue->scanned = seen;
        queue->refused = 0;
    }
    pthread_mutex_unlock(&queue->mutex);
}

int64_t word_queue_scanned(struct word_queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    if (queue->refused && (queue->ended >= AGAIN_AFTER || !fair_waiting(queue->order))) {
        queue->scanned = MIN(queue->scanned, queue->refused - 1);
        queue->refused = 0;
        queue->ended = 0;
    }
    int64_t scanned = queue->scanned;
    pthread_mutex_unlock(&queue->mutex);
    return scanned;
}

void word_queue_add(struct word_queue *queue, const struct word_change *change)
{
    pthread_mutex_lock(&queue->mutex);
    if (!stand_in_line(queue, change))
        note_refused(queue, change->revision);
    pthread_mutex_unlock(&queue->mutex);
}

void word_queue_note_scanned(struct word_queue *queue, int64_t revision)
{
    pthread_mutex_lock(&queue->mutex);
    queue->scanned = MAX(queue->scanned, revision);
    pthread_mutex_unlock(&queue->mutex);
}

bool word_queue_next(struct word_queue *queue, struct arena *arena, struct word_change *out)
{
    pthread_mutex_lock(&queue->mutex);
    struct fair_item *item = fair_next(queue->order);
    if (item) {
        const struct waiting *waiting = CONTAINER_OF(item, struct waiting, item);
        *out = (struct word_change){.document_id = arena_strdup(arena, waiting->document_id),
                                    .workspace_id = arena_strdup(arena, waiting->workspace_id),
                                    .revision = waiting->revision};
    }
    pthread_mutex_unlock(&queue->mutex);
    return item != NULL;
}

void word_queue_end(struct word_queue *queue, const struct word_change *change, bool is_done,
                    int64_t cost_us)
{
    pthread_mutex_lock(&queue->mutex);
    struct waiting *waiting = map_get_str(queue->items, change->document_id);
    fair_done(queue->order, &waiting->item, cost_us);
    queue->ended++;
    bool is_over = is_done && waiting->revision <= change->revision;
    bool waits = !is_over && !fair_push(queue->order, waiting->workspace_id, &waiting->item);
    if (!is_over && !waits)
        note_refused(queue, waiting->revision);
    if (!waits) {
        map_remove_str(queue->items, change->document_id);
        waiting_free(waiting);
    }
    pthread_mutex_unlock(&queue->mutex);
}

static int find_first(void *arg, const void *key, size_t key_len, void *value)
{
    (void)key, (void)key_len;
    int64_t *first = arg;
    *first = MIN(*first, ((const struct waiting *)value)->revision);
    return 0;
}

int64_t word_queue_done(struct word_queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    int64_t first = queue->scanned + 1;
    map_each(queue->items, find_first, &first);
    if (queue->refused)
        first = MIN(first, queue->refused);
    pthread_mutex_unlock(&queue->mutex);
    return first - 1;
}
