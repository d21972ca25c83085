#include "call/load.h"

#include "test.h"

/* Nanoseconds of a frame, as docs/performance.md has them. */
static const int64_t costs_ns[CODEC_PROFILES] = {124000, 60000, 42000, 19000};

static struct load_sight sight_of(unsigned best, unsigned cheapest, int64_t own_milli, int64_t at_s)
{
    struct load_sight sight = {.now_us = at_s * 1000000,
                               .span_us = LOAD_LOOK_US,
                               .own_us = own_milli * LOAD_LOOK_US / 1000,
                               .slots = 125};
    sight.calls[CODEC_VOIP] = best;
    sight.calls[CODEC_CELT_PLAIN] = cheapest;
    return sight;
}

static void look_for(struct load *load, struct load_sight sight, int looks)
{
    for (int i = 0; i < looks; i++) {
        sight.now_us += LOAD_LOOK_US;
        (void)load_look(load, &sight);
    }
}

TEST(load_of_few_calls_is_nobodys_business)
{
    struct load load;
    load_init(&load, 1000, costs_ns, CODEC_VOIP);
    struct load_sight sight = sight_of(10, 0, 60, 1);
    CHECK_INT(load_look(&load, &sight), LOAD_STAY);
    CHECK(atomic_load(&load.room) > 100);
    sight.others_pm = 950; /* the machine is busy with other things: nothing would be gained */
    sight.late = sight.slots;
    for (int i = 0; i < 10; i++)
        CHECK_INT(load_look(&load, &sight), LOAD_STAY);
    CHECK(atomic_load(&load.room) > 100);
}

TEST(load_lowers_the_sound_before_it_refuses)
{
    struct load load;
    load_init(&load, 1000, costs_ns, CODEC_VOIP);
    struct load_sight sight = sight_of(125, 0, 800, 1);
    CHECK_INT(load_look(&load, &sight), LOAD_LOWER_SOME);
    CHECK(atomic_load(&load.room) > 0); /* there is room once they are lowered */
    sight = sight_of(0, 125, 800, 2);
    CHECK_INT(load_look(&load, &sight), LOAD_STAY); /* nothing is left to lower */
}

TEST(load_refuses_what_would_not_fit_in_the_cheapest_sound)
{
    struct load load;
    load_init(&load, 1000, costs_ns, CODEC_VOIP);
    look_for(&load, sight_of(0, 147, 532, 1), 100);
    int room = atomic_load(&load.room);
    CHECK(room > 0 && room < 10);
    while (room-- > 0)
        CHECK(load_take(&load));
    CHECK(!load_take(&load));
}

/* Calls that have just begun cost little yet. */
TEST(load_counts_young_calls_as_what_they_will_cost)
{
    struct load load;
    load_init(&load, 1000, costs_ns, CODEC_VOIP);
    struct load_sight sight = sight_of(400, 0, 50, 1);
    sight.young = 400;
    CHECK_INT(load_look(&load, &sight), LOAD_LOWER_SOME);
    CHECK(!load_take(&load));
}

TEST(load_of_others_counts_where_ours_is_large)
{
    struct load load;
    load_init(&load, 1000, costs_ns, CODEC_VOIP);
    look_for(&load, sight_of(0, 100, 330, 1), 50);
    int alone = atomic_load(&load.room);
    struct load_sight sight = sight_of(0, 100, 330, 20);
    sight.others_pm = 200;
    look_for(&load, sight, 4);
    CHECK(alone > 50);
    CHECK(atomic_load(&load.room) < alone - 50);
}

TEST(load_that_is_late_is_lowered_then_full_for_a_while)
{
    struct load load;
    load_init(&load, 1000, costs_ns, CODEC_VOIP);
    struct load_sight sight = sight_of(60, 0, 400, 1);
    sight.late = 30;
    CHECK_INT(load_look(&load, &sight), LOAD_STAY); /* one hiccup */
    sight.now_us += LOAD_LOOK_US;
    CHECK_INT(load_look(&load, &sight), LOAD_LOWER_SOME);
    CHECK(load_take(&load));
    sight = sight_of(0, 100, 400, 3);
    sight.late = 30;
    look_for(&load, sight, 4);
    CHECK(!load_take(&load));
    look_for(&load, sight_of(0, 100, 400, 8), 2);
    CHECK(load_take(&load));
}

TEST(load_raises_only_after_a_calm_time_and_with_space)
{
    struct load load;
    load_init(&load, 1000, costs_ns, CODEC_VOIP);
    struct load_sight sight = sight_of(0, 60, 250, 1000); /* calm counts from the first look */
    CHECK_INT(load_look(&load, &sight), LOAD_STAY);
    sight.now_us += 5000000;
    CHECK_INT(load_look(&load, &sight), LOAD_RAISE_SOME);
    sight.calls[CODEC_CELT_PLAIN] = 200;
    sight.own_us = 700 * LOAD_LOOK_US / 1000;
    sight.now_us += 5000000;
    CHECK_INT(load_look(&load, &sight), LOAD_STAY);
    struct load celt;
    load_init(&celt, 1000, costs_ns, CODEC_CELT_PLAIN);
    sight = sight_of(0, 60, 250, 1);
    (void)load_look(&celt, &sight);
    sight.now_us += 5000000;
    CHECK_INT(load_look(&celt, &sight), LOAD_STAY); /* the settings ask for no better */
}

/* 400 callers come within seconds, and whoever calls them takes as much of the machine as we do: a
 * loop of one core takes over 85 of them, though nothing could be learned yet. */
TEST(load_of_a_ramp_is_not_overrated)
{
    struct load load;
    load_init(&load, 1000, costs_ns, CODEC_VOIP);
    unsigned calls = 0;
    for (int look = 1; look < 40; look++) {
        struct load_sight sight = sight_of(0, calls, 3 * (int64_t)calls, 1);
        sight.now_us += look * LOAD_LOOK_US;
        sight.young = calls;
        sight.others_pm = 331 * (int64_t)calls / 100;
        (void)load_look(&load, &sight);
        for (int i = 0; i < 5 && load_take(&load); i++)
            calls++;
    }
    CHECK(calls > 85 && calls < 110);
}

/* Their voices' own packets are sent: nothing is encoded that could be lowered, and more of them
 * fit. */
TEST(load_of_calls_that_relay_is_theirs_without_an_encoder)
{
    struct load load;
    load_init(&load, 1000, costs_ns, CODEC_VOIP);
    struct load_sight sight = sight_of(0, 0, 400, 1);
    sight.relaying = 200;
    look_for(&load, sight, 100);
    CHECK(load.share_pm < LOAD_LOWER);
    CHECK(atomic_load(&load.room) > 20);
    sight.own_us = LOAD_LOOK_US * 9 / 10;
    sight.late = sight.slots;
    for (int i = 0; i < 10; i++) {
        sight.now_us += LOAD_LOOK_US;
        CHECK_INT(load_look(&load, &sight), LOAD_STAY); /* late, but nothing is left to lower */
    }
    CHECK_INT(atomic_load(&load.room), 0);
}
