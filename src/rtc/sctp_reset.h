/* Resetting streams (RE-CONFIG, RFC 6525), which is how data channels close (RFC 8831 section 6.7):
 * our requests with their retransmission, and the peer's. Thread: its owner's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sctp_packet;
struct sctp_rx;
struct sctp_tx;

struct sctp_reset {
    bool peer_can;
    uint16_t asked;     /* streams of ours to be reset, one bit each */
    uint16_t under_way; /* those in the request that waits for its answer */
    uint16_t told;      /* streams of the peer that were reset: events */
    uint32_t next_seq;  /* of our requests */
    uint32_t last_tsn;  /* in the request under way */
    uint32_t peer_seq;  /* expected from the peer */
    uint32_t answer_seq, answer_result;
    bool wants_request, wants_answer;
    unsigned tries;
    int64_t due_us;
};

void sctp_reset_init(struct sctp_reset *reset, uint32_t first_seq);
void sctp_reset_peer(struct sctp_reset *reset, uint32_t first_seq, bool can_reconfig);
void sctp_reset_ask(struct sctp_reset *reset, uint16_t stream);
void sctp_reset_input(struct sctp_reset *reset, const uint8_t *value, size_t len,
                      struct sctp_rx *rx, struct sctp_tx *tx);
void sctp_reset_timeout(struct sctp_reset *reset, int64_t now_us);
void sctp_reset_write(struct sctp_reset *reset, struct sctp_packet *packet,
                      const struct sctp_tx *tx, int64_t now_us);
bool sctp_reset_event(struct sctp_reset *reset, uint16_t *out_stream);
int64_t sctp_reset_deadline_us(const struct sctp_reset *reset);
