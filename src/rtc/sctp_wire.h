/* SCTP packets as bytes: common header, checksum, chunks and parameters (RFC 9260 section 3).
 * Reading never passes the end; a length that does not fit ends the iteration.
 *
 *      0                   1                   2                   3
 *     | source port                   | destination port              |
 *     | verification tag                                              |
 *     | checksum (CRC32c, little-endian)                              |
 *     | chunk type    | flags         | length (header and value)     |  repeated, padded to 4
 *
 * Thread: any. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    SCTP_HEADER_BYTES = 12,
    SCTP_CHUNK_HEADER_BYTES = 4,
    SCTP_DATA_HEADER_BYTES = 12, /* of a DATA chunk's value: TSN, stream, SSN, PPID */
};

enum sctp_chunk_type {
    SCTP_DATA = 0,
    SCTP_INIT = 1,
    SCTP_INIT_ACK = 2,
    SCTP_SACK = 3,
    SCTP_HEARTBEAT = 4,
    SCTP_HEARTBEAT_ACK = 5,
    SCTP_ABORT = 6,
    SCTP_SHUTDOWN = 7,
    SCTP_SHUTDOWN_ACK = 8,
    SCTP_ERROR = 9,
    SCTP_COOKIE_ECHO = 10,
    SCTP_COOKIE_ACK = 11,
    SCTP_SHUTDOWN_COMPLETE = 14,
    SCTP_RE_CONFIG = 130,
    SCTP_FORWARD_TSN = 192
};

enum sctp_data_flag {
    SCTP_FLAG_END = 1,
    SCTP_FLAG_BEGIN = 2,
    SCTP_FLAG_UNORDERED = 4,
    SCTP_FLAG_IMMEDIATE = 8
};

/* A chunk or a parameter: type (8 bits and flags, or 16 bits) and value. */
struct sctp_tlv {
    uint16_t type;
    uint8_t flags;
    const uint8_t *value;
    size_t len;
};

struct sctp_reader {
    const uint8_t *at;
    size_t left;
    bool is_broken; /* a length did not fit */
};

bool sctp_read_chunk(struct sctp_reader *reader, struct sctp_tlv *out);
bool sctp_read_param(struct sctp_reader *reader, struct sctp_tlv *out);

/* A packet being written into the caller's memory. */
struct sctp_packet {
    uint8_t *data;
    size_t len, cap;
};

void sctp_packet_begin(struct sctp_packet *packet, uint8_t *data, size_t cap, uint16_t port,
                       uint32_t tag);
/* Room for a chunk with that much value: the value to fill (zeroed), or NULL when it does not fit.
 */
uint8_t *sctp_put_chunk(struct sctp_packet *packet, uint8_t type, uint8_t flags, size_t value_len);
size_t sctp_packet_room(const struct sctp_packet *packet); /* value bytes of a further chunk */
size_t sctp_packet_end(struct sctp_packet *packet);        /* checksum; the length, 0 if empty */
bool sctp_packet_is_sound(const uint8_t *data, size_t len, uint16_t port);

static inline uint16_t sctp_get16(const uint8_t *at)
{
    return (uint16_t)(at[0] << 8 | at[1]);
}

static inline uint32_t sctp_get32(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static inline void sctp_put16(uint8_t *at, uint16_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

static inline void sctp_put32(uint8_t *at, uint32_t value)
{
    sctp_put16(at, (uint16_t)(value >> 16));
    sctp_put16(at + 2, (uint16_t)value);
}

/* Serial number arithmetic (RFC 1982): is a after b? */
static inline bool sctp_tsn_after(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) > 0;
}

static inline bool sctp_ssn_after(uint16_t a, uint16_t b)
{
    return (int16_t)(uint16_t)(a - b) > 0;
}
