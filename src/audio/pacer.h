/* Spreads the calls of a loop over time: ten slots of 2 ms make a 20 ms frame; each call sits in
 * one and is called once a frame, in media time, so that neither encodings nor packets come in
 * bursts.
 *
 *   |0|1|2|3|4|5|6|7|8|9|0|1|...     a slot: its seats one after another
 *        ^ call A      ^ call B
 *
 * When an agent starts to speak, its call sends the first frame at once and moves its seat: the
 * next call comes within 20 ms, in the emptiest slot. A late timer is caught up, a frame for each
 * 20 ms. Thread: its loop. */
#pragma once

#include <stdint.h>

#include "base/list.h"
#include "base/loop.h"

struct pacer;

enum {
    PACER_SLOTS = 10,
    PACER_SLOT_US = 2000,
    PACER_LATE_US = 5000, /* a slot that began so long after its time counts as late */
};

/* Of the slots that had seats since this was asked last. */
struct pacer_lateness {
    unsigned slots, late;
    int64_t most_us;
};

/* due_us: the time of this frame on the loop's clock; frames of a seat are 20 ms apart. */
typedef void pacer_fn(void *arg, int64_t due_us);

struct pacer_seat { /* a member of its call */
    struct list_node node;
    struct pacer *pacer;
    pacer_fn *fn;
    void *arg;
    int slot;
};

void pacer_take_lateness(struct pacer *pacer, struct pacer_lateness *out);

struct pacer *pacer_open(struct loop *loop);
void pacer_close(struct pacer *pacer); /* no seat is taken any more */

/* In the emptiest slot; the first call comes within 20 ms. */
void pacer_join(struct pacer *pacer, struct pacer_seat *seat, pacer_fn *fn, void *arg);
/* Takes a new phase: the next call comes in (0, 20] ms, in the emptiest slot. Also inside fn. */
void pacer_rephase(struct pacer_seat *seat);
void pacer_leave(struct pacer_seat *seat); /* also inside fn; twice is fine */
