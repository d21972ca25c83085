/* Receiver statistics, see incoming.h. */
#include "rtc/incoming.h"

#include <string.h>

#include "base/attr.h"

enum {
    CLOCK_KHZ = 48,     /* Opus (RFC 7587 section 4.1) */
    MAX_DROPOUT = 3000, /* RFC 3550 appendix A.1: a larger jump is a restarted sender */
    JITTER_GAIN = 16,   /* appendix A.8 */
    TOTAL_LOST_MAX = 0x7FFFFF
};

void incoming_init(struct incoming *incoming, uint32_t ssrc)
{
    memset(incoming, 0, sizeof(*incoming));
    incoming->ssrc = ssrc;
}

static void count_sequence(struct incoming *incoming, uint16_t sequence)
{
    if (!incoming->is_started) {
        incoming->is_started = true;
        incoming->first_sequence = incoming->highest_sequence = sequence;
        return;
    }
    uint16_t ahead = (uint16_t)(sequence - incoming->highest_sequence);
    if (ahead == 0 || ahead >= UINT16_MAX / 2 + 1) /* a repeat, or late */
        return;
    if (ahead > MAX_DROPOUT) {
        incoming->first_sequence = sequence;
        incoming->cycles = 0;
        incoming->packets = incoming->expected_before = incoming->received_before = 0;
    } else if (sequence < incoming->highest_sequence) {
        incoming->cycles += 1u << 16;
    }
    incoming->highest_sequence = sequence;
}

static void count_jitter(struct incoming *incoming, uint32_t timestamp, int64_t now_us)
{
    uint32_t arrival = (uint32_t)(now_us * CLOCK_KHZ / 1000);
    int32_t transit = (int32_t)(arrival - timestamp);
    if (incoming->packets > 0) {
        int32_t change = (int32_t)((uint32_t)transit - (uint32_t)incoming->last_transit);
        double size = change < 0 ? -(double)change : change;
        incoming->jitter += (size - incoming->jitter) / JITTER_GAIN;
    }
    incoming->last_transit = transit;
}

void incoming_packet(struct incoming *incoming, const struct rtp_packet *packet, int64_t now_us)
{
    count_sequence(incoming, packet->sequence);
    count_jitter(incoming, packet->timestamp, now_us);
    incoming->packets++;
    incoming->bytes += packet->len;
}

void incoming_sender_report(struct incoming *incoming, const struct rtcp_sender_report *report,
                            int64_t now_us)
{
    incoming->sr_middle = (uint32_t)(report->ntp >> 16);
    incoming->sr_us = now_us;
}

static uint32_t extended(const struct incoming *incoming)
{
    return incoming->cycles + incoming->highest_sequence;
}

static uint32_t expected(const struct incoming *incoming)
{
    return incoming->is_started ? extended(incoming) - incoming->first_sequence + 1 : 0;
}

uint64_t incoming_lost(const struct incoming *incoming)
{
    uint32_t want = expected(incoming);
    return want > incoming->packets ? want - incoming->packets : 0;
}

double incoming_jitter_ms(const struct incoming *incoming)
{
    return incoming->packets > 1 ? incoming->jitter / CLOCK_KHZ : -1;
}

void incoming_report(struct incoming *incoming, struct rtcp_report_block *out, int64_t now_us)
{
    uint32_t want = expected(incoming) - incoming->expected_before;
    uint32_t got = (uint32_t)incoming->packets - incoming->received_before;
    incoming->expected_before += want;
    incoming->received_before += got;
    bool is_lossy = want > got && want < UINT32_MAX / 2;
    uint64_t fraction = is_lossy ? (uint64_t)(want - got) * 256 / want : 0;
    *out = (struct rtcp_report_block){
        .ssrc = incoming->ssrc,
        .fraction_lost = (uint8_t)MIN(fraction, (uint64_t)UINT8_MAX),
        .total_lost = (int32_t)MIN(incoming_lost(incoming), (uint64_t)TOTAL_LOST_MAX),
        .highest_sequence = extended(incoming),
        .jitter = (uint32_t)incoming->jitter,
        .last_sr = incoming->sr_middle,
        .delay_since_sr =
            incoming->sr_middle ? (uint32_t)((now_us - incoming->sr_us) * 65536 / 1000000) : 0,
    };
}
