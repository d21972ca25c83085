#include "talk/quality.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "talk/talk.h"

_Static_assert(ARRAY_LEN(((struct quality *)0)->slowest) == TALK_SLOWEST, "one list, two structs");

void quality_add(struct quality_series *series, int64_t us)
{
    int64_t ms = (us + 500) / 1000;
    series->ms[series->count++ % QUALITY_KEPT] = (int32_t)MIN(MAX(ms, 0), INT32_MAX);
}

static void note_slow(struct quality *quality, int64_t at_us, int64_t ms)
{
    int place = quality->slowest_count;
    while (place > 0 && quality->slowest[place - 1].ms < ms)
        place--;
    if (place >= TALK_SLOWEST)
        return;
    if (quality->slowest_count < TALK_SLOWEST)
        quality->slowest_count++;
    for (int i = quality->slowest_count - 1; i > place; i--)
        quality->slowest[i] = quality->slowest[i - 1];
    quality->slowest[place].at_us = at_us;
    quality->slowest[place].ms = ms;
}

void quality_voice_to_voice(struct quality *quality, int64_t voice_us, int64_t now_us)
{
    quality_add(&quality->voice_to_voice, now_us - voice_us);
    int64_t ms = (now_us - voice_us + 500) / 1000;
    note_slow(quality, voice_us, ms);
    reply_times_add(&quality->reply_times, ms);
}

static int by_size(const void *a, const void *b)
{
    int32_t left = *(const int32_t *)a, right = *(const int32_t *)b;
    return (left > right) - (left < right);
}

int64_t quality_percentile(const struct quality_series *series, int percent)
{
    size_t count = MIN(series->count, (size_t)QUALITY_KEPT);
    if (count == 0)
        return -1;
    int32_t sorted[QUALITY_KEPT];
    memcpy(sorted, series->ms, count * sizeof(sorted[0]));
    qsort(sorted, count, sizeof(sorted[0]), by_size);
    size_t rank = (count * (size_t)percent + 99) / 100;
    return sorted[rank > 0 ? rank - 1 : 0];
}

void quality_report(const struct quality *quality, struct talk_quality *out)
{
    *out = (struct talk_quality){
        .turns = quality->turns,
        .interruptions = quality->interruptions,
        .false_interruptions = quality->false_interruptions,
        .voice_to_voice_p50_ms = quality_percentile(&quality->voice_to_voice, 50),
        .voice_to_voice_p95_ms = quality_percentile(&quality->voice_to_voice, 95),
        .endpointing_ms = quality_percentile(&quality->endpointing, 50),
        .llm_first_token_ms = quality_percentile(&quality->first_token, 50),
        .tts_first_byte_ms = quality_percentile(&quality->first_byte, 50),
        .slowest_count = quality->slowest_count,
        .reply_times = quality->reply_times,
    };
    for (int i = 0; i < quality->slowest_count; i++) {
        out->slowest[i].at_us = quality->slowest[i].at_us;
        out->slowest[i].voice_to_voice_ms = quality->slowest[i].ms;
    }
}
