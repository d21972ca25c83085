/* How many connections a receiver gets. */
#include "event/window.h"

#include "test.h"

enum { MS = 1000, SECOND = 1000000, MOST = 1024 };

static void answers(struct window *window, int n, int64_t latency_us)
{
    for (int i = 0; i < n; i++)
        window_answered(window, latency_us);
}

TEST(a_window_begins_small_and_grows_with_answers)
{
    struct window window;
    window_init(&window, MOST);
    CHECK_INT(window.size, WINDOW_FIRST);
    CHECK_INT(window_holds(&window), WINDOW_FIRST); /* nothing is known: nothing is held beside */
    CHECK(window_is_plain(&window));
    answers(&window, 1000, 1 * MS);
    CHECK_INT(window.size, 64); /* fast: it needs no more */
    CHECK_INT(window_holds(&window), 64 * 17);
    window_init(&window, MOST);
    answers(&window, 2000, 4 * SECOND);
    CHECK_INT(window.size, MOST);
    CHECK_INT(window_holds(&window), MOST); /* what would wait longer stays in the database */
    window_init(&window, 4);
    CHECK_INT(window.size, 4);
    answers(&window, 100, 1 * MS);
    CHECK_INT(window.size, 4);
}

TEST(an_answer_weighs_an_eighth_of_the_latency)
{
    struct window window;
    window_init(&window, MOST);
    window_answered(&window, 80 * MS);
    CHECK_INT(window.latency_us, 80 * MS); /* the first is all that is known */
    window_answered(&window, 160 * MS);
    CHECK_INT(window.latency_us, 90 * MS);
    window_silent(&window, 10 * MS, 0);
    CHECK_INT(window.latency_us, 80 * MS);
    CHECK_INT(window_holds(&window), window.size * (1 + 250 / 80));
}

TEST(silence_shrinks_a_window_to_its_beginning)
{
    struct window window;
    window_init(&window, MOST);
    answers(&window, 2000, 400 * MS);
    for (int i = 0; i < 6; i++)
        window_silent(&window, 5 * SECOND, i * SECOND);
    CHECK_INT(window.size, WINDOW_FIRST);
    CHECK(!window.is_cut_off && !window_is_plain(&window));
    window_answered(&window, 1 * MS);
    CHECK_INT(window.silences, 0);
    CHECK_INT(window.size, WINDOW_FIRST + 1);
}

TEST(a_minute_of_silence_cuts_off_and_an_answer_ends_it)
{
    struct window window;
    window_init(&window, MOST);
    for (int i = 0; i < 19; i++)
        window_silent(&window, 5 * SECOND, i * 10 * SECOND);
    CHECK(!window.is_cut_off); /* few events: tried on their schedule */
    window_silent(&window, 5 * SECOND, 200 * SECOND);
    CHECK(window.is_cut_off);
    window_answered(&window, 3 * MS);
    CHECK(!window.is_cut_off);
    CHECK_INT(window.size, 3); /* it has just come back */
    window_init(&window, MOST);
    for (int i = 0; i < 500; i++)
        window_silent(&window, 5 * SECOND, i * 100 * MS);
    CHECK(!window.is_cut_off); /* a restart takes as long */
    for (int i = 0; i < 2; i++) {
        window_answered(&window, 3 * MS);
        for (int j = 0; j < 30; j++)
            window_silent(&window, 5 * SECOND, (70 + i) * SECOND);
        CHECK(!window.is_cut_off); /* the minute begins with the last answer */
    }
}
