/* Puts a caller's packets in order and decides what is lost. Sans-I/O, fixed memory, no codec.
 *
 * Nobody listens in real time here: what is heard goes to recognition. So a packet that comes in
 * order leaves at once, with no delay at all; only a gap makes those after it wait, for a time
 * that adapts to the jitter seen (20-120 ms). When nothing has come for longer than that, silence
 * is told frame by frame, so that the end of speech is noticed while packets are away, muted or
 * not sent (DTX). Packets that come after such silence are still taken, if in order.
 * Thread: its owner's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    JITTER_SLOTS = 16,              /* packets that wait for a gap to be filled */
    JITTER_PAYLOAD_MAX_BYTES = 512, /* a 60 ms frame at 64 kbit/s fits; longer ones are refused */
    JITTER_WAIT_MIN_US = 20000,
    JITTER_WAIT_MAX_US = 120000,
    JITTER_CONCEAL_MAX_TICKS = 5 * 960, /* of one gap; the rest of it is skipped */
};

enum jitter_kind {
    JITTER_PACKET,  /* decode payload */
    JITTER_RECOVER, /* `ticks` before payload are lost: rebuild them from it; it comes again as
                       JITTER_PACKET */
    JITTER_LOST,    /* `ticks` are lost */
    JITTER_SILENCE, /* 20 ms in which nothing came */
};

struct jitter_step {
    enum jitter_kind kind;
    const uint8_t *payload; /* until the next jitter_input() */
    size_t len;
    uint32_t ticks; /* 48 kHz units */
};

struct jitter_stats {
    uint64_t packets, lost, late, refused;
    int64_t jitter_us; /* RFC 3550 section 6.4.1, smoothed */
};

struct jitter_packet {
    uint64_t sequence; /* extended */
    int64_t at_us;
    uint32_t timestamp, ticks;
    uint16_t len;
    bool is_used;
    uint8_t payload[JITTER_PAYLOAD_MAX_BYTES];
};

struct jitter {
    struct jitter_packet slots[JITTER_SLOTS]; /* by sequence */
    size_t waiting;
    uint64_t next_sequence; /* extended; 0: nothing came yet */
    uint32_t next_timestamp;
    int64_t quiet_from_us;  /* the end of what came last */
    int64_t told_until_us;  /* the end of the silence told after it */
    uint32_t silence_ticks; /* told since the last packet */
    uint32_t recover_ticks; /* of the closed gap before the next packet, still to be told */
    bool has_jumped;
    uint16_t jump_sequence; /* what would confirm the jump */
    int64_t transit_us;
    struct jitter_stats stats;
};

void jitter_init(struct jitter *jitter);
struct jitter_arrival {
    const uint8_t *payload;
    size_t len;
    uint32_t ticks; /* length of the packet (codec_packet_ticks) */
    uint16_t sequence;
    uint32_t timestamp;
};
/* A packet of 0 ticks, or longer than a slot, is refused. */
void jitter_input(struct jitter *jitter, const struct jitter_arrival *arrival, int64_t now_us);
/* The next thing to do at now_us; false when there is none. */
bool jitter_output(struct jitter *jitter, int64_t now_us, struct jitter_step *out);
/* When jitter_output() has something to say without input; INT64_MAX before the first packet. */
int64_t jitter_deadline_us(const struct jitter *jitter);
