/* Which protocol a datagram belongs to, by its first bytes (RFC 7983; RTCP by RFC 5761 section 4).
 * Thread: any. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum demux_kind { DEMUX_UNKNOWN, DEMUX_STUN, DEMUX_DTLS, DEMUX_RTP, DEMUX_RTCP };

enum demux_kind demux_kind(const uint8_t *data, size_t len);
