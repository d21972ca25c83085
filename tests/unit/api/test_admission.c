/* Who gets a place and memory when both are scarce. */
#include "api/admission.h"

#include <stdio.h>

#include "base/config.h"
#include "test.h"

enum { PLACES = 8 /* a quarter of them for one address or workspace */ };

static struct admission *make(void)
{
    static char *no_environment[] = {NULL};
    AUTO(config) config = NULL;
    struct fault fault = {0};
    CHECK(config_load(NULL, no_environment, &config, &fault) == OK);
    CHECK(config_set(config, "http", "requests", "8", &fault) == OK);
    CHECK(config_set(config, "http", "body_memory", "16", &fault) == OK);
    return admission_new(config);
}

static struct admitted from(const char *site)
{
    struct admitted who = {0};
    snprintf(who.site, sizeof(who.site), "%s", site);
    return who;
}

TEST(an_address_has_a_part_of_the_places)
{
    AUTO(admission) admission = make();
    struct admitted who[PLACES], other = from("198.51.100.2");
    int taken = 0;
    for (int i = 0; i < PLACES; i++) {
        who[i] = from("198.51.100.1");
        taken += admission_take(admission, &who[i], SHARE_PLACES, 1);
    }
    CHECK_INT(taken, PLACES / 4);
    CHECK(admission_is_own(admission, &who[PLACES - 1], SHARE_PLACES));
    CHECK(admission_take(admission, &other, SHARE_PLACES, 1));
    admission_leave(admission, &who[0]);
    CHECK(admission_take(admission, &who[PLACES - 1], SHARE_PLACES, 1));
}

TEST(a_workspace_has_a_part_of_the_places_from_all_addresses)
{
    AUTO(admission) admission = make();
    char site[32];
    int known = 0;
    struct admitted who[4];
    for (int i = 0; i < 4; i++) {
        snprintf(site, sizeof(site), "198.51.100.%d", i);
        who[i] = from(site);
        REQUIRE(admission_take(admission, &who[i], SHARE_PLACES, 1));
        known += admission_know(admission, &who[i], "usr_1", false);
    }
    CHECK_INT(known, PLACES / 4);
    CHECK(
        admission_know(admission, &who[3], "usr_1", true)); /* visitors have a part of their own */
    for (int i = 0; i < 4; i++)
        admission_leave(admission, &who[i]);
    CHECK(admission_take(admission, &who[0], SHARE_PLACES, 1));
}

TEST(memory_is_left_for_those_who_hold_none)
{
    enum { MIB = 1 << 20 };
    AUTO(admission) admission = make();
    struct admitted greedy = from("198.51.100.1"), other = from("198.51.100.2");
    int64_t held = 0;
    while (admission_take(admission, &greedy, SHARE_MEMORY, MIB))
        held += MIB;
    CHECK_INT(held, 8 * MIB); /* half of all */
    CHECK(!admission_is_own(admission, &other, SHARE_MEMORY));
    CHECK(admission_take(admission, &other, SHARE_MEMORY, 4 * MIB));
    CHECK(admission_know(admission, &other, "usr_2", false));
    CHECK(
        !admission_take(admission, &other, SHARE_MEMORY, 8 * MIB)); /* and nothing of it is held */
    admission_leave(admission, &greedy);
    CHECK(admission_take(admission, &other, SHARE_MEMORY, 2 * MIB));
}
