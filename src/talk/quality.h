/* The figures of a call's turns (contract, `quality`): times are kept for the last turns, bounded.
 * Thread: its owner's. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "model/reply_times.h"

struct talk_quality;

enum { QUALITY_KEPT = 128 }; /* times of each kind; a long call forgets its first ones */

struct quality_series {
    int32_t ms[QUALITY_KEPT];
    size_t count; /* ever */
};

struct quality {
    int turns, interruptions, false_interruptions;
    struct quality_series voice_to_voice, endpointing, first_token, first_byte;
    struct {
        int64_t at_us, ms;
    } slowest[5];
    int slowest_count;
    struct reply_times reply_times; /* all of them */
};

void quality_add(struct quality_series *series, int64_t us);
/* Of a reply that is heard now, to a caller whose voice ended at voice_us. */
void quality_voice_to_voice(struct quality *quality, int64_t voice_us, int64_t now_us);
int64_t quality_percentile(const struct quality_series *series, int percent); /* -1: none */
void quality_report(const struct quality *quality, struct talk_quality *out);
