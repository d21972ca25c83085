#include "engine/breaker.h"

#include "test.h"

TEST(breaker_leaves_out_after_five_calls_in_a_row)
{
    struct breaker breaker = {0};
    for (int i = 1; i < BREAKER_CALLS; i++) {
        CHECK(!breaker_failed(&breaker, i));
        CHECK(!breaker_is_open(&breaker, i));
    }
    CHECK(breaker_failed(&breaker, 100));
    CHECK(breaker_is_open(&breaker, 100));
    CHECK(!breaker_failed(&breaker, 200)); /* calls that had begun before: told once */
    CHECK(breaker_is_open(&breaker, 100 + BREAKER_US - 1));
    CHECK(!breaker_is_open(&breaker, 100 + BREAKER_US));
}

TEST(breaker_counts_anew_after_a_call_that_works)
{
    struct breaker breaker = {0};
    for (int i = 1; i < BREAKER_CALLS; i++)
        CHECK(!breaker_failed(&breaker, i));
    breaker_worked(&breaker);
    for (int i = 1; i < BREAKER_CALLS; i++)
        CHECK(!breaker_failed(&breaker, i));
    CHECK(breaker_failed(&breaker, 10));
}

TEST(breaker_tries_one_call_after_the_pause)
{
    struct breaker breaker = {.failures = BREAKER_CALLS - 1};
    CHECK(breaker_failed(&breaker, 0));
    CHECK(breaker_failed(&breaker, BREAKER_US)); /* again, at the first failure */
    CHECK(breaker_is_open(&breaker, 2 * BREAKER_US - 1));
    breaker_worked(&breaker);
    CHECK(!breaker_is_open(&breaker, BREAKER_US + 1));
}

TEST(breaker_counts_no_failure_that_a_tenant_may_cause)
{
    CHECK(!breaker_counts(ENGINE_OK) && !breaker_counts(ENGINE_BAD_REQUEST) &&
          !breaker_counts(ENGINE_CROWDED));
    CHECK(breaker_counts(ENGINE_AUTH) && breaker_counts(ENGINE_TRANSIENT) &&
          breaker_counts(ENGINE_TIMEOUT) && breaker_counts(ENGINE_QUOTA));
}
