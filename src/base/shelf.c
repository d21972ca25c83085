/* A map under a mutex; nothing is freed while it is held. */
#include "base/shelf.h"

#include <pthread.h>
#include <stdbool.h>

#include "base/map.h"
#include "base/mem.h"

struct shelf {
    pthread_mutex_t mutex;
    struct map *items;
    shelf_free_fn *free_item;
    size_t holders; /* its owner, and each item */
};

struct shelf *shelf_new(shelf_free_fn *free_item)
{
    struct shelf *shelf = mem_new(struct shelf);
    pthread_mutex_init(&shelf->mutex, NULL);
    shelf->items = map_new();
    shelf->free_item = free_item;
    shelf->holders = 1;
    return shelf;
}

/* With the mutex held, which it gives back. */
static void let_go(struct shelf *shelf)
{
    bool is_last = --shelf->holders == 0;
    pthread_mutex_unlock(&shelf->mutex);
    if (!is_last)
        return;
    map_free(shelf->items);
    pthread_mutex_destroy(&shelf->mutex);
    mem_free(shelf);
}

void shelf_free(struct shelf *shelf)
{
    if (!shelf)
        return;
    pthread_mutex_lock(&shelf->mutex);
    let_go(shelf);
}

struct shelf_item *shelf_take(struct shelf *shelf, const char *key)
{
    pthread_mutex_lock(&shelf->mutex);
    struct shelf_item *item = map_get_str(shelf->items, key);
    if (item)
        item->holders++;
    pthread_mutex_unlock(&shelf->mutex);
    return item;
}

struct shelf_item *shelf_put(struct shelf *shelf, const char *key, struct shelf_item *item)
{
    pthread_mutex_lock(&shelf->mutex);
    struct shelf_item *present = map_get_str(shelf->items, key);
    if (present) {
        present->holders++;
    } else {
        *item = (struct shelf_item){.shelf = shelf, .key = mem_strdup(key), .holders = 1};
        map_set_str(shelf->items, key, item);
        shelf->holders++;
    }
    pthread_mutex_unlock(&shelf->mutex);
    if (!present)
        return item;
    shelf->free_item(item);
    return present;
}

void shelf_give_back(struct shelf_item *item)
{
    if (!item)
        return;
    struct shelf *shelf = item->shelf;
    pthread_mutex_lock(&shelf->mutex);
    if (--item->holders > 0) {
        pthread_mutex_unlock(&shelf->mutex);
        return;
    }
    shelf_free_fn *free_item = shelf->free_item;
    map_remove_str(shelf->items, item->key);
    let_go(shelf);
    mem_free(item->key);
    free_item(item);
}

size_t shelf_count(const struct shelf *shelf)
{
    pthread_mutex_t *mutex = &((struct shelf *)shelf)->mutex;
    pthread_mutex_lock(mutex);
    size_t count = map_count(shelf->items);
    pthread_mutex_unlock(mutex);
    return count;
}
