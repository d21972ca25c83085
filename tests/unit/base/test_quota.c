#include "base/quota.h"

#include <stdio.h>

#include "test.h"

TEST(one_greedy_key_gets_half_and_two_a_third_each)
{
    AUTO(quota) quota = quota_new(90, 0);
    while (quota_take(quota, "greedy", 1))
        continue;
    CHECK_INT(quota_held(quota, "greedy"), 45);
    while (quota_take(quota, "second", 1))
        continue;
    CHECK_INT(quota_held(quota, "second"), 23); /* half of what was left */
    quota_give(quota, "greedy", 15);
    while (quota_take(quota, "second", 1) || quota_take(quota, "greedy", 1))
        continue;
    CHECK_INT(quota_held(quota, "second"), 30);
    CHECK_INT(quota_held(quota, "greedy"), 30);
    CHECK_INT(quota_used(quota), 60);
}

TEST(who_holds_nothing_finds_room_until_the_last_of_it)
{
    AUTO(quota) quota = quota_new(64, 0);
    char key[16];
    int taken = 0;
    for (int i = 0; i < 100; i++) {
        snprintf(key, sizeof(key), "key-%d", i);
        taken += quota_take(quota, key, 1);
    }
    CHECK_INT(taken, 64);
    CHECK(!quota_take(quota, "key-0", 1));
    CHECK_INT(quota_used(quota), 64);
}

TEST(a_key_has_a_ceiling_of_its_own_and_is_forgotten_when_it_holds_nothing)
{
    AUTO(quota) quota = quota_new(1000, 10);
    CHECK(quota_take(quota, "a", 10));
    CHECK(!quota_take(quota, "a", 1));
    CHECK(!quota_take(quota, "b", 11));
    CHECK(quota_take(quota, "b", 0));
    CHECK_INT(quota_held(quota, "b"), 0);
    quota_give(quota, "a", 4);
    CHECK(quota_take(quota, "a", 4));
    quota_give(quota, "a", 10);
    quota_give(quota, "nobody", 5);
    CHECK_INT(quota_used(quota), 0);
    CHECK(!quota_take(quota, "a", INT64_MAX));
}
