#include "base/shelf.h"

#include <pthread.h>
#include <string.h>

#include "base/mem.h"
#include "test.h"

struct thing {
    struct shelf_item item;
    int value;
};

static int freed;

static void free_thing(struct shelf_item *item)
{
    __atomic_fetch_add(&freed, 1, __ATOMIC_RELAXED);
    mem_free(item);
}

static struct thing *make(struct shelf *shelf, const char *key, int value)
{
    struct thing *thing = mem_new(struct thing);
    thing->value = value;
    return (struct thing *)shelf_put(shelf, key, &thing->item);
}

TEST(one_copy_is_shared_until_the_last_holder_goes)
{
    struct shelf *shelf = shelf_new(free_thing);
    freed = 0;
    CHECK(shelf_take(shelf, "a 1") == NULL);
    struct thing *first = make(shelf, "a 1", 1);
    struct thing *second = (struct thing *)shelf_take(shelf, "a 1");
    CHECK(first == second);
    CHECK(make(shelf, "a 1", 2) == first); /* made by two at once: one stays */
    CHECK_INT(freed, 1);
    struct thing *other = make(shelf, "a 2", 3);
    CHECK_INT(shelf_count(shelf), 2);
    shelf_give_back(&first->item);
    shelf_give_back(&first->item);
    CHECK_INT(first->value, 1);
    shelf_give_back(&first->item);
    CHECK_INT(freed, 2);
    CHECK(shelf_take(shelf, "a 1") == NULL);
    shelf_free(shelf); /* what is held outlives it */
    CHECK_INT(other->value, 3);
    shelf_give_back(&other->item);
    CHECK_INT(freed, 3);
    shelf_give_back(NULL);
}

static void *take_and_give(void *arg)
{
    struct shelf *shelf = arg;
    for (int i = 0; i < 20000; i++) {
        struct thing *thing = (struct thing *)shelf_take(shelf, "shared");
        if (!thing)
            thing = make(shelf, "shared", 7);
        if (thing->value != 7)
            return shelf;
        shelf_give_back(&thing->item);
    }
    return NULL;
}

TEST(threads_share_a_shelf)
{
    struct shelf *shelf = shelf_new(free_thing);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        REQUIRE(pthread_create(&threads[i], NULL, take_and_give, shelf) == 0);
    for (int i = 0; i < 4; i++) {
        void *fault;
        pthread_join(threads[i], &fault);
        CHECK(fault == NULL);
    }
    CHECK_INT(shelf_count(shelf), 0);
    shelf_free(shelf);
}
