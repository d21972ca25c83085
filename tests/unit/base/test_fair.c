#include "base/fair.h"

#include <stdio.h>
#include <stdlib.h>

#include "test.h"

struct work {
    struct fair_item item;
    char key;
};

static struct fair *fair_of(size_t per_key, size_t all, size_t running_per_key, size_t running)
{
    return fair_new(&(struct fair_limits){.waiting_per_key = per_key,
                                          .waiting = all,
                                          .running_per_key = running_per_key,
                                          .running = running});
}

static enum err push(struct fair *fair, struct work *work, char key)
{
    char text[2] = {key};
    work->key = key;
    return fair_push(fair, key == '*' ? FAIR_OPERATOR : text, &work->item);
}

static struct work *next(struct fair *fair)
{
    struct fair_item *item = fair_next(fair);
    return item ? CONTAINER_OF(item, struct work, item) : NULL;
}

/* Runs all that waits, one at a time; the keys in the order in which they ran. */
static const char *run_all(struct fair *fair, int64_t cost_a)
{
    static char order[512];
    size_t n = 0;
    for (struct work *work; (work = next(fair)) && n < sizeof(order) - 1;) {
        order[n++] = work->key;
        fair_done(fair, &work->item, work->key == 'a' ? cost_a : 1);
    }
    order[n] = '\0';
    return order;
}

TEST(fair_lines_take_turns)
{
    AUTO(fair) fair = fair_of(0, 0, 0, 0);
    struct work works[9];
    for (int i = 0; i < 9; i++)
        CHECK_INT(push(fair, &works[i], "aaaaaabbc"[i]), OK);
    CHECK_TEXT(run_all(fair, 1), "abcabaaaa");
    CHECK_INT(fair_waiting(fair) + fair_running(fair), 0);
}

TEST(fair_what_is_set_aside_counts_for_its_key_alone)
{
    AUTO(fair) fair = fair_of(0, 0, 1, 1);
    struct work works[3];
    for (int i = 0; i < 3; i++)
        CHECK_INT(push(fair, &works[i], "aab"[i]), OK);
    CHECK(next(fair) == &works[0] && next(fair) == NULL);
    fair_set_aside(fair, &works[0].item);
    fair_set_aside(fair, &works[0].item);
    CHECK(next(fair) == &works[2] && next(fair) == NULL);
    CHECK_INT(fair_running(fair), 1);
    fair_done(fair, &works[0].item, 1);
    CHECK_INT(fair_running(fair), 1);
    fair_done(fair, &works[2].item, 1);
    CHECK(next(fair) == &works[1]);
    fair_done(fair, &works[1].item, 1);
    CHECK_INT(fair_running(fair), 0);
}

TEST(fair_cost_counts_and_not_the_number)
{
    AUTO(fair) fair = fair_of(0, 0, 0, 0);
    struct work works[11];
    for (int i = 0; i < 11; i++)
        CHECK_INT(push(fair, &works[i], i < 3 ? 'a' : 'b'), OK);
    CHECK_TEXT(run_all(fair, 4), "abbbbabbbba");
}

TEST(fair_operator_goes_first_and_past_ceilings)
{
    AUTO(fair) fair = fair_of(1, 2, 0, 1);
    struct work works[6];
    CHECK_INT(push(fair, &works[0], 'a'), OK);
    CHECK_INT(push(fair, &works[1], 'a'), ERR_BUSY);
    CHECK_INT(push(fair, &works[2], 'b'), OK);
    CHECK_INT(push(fair, &works[3], 'c'), ERR_BUSY);
    CHECK_INT(push(fair, &works[4], '*'), OK);
    CHECK_INT(push(fair, &works[5], '*'), OK);
    CHECK(next(fair) == &works[4]);
    CHECK(next(fair) == &works[5]);
    CHECK(next(fair) == &works[0]);
    CHECK(next(fair) == NULL); /* one tenant runs at a time */
    fair_done(fair, &works[0].item, 1);
    CHECK(next(fair) == &works[2]);
}

TEST(fair_running_ceiling_of_a_key_lets_others_pass)
{
    AUTO(fair) fair = fair_of(0, 0, 2, 0);
    struct work works[5];
    for (int i = 0; i < 5; i++)
        CHECK_INT(push(fair, &works[i], "aaaab"[i]), OK);
    CHECK(next(fair) == &works[0]);
    CHECK(next(fair) == &works[4]);
    CHECK(next(fair) == &works[1]);
    CHECK(next(fair) == NULL);
    CHECK_INT(fair_waiting_of(fair, "a"), 2);
    fair_remove(fair, &works[2].item);
    fair_remove(fair, &works[2].item);
    fair_remove(fair, &works[1].item); /* running: its place is free */
    CHECK(next(fair) == &works[3]);
}

/* One that was alone for long owes at most its last item; one that was away has saved nothing. */
TEST(fair_comers_begin_level)
{
    AUTO(fair) fair = fair_of(0, 0, 0, 0);
    struct work works[8], late[4];
    for (int round = 0; round < 1000; round++) {
        CHECK_INT(push(fair, &works[0], 'a'), OK);
        CHECK(next(fair) == &works[0]);
        fair_done(fair, &works[0].item, 100);
    }
    for (int i = 0; i < 4; i++)
        CHECK_INT(push(fair, &works[i], 'a'), OK);
    for (int i = 0; i < 4; i++)
        CHECK_INT(push(fair, &late[i], 'b'), OK);
    CHECK_TEXT(run_all(fair, 1), "bbbbaaaa"); /* the debt of one item of 100 */
    for (int i = 0; i < 4; i++)
        CHECK_INT(push(fair, &works[i], 'a'), OK);
    for (int i = 0; i < 4; i++)
        CHECK_INT(push(fair, &late[i], 'c'), OK);
    CHECK_INT(strlen(run_all(fair, 1)), 8);
}

/* Many keys that come and go: nothing is lost, nobody waits for more than its turn. */
TEST(fair_serves_each_of_many)
{
    enum { KEYS = 2000 };
    AUTO(fair) fair = fair_of(0, 0, 0, 0);
    static struct fair_item items[KEYS][2];
    for (int i = 0; i < KEYS; i++) {
        char key[16];
        snprintf(key, sizeof(key), "usr_%d", i);
        CHECK_INT(fair_push(fair, key, &items[i][0]), OK);
        CHECK_INT(fair_push(fair, key, &items[i][1]), OK);
    }
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < KEYS; i++) {
            struct fair_item *item = fair_next(fair);
            REQUIRE(item == &items[i][round]);
            fair_done(fair, item, 1);
        }
    CHECK(fair_next(fair) == NULL);
}
