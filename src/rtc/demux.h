/* Which protocol a datagram belongs to, by its first bytes (RFC 7983; RTCP by RFC 5761 section 4).
 * Done once for each datagram, where it enters; what it found goes up with it. Thread: any. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "rtc/stun.h"

enum demux_kind { DEMUX_UNKNOWN, DEMUX_STUN, DEMUX_DTLS, DEMUX_RTP, DEMUX_RTCP };

struct demux_packet {
    enum demux_kind kind;
    uint8_t *data; /* the datagram, borrowed; RTP and RTCP are opened in place */
    size_t len;
    struct stun_message stun; /* set when the kind is STUN: it points into data */
};

/* STUN that cannot be parsed is UNKNOWN. */
void demux_read(uint8_t *data, size_t len, struct demux_packet *out);
/* By the first bytes alone. */
enum demux_kind demux_kind(const uint8_t *data, size_t len);
