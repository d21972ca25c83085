#include "base/map.h"

#include <stdint.h>
#include <stdio.h>

#include "test.h"

TEST(map_sets_gets_and_removes)
{
    AUTO(map) map = map_new();
    int a, b;
    CHECK(map_get_str(map, "x") == NULL);
    CHECK(map_set_str(map, "x", &a) == NULL);
    CHECK(map_set_str(map, "x", &b) == &a);
    CHECK(map_get_str(map, "x") == &b);
    CHECK_INT(map_count(map), 1);
    CHECK(map_remove_str(map, "x") == &b);
    CHECK(map_remove_str(map, "x") == NULL);
    CHECK_INT(map_count(map), 0);
}

TEST(map_keys_are_bytes)
{
    AUTO(map) map = map_new();
    int a, b, empty;
    map_set(map, "a\0b", 3, &a);
    map_set(map, "a\0c", 3, &b);
    map_set(map, "", 0, &empty);
    CHECK(map_get(map, "a\0b", 3) == &a);
    CHECK(map_get(map, "a\0c", 3) == &b);
    CHECK(map_get(map, "a", 1) == NULL);
    CHECK(map_get_str(map, "") == &empty);
}

TEST(map_holds_many)
{
    AUTO(map) map = map_new();
    char key[24];
    for (uintptr_t i = 1; i <= 10000; i++) {
        snprintf(key, sizeof(key), "key-%d", (int)i);
        map_set_str(map, key, (void *)i);
    }
    CHECK_INT(map_count(map), 10000);
    for (uintptr_t i = 1; i <= 10000; i++) {
        snprintf(key, sizeof(key), "key-%d", (int)i);
        CHECK((uintptr_t)map_get_str(map, key) == i);
        if (i % 2)
            map_remove_str(map, key);
    }
    CHECK_INT(map_count(map), 5000);
}

struct visit {
    struct map *map;
    uintptr_t order;
};

static int remove_even(void *arg, const void *key, size_t key_len, void *value)
{
    struct visit *visit = arg;
    visit->order = visit->order * 10 + (uintptr_t)value;
    if ((uintptr_t)value % 2 == 0)
        map_remove(visit->map, key, key_len);
    return (uintptr_t)value == 5;
}

TEST(map_visits_in_order_of_insertion)
{
    AUTO(map) map = map_new();
    for (uintptr_t i = 1; i <= 6; i++)
        map_set(map, &i, sizeof(i), (void *)i);
    struct visit visit = {.map = map};
    map_each(map, remove_even, &visit);
    CHECK_INT(visit.order, 12345);
    CHECK_INT(map_count(map), 4);
}
