/* rtc/rtp_media, outgoing, incoming: NACK answered with the same packet, reports, statistics. */
#include "rtc/rtp_media.h"

#include "base/attr.h"
#include "rtc/wire.h"
#include "test.h"

enum { START_US = 1000000, FRAME_US = 20000 };

/* A far end that only seals and opens. */
struct ends {
    struct rtp_media media;
    struct seal *far;
};

static void set_up(struct ends *ends)
{
    struct dtls_keys keys = {.profile = DTLS_AEAD_AES_128_GCM, .local = {1}, .remote = {2}};
    struct dtls_keys mirrored = {.profile = keys.profile, .local = {2}, .remote = {1}};
    rtp_media_init(&ends->media);
    CHECK_INT(rtp_media_start(&ends->media, &keys, START_US), OK);
    CHECK_INT(seal_new(&mirrored, &ends->far), OK);
}

static void tear_down(struct ends *ends)
{
    rtp_media_clear(&ends->media);
    seal_free(ends->far);
}

static void send_frame(struct ends *ends, unsigned frame, size_t len)
{
    static const uint8_t payload[PEER_OPUS_MAX_BYTES] = "speech";
    struct peer_opus opus = {
        .payload = payload, .len = len, .timestamp = frame * 960, .payload_type = 111};
    rtp_media_send(&ends->media, &opus, START_US + (int64_t)frame * FRAME_US);
}

static size_t take(struct ends *ends, uint8_t *out, int64_t now_us)
{
    const uint8_t *data;
    size_t len;
    if (!rtp_media_output(&ends->media, &data, &len, now_us))
        return 0;
    memcpy(out, data, len);
    return len;
}

static void nack(struct ends *ends, uint16_t lost, int64_t now_us)
{
    uint8_t data[16 + SEAL_EXTRA_BYTES] = "\x81\xcd\x00\x03\x00\x00\x00\x07";
    wire_put32(data + 8, ends->media.outgoing.ssrc);
    wire_put16(data + 12, lost);
    size_t len = 16;
    CHECK_INT(seal_rtcp(ends->far, data, &len), OK);
    CHECK(rtp_media_input_rtcp(&ends->media, data, len, now_us));
}

TEST(media_answers_a_nack_with_the_same_packet)
{
    struct ends ends;
    set_up(&ends);
    uint8_t sent[1500], again[1500];
    size_t len = 0;
    for (unsigned frame = 0; frame < 40; frame++) {
        send_frame(&ends, frame, 80);
        uint8_t packet[1500];
        size_t got = take(&ends, packet, START_US);
        if (frame == 20) {
            len = got;
            memcpy(sent, packet, got);
        }
    }
    uint16_t lost = (uint16_t)(ends.media.outgoing.next_sequence - 20);
    int64_t now_us = START_US + 40 * FRAME_US;
    nack(&ends, lost, now_us);
    CHECK_INT(take(&ends, again, now_us), len);
    CHECK(memcmp(sent, again, len) == 0);
    nack(&ends, lost, now_us + 1000); /* the same again while the answer is on its way */
    CHECK_INT(take(&ends, again, now_us + 1000), 0);
    nack(&ends, lost, now_us + 60000);
    CHECK_INT(take(&ends, again, now_us + 60000), len);
    CHECK_INT(ends.media.outgoing.resent, 2);
    tear_down(&ends);
}

TEST(media_resends_only_what_it_keeps)
{
    struct ends ends;
    set_up(&ends);
    uint8_t packet[1500];
    for (unsigned frame = 0; frame < 200; frame++) {
        send_frame(&ends, frame, frame == 199 ? 1000 : 80);
        CHECK(take(&ends, packet, START_US) > 80);
    }
    uint16_t next = ends.media.outgoing.next_sequence;
    int64_t now_us = START_US + 300 * FRAME_US;
    const uint16_t cases[] = {(uint16_t)(next - 65), next, (uint16_t)(next - 1)};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) { /* too old, not sent yet, too large */
        nack(&ends, cases[i], now_us);
        CHECK_INT(take(&ends, packet, START_US), 0);
    }
    uint16_t oldest = (uint16_t)(next - 64);
    nack(&ends, oldest, now_us);
    CHECK(take(&ends, packet, START_US) > 80);
    tear_down(&ends);
}

TEST(media_refuses_payloads_over_the_datagram)
{
    struct ends ends;
    set_up(&ends);
    uint8_t packet[1500];
    send_frame(&ends, 0, PEER_OPUS_MAX_BYTES);
    CHECK(take(&ends, packet, START_US) <= PEER_MTU_BYTES);
    CHECK_INT(ends.media.outgoing.packets, 1);
    tear_down(&ends);
}

/* Incoming. */

static void arrive(struct incoming *incoming, uint16_t sequence, int64_t now_us)
{
    struct rtp_packet packet = {.sequence = sequence, .timestamp = sequence * 960u, .len = 80};
    incoming_packet(incoming, &packet, now_us);
}

TEST(incoming_counts_loss_across_the_wrap)
{
    struct incoming incoming;
    incoming_init(&incoming, 5);
    for (unsigned i = 0; i < 1000; i++) {
        uint16_t sequence = (uint16_t)(65000 + i);
        if (i % 10 != 3)
            arrive(&incoming, sequence, START_US + (int64_t)i * FRAME_US);
    }
    CHECK_INT(incoming_lost(&incoming), 100);
    struct rtcp_report_block block;
    incoming_report(&incoming, &block, START_US);
    CHECK_INT(block.total_lost, 100);
    CHECK_INT(block.fraction_lost, 25); /* a tenth of 256 */
    CHECK_INT(block.highest_sequence, 65000 + 999);
    incoming_report(&incoming, &block, START_US);
    CHECK_INT(block.fraction_lost, 0);
    CHECK_INT(block.total_lost, 100);
}

TEST(incoming_takes_reordering_and_repeats)
{
    struct incoming incoming;
    incoming_init(&incoming, 5);
    static const uint16_t order[] = {10, 12, 11, 13, 15, 14, 14, 9};
    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        arrive(&incoming, order[i], START_US);
    CHECK_INT(incoming.highest_sequence, 15);
    CHECK_INT(incoming_lost(&incoming), 0);
    struct rtcp_report_block block;
    incoming_report(&incoming, &block, START_US);
    CHECK_INT(block.fraction_lost, 0);
}

TEST(incoming_starts_over_when_the_sender_does)
{
    struct incoming incoming;
    incoming_init(&incoming, 5);
    for (uint16_t i = 0; i < 100; i++)
        arrive(&incoming, i, START_US);
    for (uint16_t i = 30000; i < 30010; i++)
        arrive(&incoming, i, START_US);
    CHECK_INT(incoming_lost(&incoming), 0);
    CHECK_INT(incoming.packets, 10);
}

TEST(incoming_measures_jitter)
{
    struct incoming steady, shaky;
    incoming_init(&steady, 5);
    incoming_init(&shaky, 5);
    CHECK(incoming_jitter_ms(&steady) < 0);
    for (unsigned i = 0; i < 500; i++) {
        int64_t now_us = START_US + (int64_t)i * FRAME_US;
        arrive(&steady, (uint16_t)i, now_us);
        arrive(&shaky, (uint16_t)i, now_us + (i % 2) * 8000);
    }
    CHECK(incoming_jitter_ms(&steady) < 0.1);
    CHECK(incoming_jitter_ms(&shaky) > 7.5 && incoming_jitter_ms(&shaky) < 8.1);
}

TEST(media_reports_and_measures_the_round_trip)
{
    struct ends ends;
    set_up(&ends);
    uint8_t packet[1500];
    for (unsigned frame = 0; frame < 60; frame++) {
        send_frame(&ends, frame, 80);
        take(&ends, packet, START_US + (int64_t)frame * FRAME_US);
    }
    int64_t now_us = START_US + 60 * FRAME_US;
    CHECK(rtp_media_deadline_us(&ends.media) <= now_us);
    size_t len = take(&ends, packet, now_us);
    REQUIRE(len > 0 && seal_open_rtcp(ends.far, packet, &len) == OK);
    struct rtcp_reader reader;
    struct rtcp_item item;
    REQUIRE(rtcp_begin(&reader, packet, len) == OK);
    REQUIRE(rtcp_next(&reader, &item) && item.type == RTCP_SENDER_REPORT);
    CHECK_INT(item.report.packets, 60);
    CHECK_INT(item.report.bytes, 60 * 80);
    CHECK_INT(item.report.timestamp - ends.media.outgoing.timestamp_offset, 60 * 960);

    /* The far end answers 30 ms later than it got it, 50 ms of road in all. */
    struct rtcp_report_block block = {.ssrc = ends.media.outgoing.ssrc,
                                      .fraction_lost = 128,
                                      .last_sr = (uint32_t)(item.report.ntp >> 16),
                                      .delay_since_sr = 30 * 65536 / 1000};
    uint8_t data[RTCP_MAX_BYTES + SEAL_EXTRA_BYTES];
    struct rtcp_writer writer = {.data = data, .cap = RTCP_MAX_BYTES};
    rtcp_put_report(&writer, 7, NULL, &block, 1);
    len = writer.len;
    REQUIRE(seal_rtcp(ends.far, data, &len) == OK);
    CHECK(rtp_media_input_rtcp(&ends.media, data, len, now_us + 80000));
    struct peer_stats stats = {0};
    rtp_media_stats(&ends.media, &stats);
    CHECK(stats.rtt_ms > 49.9 && stats.rtt_ms < 50.1);
    CHECK(stats.remote_loss == 0.5);
    tear_down(&ends);
}
