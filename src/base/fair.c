/* Start-time fair queueing: a line's `had` is what it was given, and an idle line is lifted to the
 * level of the one that was served last. Lines that may run stand in a heap by `had`, so that
 * choosing is O(log lines). A line that owes (its `had` is above the level) is kept while it owes,
 * so that leaving and coming back does not pay; swept now and then. */
#include "base/fair.h"

#include "base/map.h"
#include "base/mem.h"

enum { SWEEP_MIN = 256 /* lines, before idle ones are looked through */ };

struct fair_line {
    char *key; /* NULL: the operator's */
    struct list_node waiting;
    size_t waiting_count, running_count;
    int64_t had;
    uint64_t order; /* ties: who came first */
    size_t slot;    /* place in the heap + 1; 0: not in it */
};

struct fair {
    struct fair_limits limits;
    struct map *lines;
    struct fair_line operators;
    struct fair_line **heap;
    size_t heap_count, heap_cap;
    size_t waiting, running; /* of tenants */
    size_t sweep_at;
    int64_t level;
    uint64_t orders;
};

struct fair *fair_new(const struct fair_limits *limits)
{
    struct fair *fair = mem_new(struct fair);
    fair->limits = *limits;
    fair->lines = map_new();
    fair->sweep_at = SWEEP_MIN;
    list_init(&fair->operators.waiting);
    return fair;
}

static void line_free(struct fair_line *line)
{
    mem_free(line->key);
    mem_free(line);
}

static int drop_line(void *arg, const void *key, size_t key_len, void *value)
{
    (void)arg, (void)key, (void)key_len;
    line_free(value);
    return 0;
}

void fair_free(struct fair *fair)
{
    if (!fair)
        return;
    map_each(fair->lines, drop_line, NULL);
    map_free(fair->lines);
    mem_free(fair->heap);
    mem_free(fair);
}

/* The heap of lines that may run. */

static bool goes_before(const struct fair_line *a, const struct fair_line *b)
{
    return a->had < b->had || (a->had == b->had && a->order < b->order);
}

static void place(struct fair *fair, size_t i, struct fair_line *line)
{
    fair->heap[i] = line;
    line->slot = i + 1;
}

static void sift_up(struct fair *fair, size_t i)
{
    struct fair_line *line = fair->heap[i];
    for (; i > 0 && goes_before(line, fair->heap[(i - 1) / 2]); i = (i - 1) / 2)
        place(fair, i, fair->heap[(i - 1) / 2]);
    place(fair, i, line);
}

static void sift_down(struct fair *fair, size_t i)
{
    struct fair_line *line = fair->heap[i];
    for (size_t child; (child = 2 * i + 1) < fair->heap_count; i = child) {
        if (child + 1 < fair->heap_count && goes_before(fair->heap[child + 1], fair->heap[child]))
            child++;
        if (!goes_before(fair->heap[child], line))
            break;
        place(fair, i, fair->heap[child]);
    }
    place(fair, i, line);
}

static void heap_add(struct fair *fair, struct fair_line *line)
{
    if (fair->heap_count == fair->heap_cap) {
        fair->heap_cap = MAX(2 * fair->heap_cap, (size_t)16);
        fair->heap = mem_realloc_n(fair->heap, fair->heap_cap, sizeof(struct fair_line *));
    }
    fair->heap[fair->heap_count] = line;
    sift_up(fair, fair->heap_count++);
}

static void heap_remove(struct fair *fair, struct fair_line *line)
{
    size_t i = line->slot - 1;
    line->slot = 0;
    struct fair_line *last = fair->heap[--fair->heap_count];
    if (last == line)
        return;
    place(fair, i, last);
    sift_up(fair, i);
    sift_down(fair, last->slot - 1);
}

/* After any change of a line: in the heap if it may run, and in its place there. */
static void settle(struct fair *fair, struct fair_line *line)
{
    size_t most = fair->limits.running_per_key;
    bool may_run = line->waiting_count > 0 && (most == 0 || line->running_count < most);
    if (line->slot)
        heap_remove(fair, line);
    if (may_run)
        heap_add(fair, line);
}

/* Lines. */

static bool is_operator(const struct fair *fair, const struct fair_line *line)
{
    return line == &fair->operators;
}

static int sweep_line(void *arg, const void *key, size_t key_len, void *value)
{
    struct fair *fair = arg;
    struct fair_line *line = value;
    if (line->waiting_count || line->running_count || line->had > fair->level)
        return 0;
    map_remove(fair->lines, key, key_len);
    line_free(line);
    return 0;
}

static struct fair_line *line_of(struct fair *fair, const char *key)
{
    if (!key)
        return &fair->operators;
    struct fair_line *line = map_get_str(fair->lines, key);
    if (line)
        return line;
    if (map_count(fair->lines) >= fair->sweep_at) {
        map_each(fair->lines, sweep_line, fair);
        fair->sweep_at = MAX(2 * map_count(fair->lines), (size_t)SWEEP_MIN);
    }
    line = mem_new(struct fair_line);
    line->key = mem_strdup(key);
    list_init(&line->waiting);
    map_set_str(fair->lines, key, line);
    return line;
}

/* An idle line that owes nothing is as good as none. */
static void release(struct fair *fair, struct fair_line *line)
{
    if (line->waiting_count || line->running_count || line->had > fair->level)
        return;
    map_remove_str(fair->lines, line->key);
    line_free(line);
}

static bool is_full(size_t count, size_t most)
{
    return most > 0 && count >= most;
}

enum err fair_push(struct fair *fair, const char *key, struct fair_item *item)
{
    const struct fair_limits *limits = &fair->limits;
    struct fair_line *line = line_of(fair, key);
    bool has_room = is_operator(fair, line)
                        ? !is_full(line->waiting_count, limits->operator_waiting)
                        : !is_full(line->waiting_count, limits->waiting_per_key) &&
                              !is_full(fair->waiting, limits->waiting);
    if (!has_room) {
        if (!is_operator(fair, line))
            release(fair, line);
        return ERR_BUSY;
    }
    *item = (struct fair_item){.line = line};
    list_push_back(&line->waiting, &item->node);
    line->waiting_count++;
    if (is_operator(fair, line))
        return OK;
    fair->waiting++;
    if (line->waiting_count == 1 && line->running_count == 0)
        line->had = MAX(line->had, fair->level);
    if (line->waiting_count == 1)
        line->order = ++fair->orders;
    settle(fair, line);
    return OK;
}

/* Its first item goes from waiting to running. */
static struct fair_item *begin(struct fair_line *line)
{
    struct fair_item *item = LIST_FIRST(&line->waiting, struct fair_item, node);
    list_remove(&item->node);
    item->is_running = true;
    line->waiting_count--;
    line->running_count++;
    return item;
}

struct fair_item *fair_next(struct fair *fair)
{
    if (fair->operators.waiting_count)
        return begin(&fair->operators);
    if (fair->heap_count == 0 || is_full(fair->running, fair->limits.running))
        return NULL;
    struct fair_line *line = fair->heap[0];
    fair->level = MAX(fair->level, line->had);
    fair->waiting--;
    fair->running++;
    struct fair_item *item = begin(line);
    line->had++; /* in advance, so that lines take turns while costs are not known yet */
    line->order = ++fair->orders;
    settle(fair, line);
    return item;
}

void fair_set_aside(struct fair *fair, struct fair_item *item)
{
    if (!item->is_running || item->is_aside || is_operator(fair, item->line))
        return;
    item->is_aside = true;
    fair->running--;
}

static void leave(struct fair *fair, struct fair_item *item, int64_t cost)
{
    struct fair_line *line = TAKE(item->line);
    if (item->is_running) {
        line->running_count--;
    } else {
        list_remove(&item->node);
        line->waiting_count--;
    }
    if (is_operator(fair, line))
        return;
    if (item->is_running)
        fair->running -= !item->is_aside;
    else
        fair->waiting--;
    line->had += MAX(cost - 1, 0);
    settle(fair, line);
    release(fair, line);
}

void fair_done(struct fair *fair, struct fair_item *item, int64_t cost)
{
    leave(fair, item, cost);
}

void fair_remove(struct fair *fair, struct fair_item *item)
{
    if (item->line)
        leave(fair, item, 0);
}

size_t fair_waiting(const struct fair *fair)
{
    return fair->waiting + fair->operators.waiting_count;
}

size_t fair_running(const struct fair *fair)
{
    return fair->running + fair->operators.running_count;
}

size_t fair_waiting_of(const struct fair *fair, const char *key)
{
    const struct fair_line *line = key ? map_get_str(fair->lines, key) : &fair->operators;
    return line ? line->waiting_count : 0;
}
