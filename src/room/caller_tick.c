/* What a caller is told now and then: who speaks, how good its connection is, a fresh token
 * (LiveKit, Keep-alive and periodic traffic). Only changes are sent. */
#include <string.h>

#include "room/caller_internal.h"
#include "rtc/peer.h"

enum {
    SPEAKING_DBOV = -35,
    SPEAKING_TICKS = 2,  /* smoothing: that many ticks in a row change the claim */
    QUALITY_TICKS = 12,  /* about 5 s */
    REFRESH_TICKS = 750, /* 5 min; the token is good for ten */
    GOOD_LOSS_PERCENT = 2,
    POOR_LOSS_PERCENT = 8
};

static void tick_speakers(struct caller *caller)
{
    bool is_loud = caller->level_dbov >= SPEAKING_DBOV;
    caller->level_dbov = -127;
    caller->loud_ticks = is_loud ? caller->loud_ticks + 1 : 0;
    caller->quiet_ticks = is_loud ? 0 : caller->quiet_ticks + 1;
    bool was_speaking = caller->is_speaking;
    if (caller->loud_ticks >= SPEAKING_TICKS || caller->quiet_ticks >= SPEAKING_TICKS)
        caller->is_speaking = is_loud;
    bool is_agent =
        caller->config.room->has_agent && strcmp(caller->config.room->agent_state, "speaking") == 0;
    bool agent_changed = is_agent != caller->agent_was_speaking;
    caller->agent_was_speaking = is_agent;
    if (agent_changed || was_speaking != caller->is_speaking)
        caller_send_speakers(caller, was_speaking != caller->is_speaking, agent_changed);
}

static enum connection_quality grade(uint64_t received, uint64_t lost)
{
    uint64_t all = received + lost;
    if (all == 0 || lost * 100 < all * GOOD_LOSS_PERCENT)
        return QUALITY_EXCELLENT;
    return lost * 100 < all * POOR_LOSS_PERCENT ? QUALITY_GOOD : QUALITY_POOR;
}

/* Never `lost`: at that a client reconnects by itself. */
static void tick_quality(struct caller *caller)
{
    struct peer_stats stats;
    peer_stats(caller->up.peer, &stats);
    uint64_t lost =
        stats.packets_lost >= caller->quality_lost ? stats.packets_lost - caller->quality_lost : 0;
    uint64_t received = stats.packets_received >= caller->quality_received
                            ? stats.packets_received - caller->quality_received
                            : 0;
    enum connection_quality quality = grade(received, lost);
    caller->quality_lost = stats.packets_lost;
    caller->quality_received = stats.packets_received;
    if ((int)quality == caller->quality)
        return;
    caller->quality = (int)quality;
    caller_send_quality(caller, quality);
}

void caller_tick(struct caller *caller)
{
    caller->ticks++;
    tick_speakers(caller);
    if (caller->ticks % QUALITY_TICKS == 1)
        tick_quality(caller);
    if (caller->ticks % REFRESH_TICKS == 0)
        caller_send_refresh_token(caller);
}
