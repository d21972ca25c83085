/* INIT and INIT ACK: what each side says of itself, and the state cookie that carries it through
 * the handshake without state of ours (RFC 9260 section 5.1.3): the fields and an HMAC-SHA256 over
 * them. Thread: any. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rtc/sctp_wire.h"

enum {
    SCTP_COOKIE_BYTES = 16 + 32,
    SCTP_PEER_COOKIE_MAX_BYTES = 1024, /* of the peer, echoed by us; must fit in one packet */
    SCTP_INIT_BYTES = 16
};

struct sctp_peer {
    uint32_t tag, first_tsn, window_bytes;
    uint16_t streams_out;
    bool can_forward, can_reconfig;
};

/* The value of INIT or INIT ACK. out_cookie: its State Cookie, if any. False: malformed. */
bool sctp_read_init(const struct sctp_tlv *chunk, struct sctp_peer *out,
                    struct sctp_tlv *out_cookie);
/* What we say of ourselves. */
struct sctp_own {
    uint32_t tag, first_tsn;
};

/* INIT, or with an inquirer the INIT ACK with its cookie; stands alone in its packet. */
void sctp_write_init(struct sctp_packet *packet, const struct sctp_own *own,
                     const uint8_t secret[32], const struct sctp_peer *inquirer);
void sctp_write_cookie(const uint8_t secret[32], const struct sctp_peer *peer,
                       uint8_t out[SCTP_COOKIE_BYTES]);
bool sctp_read_cookie(const uint8_t secret[32], const uint8_t *data, size_t len,
                      struct sctp_peer *out);
