/* The receiving half of an association: which TSNs have come, fragments waiting for their message,
 * messages waiting for their turn, and what the SACK says. Thread: its owner's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "rtc/sctp.h"
#include "rtc/sctp_wire.h"

enum {
    SCTP_RX_TSN_WINDOW = 1024, /* TSNs ahead of the cumulative one that are taken */
    SCTP_RX_DUPLICATES = 8,    /* told in one SACK */
    SCTP_RX_GAP_BLOCKS = 32,
    /* Held for want of others; the longest message has 58. Each that comes may look at all. */
    SCTP_RX_FRAGMENTS = 128
};

struct sctp_rx {
    uint32_t cum_tsn;                      /* all up to it have come */
    uint32_t top_tsn;                      /* the highest that has come */
    uint64_t has[SCTP_RX_TSN_WINDOW / 64]; /* bit tsn % window, those after cum_tsn only */
    struct list_node fragments;            /* by TSN */
    struct list_node ready;                /* whole messages, oldest first */
    unsigned fragment_count;
    size_t held_bytes; /* of both lists, bookkeeping included */
    uint16_t next_ssn[SCTP_STREAMS];
    uint32_t duplicates[SCTP_RX_DUPLICATES];
    unsigned duplicate_count;
};

/* A whole message, its bytes after it. */
struct sctp_message {
    struct list_node node;
    uint16_t stream;
    uint32_t ppid;
    size_t len;
    uint8_t data[];
};

enum sctp_rx_result {
    SCTP_RX_TAKEN,
    SCTP_RX_DUPLICATE,
    SCTP_RX_NO_ROOM, /* dropped; the peer sends it again */
    SCTP_RX_FATAL    /* the peer breaks the protocol */
};

void sctp_rx_init(struct sctp_rx *rx, uint32_t first_tsn);
void sctp_rx_clear(struct sctp_rx *rx);
enum sctp_rx_result sctp_rx_data(struct sctp_rx *rx, const struct sctp_tlv *chunk);
/* A FORWARD-TSN chunk's value. */
void sctp_rx_forward(struct sctp_rx *rx, const uint8_t *value, size_t len);
void sctp_rx_reset_stream(struct sctp_rx *rx, uint16_t stream);
bool sctp_rx_has_gaps(const struct sctp_rx *rx);
void sctp_rx_write_sack(struct sctp_rx *rx, struct sctp_packet *packet);
struct sctp_message *sctp_rx_take(struct sctp_rx *rx); /* NULL: none; mem_free */
