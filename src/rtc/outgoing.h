/* Our audio stream: numbers its packets, keeps the last ones as they were sent (sealed), so that a
 * NACK is answered with the same packet under the same number. A packet is built, sealed and sent
 * from its place in the history: nothing is copied or allocated on the way. Thread: its owner's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rtc/rtp.h"

enum {
    OUTGOING_SLOTS = 64,       /* 1.3 s of packets: a NACK older than that comes too late to play */
    OUTGOING_SLOT_BYTES = 320, /* 20 ms at 96 kbit/s with header and tag; larger ones cannot be
                                  sent again */
    OUTGOING_LARGE_BYTES = 1200,
    OUTGOING_RESEND_GAP_US = 10000 /* the same packet again not sooner: one NACK, one answer */
};

struct outgoing_slot {
    uint16_t sequence;
    uint16_t len; /* 0: empty */
    int64_t sent_us;
    uint8_t data[OUTGOING_SLOT_BYTES];
};

struct outgoing {
    uint32_t ssrc, timestamp_offset;
    uint16_t next_sequence;
    uint64_t packets, bytes, resent; /* bytes: payload */
    uint32_t last_timestamp;         /* on the wire, and when */
    int64_t last_sent_us;            /* 0: nothing sent */
    struct outgoing_slot slots[OUTGOING_SLOTS];
    uint8_t large[OUTGOING_LARGE_BYTES];
};

void outgoing_init(struct outgoing *outgoing); /* random SSRC, first number and timestamp */
/* Writes header and payload. Returns where to seal it (room for SEAL_EXTRA_BYTES follows it) and
 * its length; NULL: too large. */
uint8_t *outgoing_build(struct outgoing *outgoing, const struct rtp_packet *packet,
                        size_t *out_len);
/* The packet that was built last is sealed, len long, and leaves now. */
void outgoing_sent(struct outgoing *outgoing, size_t len, size_t payload_len, int64_t now_us);
/* A packet of the history to send again. NULL: not kept any more, or it was sent just now. */
const struct outgoing_slot *outgoing_resend(struct outgoing *outgoing, uint16_t sequence,
                                            int64_t now_us);
