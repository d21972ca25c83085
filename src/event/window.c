#include "event/window.h"

#include "base/attr.h"

enum {
    FAST_MAX = 64,             /* connections to one that answers in FAST_US: it needs no more */
    FAST_US = 50 * 1000,       /* then 64 of them are over 1,000 deliveries a second */
    SOON_US = 250 * 1000,      /* what waits in memory should be under way by then */
    SOON_MAX = 16,             /* times the connections */
    CUT_OFF_US = 60 * 1000000, /* longer than a restart of most servers */
    CUT_OFF_SILENCES = 20,     /* so that a receiver with few events is tried on its schedule */
    CUT_OFF_SIZE = 2,          /* it begins again with so many, once it answers */
};

void window_init(struct window *window, unsigned most)
{
    *window = (struct window){.size = MIN(most, (unsigned)WINDOW_FIRST), .most = most};
}

static void note_latency(struct window *window, int64_t latency_us)
{
    int64_t before_us = window->latency_us ? window->latency_us : latency_us;
    window->latency_us = MAX((7 * before_us + latency_us) / 8, (int64_t)1);
}

void window_answered(struct window *window, int64_t latency_us)
{
    note_latency(window, latency_us);
    if (window->is_cut_off)
        window->size = MIN(window->most, (unsigned)CUT_OFF_SIZE);
    window->is_cut_off = false;
    window->silences = 0;
    unsigned most =
        window->latency_us < FAST_US ? MIN(window->most, (unsigned)FAST_MAX) : window->most;
    if (window->size < most)
        window->size++;
}

void window_silent(struct window *window, int64_t latency_us, int64_t now_us)
{
    note_latency(window, latency_us);
    if (window->silences++ == 0)
        window->silent_since_us = now_us;
    unsigned least = MIN(window->most, (unsigned)WINDOW_FIRST);
    if (window->size > least)
        window->size = MAX(window->size / 2, least);
    if (window->silences >= CUT_OFF_SILENCES && now_us - window->silent_since_us >= CUT_OFF_US)
        window->is_cut_off = true;
}

unsigned window_holds(const struct window *window)
{
    int64_t soon = window->latency_us ? SOON_US / window->latency_us : 0;
    return window->size * (1 + (unsigned)MIN(soon, (int64_t)SOON_MAX));
}

bool window_is_plain(const struct window *window)
{
    return window->silences == 0 && window->size <= MIN(window->most, (unsigned)WINDOW_FIRST);
}
