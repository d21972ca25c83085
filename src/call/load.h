/* How full a media loop is: what it can still take, and how the agent's voice is to be encoded so
 * that all calls are on time. Decides only; call/call_loop.c looks several times a second and
 * carries out.
 *
 * What a call costs is fixed (packets, decoding, conversation) plus what encoding costs, if its
 * voice is encoded here, while its agent speaks, half of the time. The fixed part is learned from
 * the CPU that the loop has had.
 *
 *     projected share  over LOAD_LOWER, or slots late  ->  the calls that began last are encoded
 *                                                         in the next cheaper profile
 *                      under LOAD_RAISE for a while    ->  back up, those that began first
 *     one call more in the cheapest profile would be over LOAD_FULL, or slots are late although
 *     nothing is left to lower                         ->  full: a new call is refused
 *
 * Shares are thousandths of what one loop may have. What other programs take counts too, but only
 * once the loop itself is a good part of the load: a machine that is busy with other things would
 * gain nothing. Thread: its loop; load_room() any. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "audio/codec.h"

enum {
    LOAD_LOOK_US = 250000,
    LOAD_YOUNG_US = 6000000, /* a call that began since then does not cost yet what it will */
    LOAD_FULL = 550,         /* beyond it the tail of the reply times grows (docs/performance.md) */
    LOAD_LOWER = 490,
    LOAD_RAISE = 410,
    LOAD_ROOM_MAX = 1000000,
    LOAD_OURS = 300, /* a loop below this share does not spoil anything by itself */
};

/* One look. */
struct load_sight {
    int64_t now_us;
    int64_t span_us;                /* since the look before */
    int64_t own_us;                 /* CPU of the loop's thread in that time */
    int64_t others_pm;              /* what all else on the machine takes, a loop's part of it */
    unsigned slots, late;           /* of frames (audio/pacer.h) */
    unsigned calls[CODEC_PROFILES]; /* by the profile of their encoder */
    unsigned relaying;              /* others: their voice's own packets are sent */
    unsigned young;
};

enum load_step { LOAD_STAY, LOAD_LOWER_SOME, LOAD_RAISE_SOME };

struct load {
    int64_t capacity_pm;              /* 1000: the loop has a core for itself */
    int64_t frame_ns[CODEC_PROFILES]; /* of encoding */
    enum codec_profile best;          /* of the settings */
    int64_t fixed_us;                 /* of a call, a second */
    int64_t share_pm, others_pm;      /* projected, as calls are now; of the last look */
    int64_t late_us, calm_since_us;   /* when slots were late last; 0: never */
    unsigned late_looks;              /* in a row */
    _Atomic int room;                 /* calls that it takes until the next look */
};

/* frame_ns: codec_frame_cost_ns() of each profile. */
void load_init(struct load *load, int64_t capacity_pm, const int64_t frame_ns[CODEC_PROFILES],
               enum codec_profile best);
enum load_step load_look(struct load *load, const struct load_sight *sight);
/* How many calls of a step are lowered or raised, so that the sound does not jump for all. */
unsigned load_step_calls(unsigned calls);
/* Takes a place for one call; false: it is full. any */
bool load_take(struct load *load);
