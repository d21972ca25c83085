/* What is measured of a caller while it is up, some times a second: who speaks, how good its
 * connection is (LiveKit, Keep-alive and periodic traffic). It says what has changed, and what is
 * due; its owner tells the client. Thread: its owner's. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct peer_stats;

enum { METER_TICK_US = 400000 }; /* speakers' period (LiveKit, Keep-alive) */

/* What a tick has found. */
enum meter_found {
    METER_CALLER = 1 << 0,  /* has begun to speak, or ended */
    METER_AGENT = 1 << 1,   /* has begun to speak, or ended */
    METER_QUALITY = 1 << 2, /* is another */
    METER_TOKEN = 1 << 3    /* a fresh one is due */
};

/* Numbers of the wire; never `lost` (3): at that a client reconnects by itself. */
enum connection_quality { QUALITY_POOR = 0, QUALITY_GOOD = 1, QUALITY_EXCELLENT = 2 };

struct meter {
    unsigned ticks;
    int level_dbov; /* loudest of this tick */
    unsigned loud_ticks, quiet_ticks;
    bool is_caller_speaking, is_agent_speaking;
    bool has_quality; /* one was found before */
    enum connection_quality quality;
    uint64_t received, lost; /* when the quality was looked at last */
};

void meter_init(struct meter *meter);
/* Of a packet of the caller's; 0 dBov and above: it does not say. */
void meter_hear(struct meter *meter, int level_dbov);
/* Each METER_TICK_US. stats: of the connection that the caller's sound comes by. Returns what was
 * found, of enum meter_found. */
unsigned meter_tick(struct meter *meter, const struct peer_stats *stats, bool is_agent_speaking);
