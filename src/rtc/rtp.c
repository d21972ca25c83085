/* RTP, see rtp.h.
 *
 *      0                   1                   2                   3
 *      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *     |V=2|P|X|  CC   |M|     PT      |       sequence number         |
 *     |                           timestamp                           |
 *     |           synchronization source (SSRC) identifier            |
 *     |            contributing sources (CC of them)                  |
 *     |      profile (X)              |  length in 32-bit words       |
 *     |                        extension elements                     | */
#include "rtc/rtp.h"

#include "rtc/wire.h"

enum {
    BIT_PADDING = 0x20,
    BIT_EXTENSION = 0x10,
    BIT_MARKER = 0x80,
    PROFILE_ONE_BYTE = 0xBEDE,
    PROFILE_TWO_BYTE = 0x1000, /* the low 4 bits are the application's */
    ONE_BYTE_STOP = 15         /* RFC 8285 section 4.2: parsing ends here */
};

static enum err read_extension(struct rtp_packet *packet, const uint8_t *data, size_t len,
                               size_t *at)
{
    if (len - *at < 4)
        return ERR_INVALID;
    packet->extension_profile = wire_get16(data + *at);
    packet->extension_len = wire_get16(data + *at + 2) * (size_t)4;
    if (packet->extension_len > len - *at - 4)
        return ERR_INVALID;
    packet->extension = data + *at + 4;
    *at += 4 + packet->extension_len;
    return OK;
}

enum err rtp_parse(const uint8_t *data, size_t len, struct rtp_packet *out)
{
    if (len < RTP_HEADER_BYTES || data[0] >> 6 != 2)
        return ERR_INVALID;
    struct rtp_packet packet = {
        .payload_type = data[1] & 0x7F,
        .is_marked = data[1] & BIT_MARKER,
        .sequence = wire_get16(data + 2),
        .timestamp = wire_get32(data + 4),
        .ssrc = wire_get32(data + 8),
    };
    size_t at = RTP_HEADER_BYTES + (data[0] & 0x0Fu) * 4;
    if (at > len)
        return ERR_INVALID;
    if (data[0] & BIT_EXTENSION) {
        enum err err = read_extension(&packet, data, len, &at);
        if (err)
            return err;
    }
    size_t padding = 0;
    if (data[0] & BIT_PADDING) {
        padding = data[len - 1];
        if (padding == 0 || padding > len - at)
            return ERR_INVALID;
    }
    packet.payload = data + at;
    packet.len = len - at - padding;
    *out = packet;
    return OK;
}

/* One element: its id (0: padding), its header's length and its value's length. */
struct element {
    uint8_t id;
    size_t header_len, len;
};

static struct element read_element(bool is_one_byte, const uint8_t *at, size_t left)
{
    if (at[0] == 0)
        return (struct element){.header_len = 1};
    if (is_one_byte)
        return (struct element){.id = at[0] >> 4, .header_len = 1, .len = (at[0] & 0x0Fu) + 1};
    return (struct element){.id = at[0], .header_len = 2, .len = left > 1 ? at[1] : left};
}

enum err rtp_find_extension(const struct rtp_packet *packet, uint8_t id, const uint8_t **out,
                            size_t *out_len)
{
    bool is_one_byte = packet->extension_profile == PROFILE_ONE_BYTE;
    bool is_two_byte = (packet->extension_profile & 0xFFF0) == PROFILE_TWO_BYTE;
    if (!packet->extension || id == 0 || !(is_one_byte || is_two_byte))
        return ERR_NOT_FOUND;
    size_t at = 0;
    while (at < packet->extension_len) {
        size_t left = packet->extension_len - at;
        struct element element = read_element(is_one_byte, packet->extension + at, left);
        if ((is_one_byte && element.id == ONE_BYTE_STOP) || element.header_len + element.len > left)
            break;
        if (element.id == id) {
            *out = packet->extension + at + element.header_len;
            *out_len = element.len;
            return OK;
        }
        at += element.header_len + element.len;
    }
    return ERR_NOT_FOUND;
}

int rtp_level_dbov(const struct rtp_packet *packet, uint8_t id)
{
    const uint8_t *value;
    size_t len;
    if (rtp_find_extension(packet, id, &value, &len) != OK || len == 0)
        return RTP_NO_LEVEL;
    return -(value[0] & 0x7F);
}

void rtp_write_header(uint8_t *out, const struct rtp_packet *packet)
{
    out[0] = 2 << 6;
    out[1] = (uint8_t)((packet->is_marked ? BIT_MARKER : 0) | (packet->payload_type & 0x7F));
    wire_put16(out + 2, packet->sequence);
    wire_put32(out + 4, packet->timestamp);
    wire_put32(out + 8, packet->ssrc);
}
