#include "room/meter.h"

#include "base/attr.h"
#include "rtc/peer.h"

enum {
    SILENCE_DBOV = -127,
    SPEAKING_DBOV = -35,
    SPEAKING_TICKS = 2,  /* smoothing: that many ticks in a row change the claim */
    QUALITY_TICKS = 12,  /* about 5 s */
    REFRESH_TICKS = 750, /* 5 min; the token is good for ten */
    GOOD_LOSS_PERCENT = 2,
    POOR_LOSS_PERCENT = 8
};

void meter_init(struct meter *meter)
{
    *meter = (struct meter){.level_dbov = SILENCE_DBOV};
}

void meter_hear(struct meter *meter, int level_dbov)
{
    if (level_dbov <= 0)
        meter->level_dbov = MAX(meter->level_dbov, level_dbov);
}

static unsigned tick_speakers(struct meter *meter, bool is_agent_speaking)
{
    unsigned found = 0;
    bool is_loud = meter->level_dbov >= SPEAKING_DBOV;
    meter->level_dbov = SILENCE_DBOV;
    meter->loud_ticks = is_loud ? meter->loud_ticks + 1 : 0;
    meter->quiet_ticks = is_loud ? 0 : meter->quiet_ticks + 1;
    bool is_sure = meter->loud_ticks >= SPEAKING_TICKS || meter->quiet_ticks >= SPEAKING_TICKS;
    if (is_sure && meter->is_caller_speaking != is_loud)
        found |= METER_CALLER;
    if (meter->is_agent_speaking != is_agent_speaking)
        found |= METER_AGENT;
    meter->is_caller_speaking = is_sure ? is_loud : meter->is_caller_speaking;
    meter->is_agent_speaking = is_agent_speaking;
    return found;
}

static enum connection_quality grade(uint64_t received, uint64_t lost)
{
    uint64_t all = received + lost;
    if (all == 0 || lost * 100 < all * GOOD_LOSS_PERCENT)
        return QUALITY_EXCELLENT;
    return lost * 100 < all * POOR_LOSS_PERCENT ? QUALITY_GOOD : QUALITY_POOR;
}

/* Counters fall when the caller's stream begins anew. */
static uint64_t grown(uint64_t now, uint64_t before)
{
    return now >= before ? now - before : 0;
}

static unsigned tick_quality(struct meter *meter, const struct peer_stats *stats)
{
    enum connection_quality quality = grade(grown(stats->packets_received, meter->received),
                                            grown(stats->packets_lost, meter->lost));
    bool is_same = meter->has_quality && quality == meter->quality;
    meter->received = stats->packets_received;
    meter->lost = stats->packets_lost;
    meter->quality = quality;
    meter->has_quality = true;
    return is_same ? 0 : METER_QUALITY;
}

unsigned meter_tick(struct meter *meter, const struct peer_stats *stats, bool is_agent_speaking)
{
    meter->ticks++;
    unsigned found = tick_speakers(meter, is_agent_speaking);
    if (meter->ticks % QUALITY_TICKS == 1)
        found |= tick_quality(meter, stats);
    if (meter->ticks % REFRESH_TICKS == 0)
        found |= METER_TOKEN;
    return found;
}
