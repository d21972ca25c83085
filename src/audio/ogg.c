#include "audio/ogg.h"

#include <string.h>

enum {
    HEAD_BYTES = 27,
    FLAG_CONTINUED = 1,
    FLAG_FIRST = 2,
    FLAG_LAST = 4,
    FLAGS_AT = 5,
    SERIAL_AT = 14,
    NUMBER_AT = 18,
    SUM_AT = 22,
    COUNT_AT = 26,
    LACING_FULL = 255, /* the packet goes on */
    MAGIC_BYTES = 8,
    OPUS_HEAD_BYTES = 19,
    CHANNELS_MAX = 2,
};

void ogg_init(struct ogg *ogg, const struct ogg_fns *fns, void *arg)
{
    *ogg = (struct ogg){.fns = fns, .arg = arg};
    buf_init(&ogg->page, OGG_PAGE_MAX_BYTES);
    buf_init(&ogg->packet, OGG_PACKET_MAX_BYTES);
}

void ogg_clear(struct ogg *ogg)
{
    buf_clear(&ogg->page);
    buf_clear(&ogg->packet);
}

static uint32_t u32_at(const uint8_t *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* RFC 3533 section 6: polynomial 0x04c11db7, nothing reflected; half a byte at a time. */
static uint32_t add_sum(uint32_t sum, uint8_t byte)
{
    static const uint32_t table[16] = {0x00000000, 0x04c11db7, 0x09823b6e, 0x0d4326d9,
                                       0x130476dc, 0x17c56b6b, 0x1a864db2, 0x1e475005,
                                       0x2608edb8, 0x22c9f00f, 0x2f8ad6d6, 0x2b4bcb61,
                                       0x350c9b64, 0x31cd86d3, 0x3c8ea00a, 0x384fbdbd};
    sum = sum << 4 ^ table[sum >> 28 ^ byte >> 4];
    return sum << 4 ^ table[sum >> 28 ^ (byte & 15U)];
}

/* Its own four bytes count as zero. */
static uint32_t sum_of(const uint8_t *page, size_t len)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < len; i++)
        sum = add_sum(sum, i >= SUM_AT && i < SUM_AT + 4 ? 0 : page[i]);
    return sum;
}

/* Packets. */

/* RFC 7845 section 5.1. Other families of channels than 0 are surround sound. */
static bool read_opus_head(struct ogg *ogg, const uint8_t *packet, size_t len)
{
    if (len < OPUS_HEAD_BYTES || memcmp(packet, "OpusHead", MAGIC_BYTES) != 0)
        return false;
    unsigned version = packet[8], channels = packet[9], family = packet[18];
    if (version >> 4 != 0 || channels < 1 || channels > CHANNELS_MAX || family != 0)
        return false;
    const struct ogg_head head = {
        .skip = packet[10] | (unsigned)packet[11] << 8,
        .gain_q8_db = (int16_t)(packet[16] | (unsigned)packet[17] << 8),
    };
    ogg->fns->on_head(ogg->arg, &head);
    return true;
}

static bool take_packet(struct ogg *ogg)
{
    const uint8_t *packet = (const uint8_t *)(ogg->packet.data ? ogg->packet.data : "");
    size_t len = ogg->packet.len;
    switch (ogg->part) {
    case OGG_HEAD:
        ogg->part = OGG_TAGS;
        return read_opus_head(ogg, packet, len);
    case OGG_TAGS:
        ogg->part = OGG_SOUND;
        return len >= MAGIC_BYTES && memcmp(packet, "OpusTags", MAGIC_BYTES) == 0;
    case OGG_SOUND:
        return ogg->fns->on_packet(ogg->arg, packet, len);
    case OGG_NOTHING:
        break;
    }
    return false;
}

/* Of the tags, which may hold a picture, no more is kept than shows what they are. */
static bool add_bytes(struct ogg *ogg, const uint8_t *bytes, size_t len)
{
    if (ogg->part != OGG_TAGS)
        return buf_append(&ogg->packet, bytes, len) == OK;
    ogg->tags_bytes += len;
    return buf_append(&ogg->packet, bytes,
                      MIN(len, MAGIC_BYTES - MIN(ogg->packet.len, MAGIC_BYTES))) == OK &&
           ogg->tags_bytes <= OGG_TAGS_MAX_BYTES;
}

static bool take_packets(struct ogg *ogg, const uint8_t *page)
{
    const uint8_t *lengths = page + HEAD_BYTES, *at = lengths + page[COUNT_AT];
    for (size_t i = 0; i < page[COUNT_AT]; at += lengths[i++]) {
        if (!add_bytes(ogg, at, lengths[i]))
            return false;
        ogg->is_within_packet = lengths[i] == LACING_FULL;
        if (ogg->is_within_packet)
            continue;
        if (!take_packet(ogg))
            return false;
        buf_reset(&ogg->packet);
    }
    return true;
}

/* Pages. */

static bool is_next(struct ogg *ogg, const uint8_t *page)
{
    unsigned flags = page[FLAGS_AT];
    if (((flags & FLAG_CONTINUED) != 0) != ogg->is_within_packet)
        return false;
    if (flags & FLAG_FIRST) {
        ogg->serial = u32_at(page + SERIAL_AT);
        ogg->next_page = u32_at(page + NUMBER_AT);
        ogg->part = OGG_HEAD;
        ogg->tags_bytes = 0;
        ogg->has_ended = false;
        return !ogg->is_within_packet;
    }
    return ogg->part != OGG_NOTHING && !ogg->has_ended && u32_at(page + SERIAL_AT) == ogg->serial &&
           u32_at(page + NUMBER_AT) == ogg->next_page;
}

static bool take_page(struct ogg *ogg)
{
    const uint8_t *page = (const uint8_t *)ogg->page.data;
    if (sum_of(page, ogg->page.len) != u32_at(page + SUM_AT) || !is_next(ogg, page))
        return false;
    ogg->next_page++;
    ogg->has_ended = page[FLAGS_AT] & FLAG_LAST;
    return take_packets(ogg, page);
}

/* Bytes up to the next place at which more is known of the page; 0: it is whole. */
static size_t left(const struct ogg *ogg)
{
    const uint8_t *page = (const uint8_t *)ogg->page.data;
    size_t len = ogg->page.len;
    if (len < HEAD_BYTES)
        return HEAD_BYTES - len;
    size_t whole = HEAD_BYTES + page[COUNT_AT];
    if (len < whole)
        return whole - len;
    for (size_t i = 0; i < page[COUNT_AT]; i++)
        whole += page[HEAD_BYTES + i];
    return whole - len;
}

static bool has_capture(const struct ogg *ogg)
{
    return memcmp(ogg->page.data, "OggS\0", MIN(ogg->page.len, 5)) == 0;
}

bool ogg_push(struct ogg *ogg, const void *data, size_t len)
{
    const uint8_t *bytes = data;
    while (len > 0 && !ogg->is_broken) {
        size_t take = MIN(left(ogg), len);
        (void)buf_append(&ogg->page, bytes, take);
        bytes += take;
        len -= take;
        ogg->is_broken = !has_capture(ogg);
        if (ogg->is_broken || left(ogg) > 0)
            continue;
        ogg->is_broken = !take_page(ogg);
        buf_reset(&ogg->page);
    }
    return !ogg->is_broken;
}

/* Many servers that stream do not mark the last page. */
bool ogg_finish(const struct ogg *ogg)
{
    return !ogg->is_broken && ogg->part == OGG_SOUND && ogg->page.len == 0 &&
           !ogg->is_within_packet;
}
