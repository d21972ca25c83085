/* Token buckets on simulated time. */
#include "api/limit.h"

#include "test.h"

TEST(limit_gives_the_burst_then_the_rate)
{
    AUTO(limit) limit = limit_new(60, 3);
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
    AUTO(limit) limit = limit_new(600, 2);
    struct limit_state state;
    CHECK(limit_take(limit, "a", 0, &state));
    CHECK(limit_peek(limit, "a", INT64_C(86400000000), &state));
    CHECK_INT(state.remaining, 2);
    CHECK_INT(state.reset_s, 0);
}

TEST(limit_of_zero_is_none)
{
    AUTO(limit) limit = limit_new(0, 1);
    struct limit_state state;
    for (int i = 0; i < 1000; i++)
        CHECK(limit_take(limit, "a", 0, &state));
    CHECK_INT(state.per_minute, 0);
}
