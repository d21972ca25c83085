#include "call/limits.h"

#include "call/presence.h"
#include "test.h"

enum { BEGUN_US = 1000, TOKEN_US = 600 * 1000 * 1000 };
static const int64_t never_us = INT64_MAX;

static struct limits limits_of(int64_t most_us)
{
    return (struct limits){.begun_us = BEGUN_US,
                           .join_until_us = BEGUN_US + TOKEN_US,
                           .most_us = most_us,
                           .exhausted_us = never_us};
}

/* Nothing before it is due, the limit at it. */
#define CHECK_COMES(limits, presence, due, expected)                                               \
    do {                                                                                           \
        int64_t since_us = -1;                                                                     \
        CHECK_INT(limits_due_us(limits, presence), due);                                           \
        CHECK_INT(limits_look(limits, presence, (due)-1, &since_us), LIMIT_NONE);                  \
        CHECK_INT(limits_look(limits, presence, due, &since_us), expected);                        \
    } while (0)

TEST(limits_end_a_call_to_which_nobody_comes)
{
    struct limits limits = limits_of(0);
    struct presence presence = {0};
    CHECK_COMES(&limits, &presence, BEGUN_US + TOKEN_US + LIMITS_JOIN_GRACE_US, LIMIT_NO_CALLER);
}

TEST(limits_end_a_call_that_has_lasted)
{
    struct limits limits = limits_of(60000000);
    struct presence presence = {0};
    CHECK(presence_join(&presence, "me", 5000000));
    CHECK(!presence_join(&presence, "me", 9000000)); /* who comes back gets no more time */
    CHECK_COMES(&limits, &presence, 65000000, LIMIT_DURATION);
    int64_t at_us = 0;
    CHECK_INT(limits_look(&limits, &presence, 70000000, &at_us), LIMIT_DURATION);
    CHECK_INT(at_us, 65000000); /* billed to the limit, however late it is looked */
    presence_clear(&presence);
}

TEST(limits_end_a_call_after_a_day_whatever_is_set)
{
    struct limits limits = limits_of(0);
    struct presence presence = {0};
    CHECK(presence_join(&presence, "me", 5000000));
    CHECK_COMES(&limits, &presence, BEGUN_US + LIMITS_MAX_US, LIMIT_DURATION);
    presence_clear(&presence);
}

TEST(limits_wait_for_a_lost_caller)
{
    struct limits limits = limits_of(0);
    struct presence presence = {0};
    CHECK(presence_join(&presence, "me", 5000000));
    CHECK(presence_leave(&presence));
    CHECK(!presence_leave(&presence));
    presence_lose(&presence, 6000000, 16000000);
    CHECK_COMES(&limits, &presence, 16000000 + LIMITS_LOST_US, LIMIT_LOST);
    CHECK_INT(limits_billed_to_us(&limits, &presence, 20000000), 6000000);
    CHECK_INT(presence_billed_ms(&presence, 6000000), 1000);
    CHECK(!presence_join(&presence, "me", 21000000));
    CHECK_INT(limits_billed_to_us(&limits, &presence, 22000000), 22000000);
    CHECK_INT(limits_due_us(&limits, &presence), BEGUN_US + LIMITS_MAX_US);
    presence_clear(&presence);
}

TEST(limits_ask_before_the_money_is_out)
{
    struct limits limits = limits_of(0);
    struct presence presence = {0};
    int64_t at_us = 0;
    CHECK(presence_join(&presence, "me", 5000000));
    limits.exhausted_us = 30000000;
    CHECK_COMES(&limits, &presence, 30000000, LIMIT_CONFIRM);
    CHECK_INT(limits_billed_to_us(&limits, &presence, 33000000), 30000000);
    CHECK_COMES(&limits, &presence, 30000000 + LIMITS_CONFIRM_US, LIMIT_MONEY);
    CHECK_INT(limits_look(&limits, &presence, 90000000, &at_us), LIMIT_MONEY);
    CHECK_INT(at_us, 30000000);
    limits_told(&limits, 100000000); /* a credit had come */
    CHECK_COMES(&limits, &presence, 100000000, LIMIT_CONFIRM);
    presence_clear(&presence);
}

TEST(limits_end_a_call_whose_journal_is_full_at_once)
{
    struct limits limits = limits_of(0);
    struct presence presence = {0};
    int64_t at_us = 0;
    limits.is_journal_full = true;
    CHECK(limits_due_us(&limits, &presence) <= BEGUN_US);
    CHECK_INT(limits_look(&limits, &presence, BEGUN_US, &at_us), LIMIT_JOURNAL);
}

TEST(presence_of_nobody_is_not_billed)
{
    struct presence presence = {0};
    CHECK_INT(presence_billed_ms(&presence, 99000000), 0);
    CHECK(!presence_leave(&presence));
}
