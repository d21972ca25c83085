/* Things that many share and of which one copy is enough: each has a key, lives as long as somebody
 * holds it, and is found by its key for so long. What is on the shelf is never changed; a changed
 * thing has another key. Thread: any. */
#pragma once

#include <stddef.h>

#include "base/attr.h"

struct shelf;

/* The first member of what is shared. */
struct shelf_item {
    struct shelf *shelf;
    char *key;
    size_t holders;
};

typedef void shelf_free_fn(struct shelf_item *item);
struct shelf *shelf_new(shelf_free_fn *free_item);
void shelf_free(struct shelf *shelf); /* its items may outlive it */
DEFINE_AUTO(shelf)

/* The item of this key, held once more; NULL: nobody holds one. */
struct shelf_item *shelf_take(struct shelf *shelf, const char *key);
/* Puts a new item there, held by the caller. When there is one of that key already (somebody made
 * it meanwhile) the new one is freed and the other is held and returned. key: copied. */
struct shelf_item *shelf_put(struct shelf *shelf, const char *key, struct shelf_item *take_item);
void shelf_give_back(struct shelf_item *item); /* NULL is fine; the last one frees it */
size_t shelf_count(const struct shelf *shelf);
