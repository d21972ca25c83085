/* RTP packets (RFC 3550 section 5.1) with header extensions (RFC 8285, both forms): a bounded
 * parser into views, and the fixed header's writer. Thread: any. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

enum { RTP_HEADER_BYTES = 12, RTP_NO_LEVEL = 1 };

struct rtp_packet { /* pointers are into the datagram */
    uint8_t payload_type;
    bool is_marked;
    uint16_t sequence;
    uint32_t timestamp, ssrc;
    const uint8_t *payload;
    size_t len;
    uint16_t extension_profile;
    const uint8_t *extension; /* NULL: none */
    size_t extension_len;
};

/* ERR_INVALID: version, or lengths that do not add up. */
enum err rtp_parse(const uint8_t *data, size_t len, struct rtp_packet *out) MUST_USE;
/* The element with this id (1 to 255). ERR_NOT_FOUND. */
enum err rtp_find_extension(const struct rtp_packet *packet, uint8_t id, const uint8_t **out,
                            size_t *out_len) MUST_USE;
/* RFC 6464: 0 to -127 dBov; RTP_NO_LEVEL: the packet says none, or id is 0. */
int rtp_level_dbov(const struct rtp_packet *packet, uint8_t id);

/* Fixed header without extensions; RTP_HEADER_BYTES. */
void rtp_write_header(uint8_t *out, const struct rtp_packet *packet);
