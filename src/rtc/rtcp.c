/* RTCP, see rtcp.h. Each packet of a compound one:
 *
 *      0                   1                   2                   3
 *      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *     |V=2|P|  count  |      type     |   length in words, less one   |
 *     |                     SSRC of the sender                        |
 *     |                            ...                                | */
#include "rtc/rtcp.h"

#include <string.h>

#include "rtc/wire.h"

enum {
    HEADER_BYTES = 8, /* with the sender's SSRC */
    SENDER_BYTES = 20,
    BLOCK_BYTES = 24,
    FORMAT_GENERIC_NACK = 1,
    ITEM_CNAME = 1,
    CNAME_MAX_BYTES = 64
};

/* Reading. */

static size_t packet_bytes(const uint8_t *packet)
{
    return (wire_get16(packet + 2) + (size_t)1) * 4;
}

enum err rtcp_begin(struct rtcp_reader *reader, const uint8_t *data, size_t len)
{
    size_t at = 0;
    while (at < len) {
        if (len - at < 4 || data[at] >> 6 != 2 || packet_bytes(data + at) > len - at)
            return ERR_INVALID;
        at += packet_bytes(data + at);
    }
    *reader = (struct rtcp_reader){.data = data, .len = len};
    return OK;
}

static void read_block(const uint8_t *at, struct rtcp_report_block *out)
{
    out->ssrc = wire_get32(at);
    out->fraction_lost = at[4];
    out->total_lost = (int32_t)(wire_get32(at + 4) << 8) >> 8;
    out->highest_sequence = wire_get32(at + 8);
    out->jitter = wire_get32(at + 12);
    out->last_sr = wire_get32(at + 16);
    out->delay_since_sr = wire_get32(at + 20);
}

static void add_lost(struct rtcp_item *item, uint16_t sequence)
{
    if (item->count < RTCP_NACK_MAX)
        item->lost[item->count++] = sequence;
}

/* Pairs of a packet id and a bit mask of the 16 that follow it. */
static void read_nack(const uint8_t *packet, size_t len, struct rtcp_item *out)
{
    out->media = wire_get32(packet + HEADER_BYTES);
    for (size_t at = HEADER_BYTES + 4; at + 4 <= len; at += 4) {
        uint16_t first = wire_get16(packet + at), mask = wire_get16(packet + at + 2);
        add_lost(out, first);
        for (unsigned bit = 0; bit < 16; bit++)
            if (mask >> bit & 1)
                add_lost(out, (uint16_t)(first + bit + 1));
    }
}

/* A report's sender part, and where its blocks are. */
static void read_report(struct rtcp_reader *reader, const uint8_t *packet, size_t len,
                        struct rtcp_item *out)
{
    size_t before = HEADER_BYTES;
    if (out->type == RTCP_SENDER_REPORT) {
        out->report.ntp = wire_get64(packet + 8);
        out->report.timestamp = wire_get32(packet + 16);
        out->report.packets = wire_get32(packet + 20);
        out->report.bytes = wire_get32(packet + 24);
        before += SENDER_BYTES;
    }
    reader->block_at = (size_t)(packet - reader->data) + before;
    reader->blocks_left = MIN((size_t)(packet[0] & 0x1F), (len - before) / BLOCK_BYTES);
}

/* The least length of the types that are read; shorter ones count as RTCP_OTHER. */
static const struct {
    enum rtcp_type type;
    size_t least_bytes;
} known[] = {
    {RTCP_SENDER_REPORT, HEADER_BYTES + SENDER_BYTES},
    {RTCP_RECEIVER_REPORT, HEADER_BYTES},
    {RTCP_DESCRIPTION, 4},
    {RTCP_BYE, HEADER_BYTES},
    {RTCP_NACK, HEADER_BYTES + 4},
};

static enum rtcp_type type_of(const uint8_t *packet, size_t len)
{
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (known[i].type != packet[1] || len < known[i].least_bytes)
            continue;
        bool is_nack = (packet[0] & 0x1F) == FORMAT_GENERIC_NACK;
        return known[i].type == RTCP_NACK && !is_nack ? RTCP_OTHER : known[i].type;
    }
    return RTCP_OTHER;
}

bool rtcp_next(struct rtcp_reader *reader, struct rtcp_item *out)
{
    memset(out, 0, sizeof(*out));
    if (reader->blocks_left) {
        out->type = RTCP_REPORT_BLOCK;
        out->sender = reader->sender;
        read_block(reader->data + reader->block_at, &out->block);
        reader->block_at += BLOCK_BYTES;
        reader->blocks_left--;
        return true;
    }
    if (reader->at >= reader->len)
        return false;
    const uint8_t *packet = reader->data + reader->at;
    size_t len = packet_bytes(packet);
    reader->at += len;
    reader->sender = out->sender = len >= HEADER_BYTES ? wire_get32(packet + 4) : 0;
    out->type = type_of(packet, len);
    if (out->type == RTCP_NACK)
        read_nack(packet, len, out);
    else if (out->type == RTCP_SENDER_REPORT || out->type == RTCP_RECEIVER_REPORT)
        read_report(reader, packet, len, out);
    return true;
}

/* Writing. */

/* Room for a packet of len bytes (a multiple of 4), its header written; NULL: full. */
static uint8_t *put(struct rtcp_writer *writer, enum rtcp_type type, unsigned count, size_t len,
                    uint32_t sender)
{
    if (len > writer->cap - writer->len) {
        writer->is_full = true;
        return NULL;
    }
    uint8_t *packet = writer->data + writer->len;
    memset(packet, 0, len);
    packet[0] = (uint8_t)(2 << 6 | count);
    packet[1] = (uint8_t)type;
    wire_put16(packet + 2, (uint16_t)(len / 4 - 1));
    wire_put32(packet + 4, sender);
    writer->len += len;
    return packet;
}

static void write_block(uint8_t *at, const struct rtcp_report_block *block)
{
    wire_put32(at, block->ssrc);
    wire_put32(at + 4,
               ((uint32_t)block->total_lost & 0xFFFFFF) | (uint32_t)block->fraction_lost << 24);
    wire_put32(at + 8, block->highest_sequence);
    wire_put32(at + 12, block->jitter);
    wire_put32(at + 16, block->last_sr);
    wire_put32(at + 20, block->delay_since_sr);
}

void rtcp_put_report(struct rtcp_writer *writer, uint32_t sender,
                     const struct rtcp_sender_report *report,
                     const struct rtcp_report_block *blocks, unsigned count)
{
    size_t before = HEADER_BYTES + (report ? SENDER_BYTES : 0);
    uint8_t *packet = put(writer, report ? RTCP_SENDER_REPORT : RTCP_RECEIVER_REPORT, count,
                          before + count * (size_t)BLOCK_BYTES, sender);
    if (!packet)
        return;
    if (report) {
        wire_put64(packet + 8, report->ntp);
        wire_put32(packet + 16, report->timestamp);
        wire_put32(packet + 20, report->packets);
        wire_put32(packet + 24, report->bytes);
    }
    for (unsigned i = 0; i < count; i++)
        write_block(packet + before + i * (size_t)BLOCK_BYTES, &blocks[i]);
}

void rtcp_put_cname(struct rtcp_writer *writer, uint32_t sender, const char *cname)
{
    size_t name_len = strnlen(cname, CNAME_MAX_BYTES);
    /* item header, name, and at least one zero that ends the list */
    size_t len = (HEADER_BYTES + 2 + name_len + 1 + 3) & ~(size_t)3;
    uint8_t *packet = put(writer, RTCP_DESCRIPTION, 1, len, sender);
    if (!packet)
        return;
    packet[HEADER_BYTES] = ITEM_CNAME;
    packet[HEADER_BYTES + 1] = (uint8_t)name_len;
    memcpy(packet + HEADER_BYTES + 2, cname, name_len);
}

void rtcp_put_bye(struct rtcp_writer *writer, uint32_t sender)
{
    put(writer, RTCP_BYE, 1, HEADER_BYTES, sender);
}
