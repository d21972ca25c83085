#include "engine/breaker.h"

#include "test.h"

TEST(breaker_leaves_out_after_five_calls_in_a_row)
{
    struct breaker breaker = {0};
    for (int i = 1; i < BREAKER_CALLS; i++) {
        CHECK(!breaker_failed(&breaker, NULL, i));
        CHECK(!breaker_is_open(&breaker, NULL, i));
    }
    CHECK(breaker_failed(&breaker, NULL, 100));
    CHECK(breaker_is_open(&breaker, NULL, 100));
    CHECK(!breaker_failed(&breaker, NULL, 200)); /* calls that had begun before: told once */
    CHECK(breaker_is_open(&breaker, NULL, 100 + BREAKER_US - 1));
    CHECK(!breaker_is_open(&breaker, NULL, 100 + BREAKER_US));
}

TEST(breaker_counts_anew_after_a_call_that_works)
{
    struct breaker breaker = {0};
    for (int i = 1; i < BREAKER_CALLS; i++)
        CHECK(!breaker_failed(&breaker, NULL, i));
    breaker_worked(&breaker);
    for (int i = 1; i < BREAKER_CALLS; i++)
        CHECK(!breaker_failed(&breaker, NULL, i));
    CHECK(breaker_failed(&breaker, NULL, 10));
}

TEST(breaker_tries_one_call_after_the_pause)
{
    struct breaker breaker = {.failures = BREAKER_CALLS - 1};
    CHECK(breaker_failed(&breaker, NULL, 0));
    CHECK(breaker_failed(&breaker, NULL, BREAKER_US)); /* again, at the first failure */
    CHECK(breaker_is_open(&breaker, NULL, 2 * BREAKER_US - 1));
    breaker_worked(&breaker);
    CHECK(!breaker_is_open(&breaker, NULL, BREAKER_US + 1));
}

TEST(breaker_counts_no_failure_that_a_tenant_may_cause)
{
    CHECK(!breaker_counts(ENGINE_OK) && !breaker_counts(ENGINE_BAD_REQUEST) &&
          !breaker_counts(ENGINE_CROWDED));
    CHECK(breaker_counts(ENGINE_AUTH) && breaker_counts(ENGINE_TRANSIENT) &&
          breaker_counts(ENGINE_TIMEOUT) && breaker_counts(ENGINE_QUOTA));
}

TEST(breaker_leaves_out_what_one_workspace_asks_for_to_that_workspace_alone)
{
    struct breaker breaker = {0};
    for (int i = 1; i < BREAKER_CALLS; i++)
        CHECK(!breaker_failed(&breaker, "usr_1", i));
    CHECK(breaker_failed(&breaker, "usr_1", 10)); /* a service with one workspace: it may be dead */
    CHECK(breaker_is_open(&breaker, "usr_1", 11));
    CHECK(!breaker_is_open(&breaker, NULL, 11) && !breaker_is_open(&breaker, "usr_2", 11));
    CHECK(!breaker_failed(&breaker, "usr_1", 12)); /* told once */
}

TEST(breaker_takes_the_calls_of_one_workspace_for_one_when_others_fail)
{
    struct breaker breaker = {0};
    for (int i = 0; i < 100; i++)
        (void)breaker_failed(&breaker, "usr_1", 10);
    CHECK(!breaker_failed(&breaker, NULL, 11)); /* the second workspace that saw it */
    CHECK(!breaker_is_open(&breaker, "usr_1", 12) && !breaker_is_open(&breaker, NULL, 12));
    for (int i = 3; i < BREAKER_CALLS; i++)
        CHECK(!breaker_failed(&breaker, i % 2 ? "usr_1" : "usr_2", 12));
    CHECK(breaker_failed(&breaker, "usr_2", 12));
    CHECK(breaker_is_open(&breaker, NULL, 13) && breaker_is_open(&breaker, "usr_3", 13));
    breaker_worked(&breaker);
    for (int i = 0; i < BREAKER_CALLS; i++)
        (void)breaker_failed(&breaker, "usr_1", 14);
    CHECK(!breaker_is_open(&breaker, NULL, 15)); /* a new row is its own again */
}
