#include "rtc/sctp_wire.h"

#include "rtc/sctp.h"

static size_t padded(size_t len)
{
    return (len + 3) & ~(size_t)3;
}

static bool read_tlv(struct sctp_reader *reader, struct sctp_tlv *out)
{
    if (reader->left == 0)
        return false;
    size_t len = reader->left >= 4 ? sctp_get16(reader->at + 2) : 0;
    if (len < 4 || len > reader->left) {
        reader->is_broken = true;
        reader->left = 0;
        return false;
    }
    out->value = reader->at + 4;
    out->len = len - 4;
    size_t step = padded(len) < reader->left ? padded(len) : reader->left;
    reader->at += step;
    reader->left -= step;
    return true;
}

bool sctp_read_chunk(struct sctp_reader *reader, struct sctp_tlv *out)
{
    const uint8_t *at = reader->at;
    if (!read_tlv(reader, out))
        return false;
    out->type = at[0];
    out->flags = at[1];
    return true;
}

bool sctp_read_param(struct sctp_reader *reader, struct sctp_tlv *out)
{
    const uint8_t *at = reader->at;
    if (!read_tlv(reader, out))
        return false;
    out->type = sctp_get16(at);
    out->flags = 0;
    return true;
}

void sctp_packet_begin(struct sctp_packet *packet, uint8_t *data, size_t cap, uint16_t port,
                       uint32_t tag)
{
    packet->data = data;
    packet->cap = cap;
    packet->len = SCTP_HEADER_BYTES;
    memset(data, 0, SCTP_HEADER_BYTES);
    sctp_put16(data, port);
    sctp_put16(data + 2, port);
    sctp_put32(data + 4, tag);
}

uint8_t *sctp_put_chunk(struct sctp_packet *packet, uint8_t type, uint8_t flags, size_t value_len)
{
    size_t need = padded(SCTP_CHUNK_HEADER_BYTES + value_len);
    if (need > packet->cap - packet->len || value_len > UINT16_MAX - SCTP_CHUNK_HEADER_BYTES)
        return NULL;
    uint8_t *at = packet->data + packet->len;
    memset(at, 0, need);
    at[0] = type;
    at[1] = flags;
    sctp_put16(at + 2, (uint16_t)(SCTP_CHUNK_HEADER_BYTES + value_len));
    packet->len += need;
    return at + SCTP_CHUNK_HEADER_BYTES;
}

size_t sctp_packet_room(const struct sctp_packet *packet)
{
    size_t left = (packet->cap - packet->len) & ~(size_t)3;
    return left > SCTP_CHUNK_HEADER_BYTES ? left - SCTP_CHUNK_HEADER_BYTES : 0;
}

size_t sctp_packet_end(struct sctp_packet *packet)
{
    if (packet->len == SCTP_HEADER_BYTES)
        return 0;
    uint32_t sum = sctp_checksum(packet->data, packet->len);
    for (int i = 0; i < 4; i++)
        packet->data[8 + i] = (uint8_t)(sum >> 8 * i);
    return packet->len;
}

bool sctp_packet_is_sound(const uint8_t *data, size_t len, uint16_t port)
{
    if (len < SCTP_HEADER_BYTES + SCTP_CHUNK_HEADER_BYTES || sctp_get16(data + 2) != port ||
        sctp_get16(data) != port)
        return false;
    uint32_t sum = (uint32_t)data[8] | (uint32_t)data[9] << 8 | (uint32_t)data[10] << 16 |
                   (uint32_t)data[11] << 24;
    return sum == sctp_checksum(data, len);
}

/* Half a byte at a time over the reflected polynomial 0x82F63B78: data is a trickle of text here,
 * and 64 bytes of table stay in the cache. */
static uint32_t crc_bytes(uint32_t crc, const uint8_t *data, size_t len)
{
    static const uint32_t table[16] = {
        0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
        0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
        0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
    };
    for (size_t i = 0; i < len; i++) {
        crc ^= data[i];
        crc = table[crc & 15] ^ crc >> 4;
        crc = table[crc & 15] ^ crc >> 4;
    }
    return crc;
}

uint32_t sctp_checksum(const uint8_t *packet, size_t len)
{
    static const uint8_t zero[4];
    uint32_t crc = crc_bytes(UINT32_MAX, packet, 8);
    crc = crc_bytes(crc, zero, sizeof(zero));
    return ~crc_bytes(crc, packet + SCTP_HEADER_BYTES, len - SCTP_HEADER_BYTES);
}
