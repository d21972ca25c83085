/* What a call was like (contract, `quality`): the turns by the conversation, the sound by what came
 * of the caller's packets. */
#include <math.h>

#include "audio/jitter.h"
#include "audio/mos.h"
#include "base/mem.h"
#include "call/internal.h"

static double or_nan(int64_t ms)
{
    return ms < 0 ? NAN : (double)ms;
}

struct turn_timing quality_timing(const struct live_call *call, const struct talk_timing *timing)
{
    struct turn_timing turn = {0};
    if (!timing)
        return turn;
    turn.at_wall_ms = live_call_wall_ms(call, timing->from_us);
    for (int i = 0; i < POINT_COUNT; i++) {
        double after_us = (double)(timing->at_us[i] - timing->from_us);
        turn.after_ms[i] = timing->at_us[i] ? round(after_us / 100) / 10 : NAN;
    }
    return turn;
}

struct call_quality *quality_of(const struct live_call *call)
{
    struct talk_quality talk;
    talk_quality(call->talk, &talk);
    struct call_quality *quality = mem_new(struct call_quality);
    *quality = (struct call_quality){
        .turns = talk.turns,
        .interruptions = talk.interruptions,
        .false_interruptions = talk.false_interruptions,
        .voice_to_voice_ms = {or_nan(talk.voice_to_voice_p50_ms),
                              or_nan(talk.voice_to_voice_p95_ms)},
        .endpointing_ms = or_nan(talk.endpointing_ms),
        .llm_first_token_ms = or_nan(talk.llm_first_token_ms),
        .tts_first_byte_ms = or_nan(talk.tts_first_byte_ms),
        .packets_lost = NAN,
        .jitter_ms = NAN,
        .mos = NAN,
        .reply_times = talk.reply_times,
    };
    struct jitter_stats audio;
    media_stats(&call->media, &audio);
    if (audio.packets > 0) {
        quality->packets_lost = (double)audio.lost;
        quality->jitter_ms = round((double)audio.jitter_us / 100) / 10;
        double loss = (double)audio.lost / (double)(audio.packets + audio.lost);
        quality->mos = round(mos_of(loss, quality->jitter_ms) * 100) / 100;
    }
    if (talk.slowest_count == 0)
        return quality;
    struct quality_turn *slowest = mem_new_n(struct quality_turn, TALK_SLOWEST);
    for (int i = 0; i < talk.slowest_count; i++)
        slowest[i] = (struct quality_turn){
            .at_wall_ms = live_call_wall_ms(call, talk.slowest[i].at_us),
            .voice_to_voice_ms = (double)talk.slowest[i].voice_to_voice_ms,
        };
    quality->slowest_turns.items = slowest;
    quality->slowest_turns.count = (size_t)talk.slowest_count;
    return quality;
}
