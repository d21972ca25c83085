/* Statistics of one received stream, as receiver reports want them (RFC 3550 sections 6.4.1, A.1,
 * A.3, A.8). Thread: its owner's. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "rtc/rtcp.h"
#include "rtc/rtp.h"

struct incoming {
    uint32_t ssrc;
    bool is_started;
    uint16_t first_sequence, highest_sequence;
    uint32_t cycles; /* of the sequence number, already shifted by 16 */
    uint64_t packets, bytes;
    uint32_t expected_before, received_before; /* at the last report */
    double jitter;                             /* timestamp units */
    int64_t last_transit;
    uint32_t sr_middle; /* of the last sender report; 0: none came */
    int64_t sr_us;
};

void incoming_init(struct incoming *incoming, uint32_t ssrc);
void incoming_packet(struct incoming *incoming, const struct rtp_packet *packet, int64_t now_us);
void incoming_sender_report(struct incoming *incoming, const struct rtcp_sender_report *report,
                            int64_t now_us);
uint64_t incoming_lost(const struct incoming *incoming); /* never below 0, though repeats count */
double incoming_jitter_ms(const struct incoming *incoming);
/* The block for the next report; the fraction lost counts from the last call. */
void incoming_report(struct incoming *incoming, struct rtcp_report_block *out, int64_t now_us);
