#include "api/password_line.h"

#include <stdio.h>

#include "test.h"

enum { MANY = 500, NAME_SIZE = 24 };

/* Some attempts: the i-th of one of `nets` networks, at one of `members` members. */
struct crowd {
    struct password_turn turns[MANY];
    char nets[MANY][NAME_SIZE], members[MANY][NAME_SIZE];
};

static struct password_line line;
static struct crowd crowd;

static void add(struct password_turn *turn, const char *net, const char *member)
{
    *turn = (struct password_turn){.net = net, .member = member, .looks = 1};
    password_line_add(&line, turn);
}

/* Answers how many of them gave way, which they do in the order they came. */
static int come(int count, int nets, int members)
{
    int yielded = 0;
    for (int i = 0; i < count; i++) {
        snprintf(crowd.nets[i], NAME_SIZE, "net %d", i % nets);
        snprintf(crowd.members[i], NAME_SIZE, "member %d", i % members);
        add(&crowd.turns[i], crowd.nets[i], crowd.members[i]);
        for (; password_line_yield(&line); yielded++)
            CHECK(!list_is_linked(&crowd.turns[yielded].node));
    }
    return yielded;
}

static int place_of(const struct password_turn *wanted)
{
    int place = 0;
    const struct password_turn *turn;
    LIST_EACH (turn, &line.turns, struct password_turn, node) {
        if (turn == wanted)
            return place;
        place++;
    }
    return -1;
}

TEST(who_comes_after_a_crowd_waits_for_a_bounded_number)
{
    static const struct {
        int nets, members;
    } crowds[] = {{MANY, MANY}, {1, MANY}, {MANY, 1}, {1, 1}, {40, 50}};
    for (size_t i = 0; i < ARRAY_LEN(crowds); i++) {
        struct password_turn right;
        password_line_init(&line);
        CHECK_INT(come(MANY, crowds[i].nets, crowds[i].members), MANY - PASSWORD_LOOKS_MAX);
        add(&right, "another net", "another member");
        CHECK(password_line_yield(&line) == &crowd.turns[MANY - PASSWORD_LOOKS_MAX]);
        CHECK(!password_line_yield(&line));
        CHECK_INT(place_of(&right), PASSWORD_LOOKS_MAX - 1);
    }
}

TEST(a_crowd_pushes_nobody_else_away)
{
    static const struct {
        int nets, members;
    } crowds[] = {{1, MANY}, {MANY, 1}};
    for (size_t i = 0; i < ARRAY_LEN(crowds); i++) {
        struct password_turn right;
        password_line_init(&line);
        add(&right, "another net", "another member");
        CHECK_INT(come(MANY, crowds[i].nets, crowds[i].members), MANY + 1 - PASSWORD_LOOKS_MAX);
        CHECK_INT(place_of(&right), 0);
    }
}

TEST(what_was_looked_at_leaves_its_place)
{
    password_line_init(&line);
    CHECK_INT(come(PASSWORD_LOOKS_MAX, MANY, MANY), 0);
    password_line_remove(&line, &crowd.turns[3]);
    password_line_remove(&line, &crowd.turns[3]);
    CHECK_INT(line.looks, PASSWORD_LOOKS_MAX - 1);
    struct password_turn wide = {.net = "n", .member = "m", .looks = 8};
    password_line_add(&line, &wide);
    for (int i = 0; i < 7; i++) /* all are alike, whatever they take: the oldest make room for it */
        CHECK(password_line_yield(&line) == &crowd.turns[i < 3 ? i : i + 1]);
    CHECK(!password_line_yield(&line));
    CHECK_INT(line.looks, PASSWORD_LOOKS_MAX);
}
