/* Token buckets on simulated time. */
#include "api/limit.h"

#include <stdio.h>

#include "test.h"

TEST(limit_gives_the_burst_then_the_rate)
{
    AUTO(limit) limit = limit_new(60, 3, 0);
    struct limit_state state;
    int64_t now_us = 1000000;
    for (int i = 0; i < 3; i++)
        CHECK(limit_take(limit, "a", now_us, &state));
    CHECK_INT(state.remaining, 0);
    CHECK_INT(state.reset_s, 3);
    CHECK(!limit_take(limit, "a", now_us, &state));
    CHECK_INT(state.retry_s, 1);
    CHECK(!limit_take(limit, "a", now_us + 999999, &state));
    CHECK(limit_take(limit, "a", now_us + 1000000, &state));
    CHECK(limit_take(limit, "b", now_us, NULL));
}

TEST(limit_never_holds_more_than_the_burst)
{
    AUTO(limit) limit = limit_new(600, 2, 0);
    struct limit_state state;
    CHECK(limit_take(limit, "a", 0, &state));
    CHECK(limit_take(limit, "a", INT64_C(86400000000), &state));
    CHECK_INT(state.remaining, 1);
    CHECK(limit_take(limit, "a", INT64_C(86400000000), &state));
    CHECK(!limit_take(limit, "a", INT64_C(86400000000), &state));
}

TEST(limit_takes_back_what_was_given_in_vain)
{
    AUTO(limit) limit = limit_new(60, 2, 0);
    CHECK(limit_take(limit, "a", 1000000, NULL));
    CHECK(limit_take(limit, "a", 1000000, NULL));
    CHECK(!limit_take(limit, "a", 1000000, NULL));
    limit_give(limit, "a", 1000000);
    CHECK(limit_take(limit, "a", 1000000, NULL));
    CHECK(!limit_take(limit, "a", 1000000, NULL));
    for (int i = 0; i < 5; i++)
        limit_give(limit, "a", 1000000);
    CHECK(limit_take(limit, "a", 1000000, NULL)); /* never over the burst */
    CHECK(limit_take(limit, "a", 1000000, NULL));
    CHECK(!limit_take(limit, "a", 1000000, NULL));
}

TEST(limit_of_zero_is_none)
{
    AUTO(limit) limit = limit_new(0, 1, 0);
    struct limit_state state;
    for (int i = 0; i < 1000; i++)
        CHECK(limit_take(limit, "a", 0, &state));
    CHECK_INT(state.per_minute, 0);
}

TEST(limit_is_bounded_and_forgets_who_asked_least_lately)
{
    enum { MOST = 1000, MANY = 100000 };
    AUTO(limit) limit = limit_new(60, 2, MOST);
    char name[32];
    int64_t now_us = 1000000;
    CHECK(limit_take(limit, "busy", now_us, NULL));
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "2001:db8:%x::/64", i);
        CHECK(limit_take(limit, name, now_us, NULL));
        if (i % 100 == 0)
            limit_take(limit, "busy", now_us, NULL);
    }
    CHECK(!limit_take(limit, "busy", now_us, NULL)); /* still known, and still empty */
    CHECK(limit_take(limit, name, now_us, NULL));    /* the second of two: it is known */
    CHECK(!limit_take(limit, name, now_us, NULL));
    snprintf(name, sizeof(name), "2001:db8:%x::/64", MANY - MOST - 1);
    CHECK(limit_take(limit, name, now_us, NULL)); /* forgotten: it has two again */
    CHECK(limit_take(limit, name, now_us, NULL));
}

struct told {
    int count;
    int64_t tokens;
    char last[32];
};

static void on_told(void *arg, const char *name, int64_t tokens)
{
    struct told *told = arg;
    told->count++;
    told->tokens += tokens;
    snprintf(told->last, sizeof(told->last), "%s", name);
}

static void charge_other(void *arg, const char *name, int64_t tokens)
{
    limit_charge(arg, name, tokens, 1000000);
}

TEST(limit_tells_what_was_taken_once_and_in_pieces)
{
    AUTO(limit) limit = limit_new(60, 10, 0);
    struct told told = {0};
    for (int i = 0; i < 3; i++)
        CHECK(limit_take(limit, "a", 1000000, NULL));
    CHECK(limit_take(limit, "b", 1000000, NULL));
    limit_charge(limit, "c", 5, 1000000); /* told by another: not told again */
    limit_tell(limit, 1, on_told, &told);
    CHECK_TEXT(told.last, "a");
    CHECK_INT(told.tokens, 3);
    limit_tell(limit, 100, on_told, &told);
    CHECK_INT(told.count, 2);
    limit_tell(limit, 100, on_told, &told);
    CHECK_INT(told.count, 2);
}

TEST(limit_of_two_nodes_holds_over_time)
{
    AUTO(limit) one = limit_new(60, 20, 0);
    AUTO(limit) two = limit_new(60, 20, 0);
    struct limit *nodes[] = {one, two};
    int passed = 0, first_second = 0;
    for (int second = 0; second < 120; second++) {
        for (int i = 0; i < 100; i++)
            passed += limit_take(nodes[i % 2], "key", 1000000 + second * INT64_C(1000000), NULL);
        first_second = second == 0 ? passed : first_second;
        limit_tell(one, 100, charge_other, two); /* of time 1 s: as late as can be */
        limit_tell(two, 100, charge_other, one);
    }
    CHECK_INT(first_second, 40);
    if (!CHECK(passed <= 20 + 120 + 20)) /* the burst, the rate, and what passed before the news */
        CHECK_INT(passed, 0);
    CHECK(passed >= 120);
}

TEST(limit_owes_no_more_than_some_bursts)
{
    AUTO(limit) limit = limit_new(60, 1, 0);
    struct limit_state state;
    limit_charge(limit, "a", INT64_C(1) << 60, 1000000);
    CHECK(!limit_take(limit, "a", 1000000, &state));
    CHECK(state.retry_s <= 40 && state.remaining == 0);
    CHECK(limit_take(limit, "a", 1000000 + INT64_C(40000000), NULL));
}
