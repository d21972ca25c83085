/* What one peer may send: packets and bytes of each kind, at once and a second, several times what
 * a browser sends. What is over it is dropped before anything is done for it, so that a caller who
 * floods costs the others next to nothing; a kind does not use up another's. One who goes on with
 * packets that prove themselves is to be put out; forged ones only cost their room, since anybody
 * can send those in a caller's name. Thread: its owner's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bucket.h"
#include "rtc/demux.h"

enum {
    BUDGET_KINDS = 5,         /* of enum demux_kind; DEMUX_UNKNOWN costs nothing */
    BUDGET_LOOK_US = 5000000, /* a look at what was dropped */
    BUDGET_BAD_LOOKS = 2,     /* in a row: it is a flood */
};

struct budget {
    struct bucket packets[BUDGET_KINDS], bytes[BUDGET_KINDS];
    int64_t look_us;                /* begin of this look */
    uint64_t passed, good, dropped; /* in it */
    unsigned bad_looks;
    uint64_t all_dropped;
};

/* False: drop it. */
bool budget_take(struct budget *budget, enum demux_kind kind, size_t len, int64_t now_us);
/* The packet that was let through last was the peer's own. */
void budget_was_good(struct budget *budget);
bool budget_is_flooded(const struct budget *budget);
