/* Voice is told from silence by level: both sides are clean here, a file and a synthetic voice. */
#include "cli/turn_clock.h"

enum {
    VOICE_LEVEL = 250,           /* mean of the samples' size: far over comfort noise */
    ONSET_QUIET_US = 400 * 1000, /* a pause inside a reply is shorter */
};

static bool has_voice(const int16_t *samples, size_t count)
{
    int64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += samples[i] < 0 ? -samples[i] : samples[i];
    return count > 0 && sum / (int64_t)count > VOICE_LEVEL;
}

void turn_clock_init(struct turn_clock *clock, int64_t joined_us)
{
    *clock = (struct turn_clock){.joined_us = joined_us};
}

void turn_clock_caller(struct turn_clock *clock, const int16_t *samples, size_t count,
                       int64_t now_us)
{
    if (!has_voice(samples, count))
        return;
    clock->caller_voice_us = now_us;
    clock->has_asked = true;
}

bool turn_clock_agent(struct turn_clock *clock, const int16_t *samples, size_t count,
                      int64_t now_us, struct turn *out)
{
    if (!has_voice(samples, count))
        return false;
    bool is_onset =
        turn_clock_agent_quiet_us(clock, now_us) >= ONSET_QUIET_US || clock->agent_voice_us == 0;
    bool is_greeting = clock->agent_voice_us == 0 && !clock->has_asked;
    clock->agent_voice_us = now_us;
    if (!is_onset || !(clock->has_asked || is_greeting))
        return false;
    *out = (struct turn){
        .number = is_greeting ? 0 : ++clock->turns,
        .asked_us = is_greeting ? clock->joined_us : clock->caller_voice_us,
        .answered_us = now_us,
    };
    clock->has_asked = false;
    return true;
}

int64_t turn_clock_agent_quiet_us(const struct turn_clock *clock, int64_t now_us)
{
    return now_us - (clock->agent_voice_us ? clock->agent_voice_us : clock->joined_us);
}
