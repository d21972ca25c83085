/* The sending half of an association: fragments waiting, in flight, acknowledged, lost, given up;
 * congestion window, retransmission timer and round-trip time (RFC 9260 sections 6 and 7, RFC
 * 3758). TSNs are given when a fragment is first sent. Thread: its owner's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "rtc/sctp.h"
#include "rtc/sctp_wire.h"

struct sctp_tx {
    size_t mtu_bytes;
    uint32_t next_tsn;
    uint32_t acked_tsn;       /* cumulative, of the peer's SACKs */
    uint32_t forward_tsn;     /* all up to it are acknowledged or given up (RFC 3758 C1) */
    bool peer_can_forward;    /* FORWARD-TSN was negotiated */
    bool wants_forward;       /* one has to be sent */
    struct list_node waiting; /* never sent, oldest first */
    struct list_node flight;  /* sent, by TSN; acknowledged ones until acked_tsn passes them */
    size_t queued_bytes;      /* of both lists */
    size_t chunk_count;       /* in them */
    size_t flight_bytes;      /* sent, not acknowledged, not lost */
    size_t peer_window_bytes;
    size_t cwnd_bytes, ssthresh_bytes, partial_bytes;
    bool is_recovering; /* until recovery_tsn is acknowledged: no second cut */
    uint32_t recovery_tsn;
    int64_t rto_us, srtt_us, rttvar_us;
    int64_t timer_us;  /* T3-rtx; INT64_MAX: stopped */
    unsigned timeouts; /* in a row */
    uint32_t next_message;
    uint16_t next_ssn[SCTP_STREAMS];
    uint64_t retransmitted, given_up;
};

void sctp_tx_init(struct sctp_tx *tx, uint32_t first_tsn, size_t mtu_bytes);
void sctp_tx_clear(struct sctp_tx *tx);
void sctp_tx_peer(struct sctp_tx *tx, uint32_t window_bytes, bool can_forward);
enum err sctp_tx_queue(struct sctp_tx *tx, const struct sctp_send *how, const void *data,
                       size_t len) MUST_USE;
/* Writes FORWARD-TSN, lost fragments and, as the windows allow, new ones. */
void sctp_tx_write(struct sctp_tx *tx, struct sctp_packet *packet, int64_t now_us);
/* A SACK chunk's value. False: the peer acknowledges what was never sent. */
bool sctp_tx_sack(struct sctp_tx *tx, const uint8_t *value, size_t len, int64_t now_us);
void sctp_tx_timeout(struct sctp_tx *tx, int64_t now_us); /* timer_us is due */
bool sctp_tx_is_idle(const struct sctp_tx *tx);           /* nothing waiting or in flight */
bool sctp_tx_has_stream(const struct sctp_tx *tx, uint16_t stream); /* something of it is queued */
