/* One session's RTP and RTCP, see media.h. */
#include "rtc/rtp_media.h"

#include <string.h>

#include "base/crypto.h"
#include "base/ids.h"

enum {
    REPORT_FIRST_US = 1000000, /* so that a round trip time is known early */
    REPORT_US = 2500000,       /* half of RFC 3550's 5 s: clients want one at least that often */
    REPORT_SPREAD_US = 500000
};

void rtp_media_init(struct rtp_media *media)
{
    memset(media, 0, sizeof(*media));
    outgoing_init(&media->outgoing);
    random_base62(media->cname, sizeof(media->cname) - 1);
    media->report_us = INT64_MAX;
    media->rtt_ms = media->remote_loss = -1;
}

void rtp_media_clear(struct rtp_media *media)
{
    seal_free(media->seal);
    media->seal = NULL;
}

enum err rtp_media_start(struct rtp_media *media, const struct dtls_keys *keys, int64_t now_us)
{
    enum err err = seal_new(keys, &media->seal);
    if (!err)
        media->report_us = now_us + REPORT_FIRST_US;
    return err;
}

static void push(struct rtp_media *media, const uint8_t *data, size_t len)
{
    if (media->count == MEDIA_QUEUE)
        return; /* as if the network had lost it */
    unsigned at = (media->first + media->count++) % MEDIA_QUEUE;
    media->queue[at].data = data;
    media->queue[at].len = len;
}

/* What comes in. */

static struct incoming *find_source(struct rtp_media *media, uint32_t ssrc)
{
    for (unsigned i = 0; i < media->incoming_count; i++)
        if (media->incoming[i].ssrc == ssrc)
            return &media->incoming[i];
    return NULL;
}

static struct incoming *add_source(struct rtp_media *media, uint32_t ssrc)
{
    unsigned at = media->incoming_count < MEDIA_SOURCES ? media->incoming_count++
                                                        : (media->current + 1) % MEDIA_SOURCES;
    incoming_init(&media->incoming[at], ssrc);
    return &media->incoming[at];
}

bool rtp_media_input_rtp(struct rtp_media *media, uint8_t *data, size_t len, int64_t now_us,
                         struct peer_audio *out)
{
    struct rtp_packet packet;
    if (!media->seal || seal_open_rtp(media->seal, data, &len) || rtp_parse(data, len, &packet))
        return false;
    struct incoming *source = find_source(media, packet.ssrc);
    if (!source)
        source = add_source(media, packet.ssrc);
    media->current = (unsigned)(source - media->incoming);
    incoming_packet(source, &packet, now_us);
    *out = (struct peer_audio){
        .payload = packet.payload,
        .len = packet.len,
        .ssrc = packet.ssrc,
        .timestamp = packet.timestamp,
        .sequence = packet.sequence,
        .payload_type = packet.payload_type,
        .is_marked = packet.is_marked,
        .level_dbov = rtp_level_dbov(&packet, media->level_extension),
    };
    return true;
}

/* Time since an arbitrary start as 32.32 seconds; RFC 3550 section 6.4.1 allows that. */
static uint64_t ntp_of(int64_t now_us)
{
    uint64_t seconds = (uint64_t)now_us / 1000000, rest = (uint64_t)now_us % 1000000;
    return seconds << 32 | (rest << 32) / 1000000;
}

static void on_report_block(struct rtp_media *media, const struct rtcp_report_block *block,
                            int64_t now_us)
{
    if (block->ssrc != media->outgoing.ssrc)
        return;
    media->remote_loss = block->fraction_lost / 256.0;
    if (!block->last_sr)
        return;
    uint32_t now_middle = (uint32_t)(ntp_of(now_us) >> 16);
    int32_t rtt = (int32_t)(now_middle - block->last_sr - block->delay_since_sr);
    if (rtt >= 0)
        media->rtt_ms = rtt * 1000.0 / 65536;
}

static void on_nack(struct rtp_media *media, const struct rtcp_item *item, int64_t now_us)
{
    if (item->media != media->outgoing.ssrc)
        return;
    for (unsigned i = 0; i < item->count && media->count < MEDIA_QUEUE; i++) {
        const struct outgoing_slot *slot = outgoing_resend(&media->outgoing, item->lost[i], now_us);
        if (slot)
            push(media, slot->data, slot->len);
    }
}

bool rtp_media_input_rtcp(struct rtp_media *media, uint8_t *data, size_t len, int64_t now_us)
{
    struct rtcp_reader reader;
    if (!media->seal || seal_open_rtcp(media->seal, data, &len) || rtcp_begin(&reader, data, len))
        return false;
    struct rtcp_item item;
    while (rtcp_next(&reader, &item)) {
        struct incoming *source = find_source(media, item.sender);
        if (item.type == RTCP_SENDER_REPORT && source)
            incoming_sender_report(source, &item.report, now_us);
        else if (item.type == RTCP_REPORT_BLOCK)
            on_report_block(media, &item.block, now_us);
        else if (item.type == RTCP_NACK)
            on_nack(media, &item, now_us);
    }
    return true;
}

/* What goes out. */

void rtp_media_send(struct rtp_media *media, const struct peer_opus *opus, int64_t now_us)
{
    if (!media->seal)
        return;
    struct rtp_packet packet = {
        .payload_type = opus->payload_type,
        .is_marked = opus->is_first,
        .timestamp = opus->timestamp,
        .payload = opus->payload,
        .len = opus->len,
    };
    size_t len;
    uint8_t *data = outgoing_build(&media->outgoing, &packet, &len);
    if (!data || seal_rtp(media->seal, data, &len))
        return;
    outgoing_sent(&media->outgoing, len, opus->len, now_us);
    push(media, data, len);
}

static struct rtcp_sender_report sender_report(const struct outgoing *outgoing, int64_t now_us)
{
    enum { CLOCK_KHZ = 48 };
    int64_t since_us = now_us - outgoing->last_sent_us;
    return (struct rtcp_sender_report){
        .ntp = ntp_of(now_us),
        .timestamp = outgoing->last_timestamp + (uint32_t)(since_us * CLOCK_KHZ / 1000),
        .packets = (uint32_t)outgoing->packets,
        .bytes = (uint32_t)outgoing->bytes,
    };
}

static void send_rtcp(struct rtp_media *media, struct rtcp_writer *writer)
{
    size_t len = writer->len;
    if (!writer->is_full && seal_rtcp(media->seal, media->rtcp, &len) == OK)
        push(media, media->rtcp, len);
}

static void make_report(struct rtp_media *media, int64_t now_us)
{
    media->report_us = now_us + REPORT_US + (int64_t)(crypto_random_u64() % REPORT_SPREAD_US);
    struct rtcp_report_block blocks[MEDIA_SOURCES];
    for (unsigned i = 0; i < media->incoming_count; i++)
        incoming_report(&media->incoming[i], &blocks[i], now_us);
    bool is_sender = media->outgoing.packets > 0;
    if (!is_sender && media->incoming_count == 0)
        return;
    struct rtcp_sender_report report = sender_report(&media->outgoing, now_us);
    struct rtcp_writer writer = {.data = media->rtcp, .cap = RTCP_MAX_BYTES};
    uint32_t ssrc = media->outgoing.ssrc;
    rtcp_put_report(&writer, ssrc, is_sender ? &report : NULL, blocks, media->incoming_count);
    rtcp_put_cname(&writer, ssrc, media->cname);
    send_rtcp(media, &writer);
}

void rtp_media_stop(struct rtp_media *media, bool says_bye)
{
    media->report_us = INT64_MAX;
    if (!media->seal || !says_bye)
        return;
    struct rtcp_writer writer = {.data = media->rtcp, .cap = RTCP_MAX_BYTES};
    rtcp_put_report(&writer, media->outgoing.ssrc, NULL, NULL, 0);
    rtcp_put_bye(&writer, media->outgoing.ssrc);
    send_rtcp(media, &writer);
}

bool rtp_media_output(struct rtp_media *media, const uint8_t **out, size_t *out_len, int64_t now_us)
{
    if (!media->count && media->report_us <= now_us)
        make_report(media, now_us);
    if (!media->count)
        return false;
    *out = media->queue[media->first].data;
    *out_len = media->queue[media->first].len;
    media->first = (media->first + 1) % MEDIA_QUEUE;
    media->count--;
    return true;
}

int64_t rtp_media_deadline_us(const struct rtp_media *media)
{
    return media->report_us;
}

void rtp_media_stats(const struct rtp_media *media, struct peer_stats *out)
{
    const struct outgoing *outgoing = &media->outgoing;
    out->packets_sent = outgoing->packets;
    out->bytes_sent = outgoing->bytes;
    out->packets_resent = outgoing->resent;
    out->rtt_ms = media->rtt_ms;
    out->remote_loss = media->remote_loss;
    out->jitter_ms = -1;
    if (!media->incoming_count)
        return;
    const struct incoming *incoming = &media->incoming[media->current];
    out->packets_received = incoming->packets;
    out->bytes_received = incoming->bytes;
    out->packets_lost = incoming_lost(incoming);
    out->jitter_ms = incoming_jitter_ms(incoming);
}
