/* One SCTP association as data channels need it (RFC 9260 with RFC 3758, 6525 and 8831): INIT and
 * COOKIE in both roles, DATA, SACK, HEARTBEAT, FORWARD-TSN, RE-CONFIG, ABORT, SHUTDOWN, fragments,
 * ordered and unordered streams, partial reliability by retransmissions. Sans-I/O: datagrams are
 * the payloads of DTLS, so there is one peer, one path and no address inside.
 *
 *     CLOSED --connect--> COOKIE_WAIT --INIT ACK--> COOKIE_ECHOED --COOKIE ACK--> OPEN
 *        '-------------------------COOKIE ECHO of the peer-------------------------^ |
 *     OPEN --shutdown--> SHUTDOWN_PENDING --all acknowledged--> SHUTDOWN_SENT --> ENDED
 *     OPEN --SHUTDOWN of the peer--> SHUTDOWN_RECEIVED --> SHUTDOWN_ACK_SENT --> ENDED
 *
 * Memory is bounded by the ceilings below whatever the peer does. Thread: its owner's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

struct sctp;

enum {
    SCTP_STREAMS = 16,              /* each way; labels, RPC and text need three */
    SCTP_MESSAGE_MAX_BYTES = 65536, /* one user message; a=max-message-size */
    SCTP_SEND_MAX_BYTES = 262144,   /* queued and not yet acknowledged */
    SCTP_SEND_MAX_CHUNKS = 1024,    /* of those; each SACK looks at all in flight */
    SCTP_RECEIVE_MAX_BYTES = 131072 /* the window that the peer is told */
};

struct sctp_config {
    uint16_t port;      /* both sides, 5000 by a=sctp-port */
    size_t mtu_bytes;   /* largest packet of sctp_output(); 0: 1,200 */
    uint32_t tag, tsn;  /* first verification tag and TSN; 0: random */
    uint8_t secret[32]; /* signs the state cookie; all zero: random */
};

enum sctp_event_type {
    SCTP_EVENT_OPEN,
    SCTP_EVENT_MESSAGE, /* data is borrowed until the next call of any function */
    SCTP_EVENT_RESET,   /* the peer has reset its outgoing stream `stream` */
    SCTP_EVENT_CLOSED   /* shut down, aborted or given up; the last event */
};

struct sctp_event {
    enum sctp_event_type type;
    uint16_t stream;
    uint32_t ppid;
    const uint8_t *data;
    size_t len;
    const char *reason; /* CLOSED: a word for the log */
};

struct sctp_send {
    uint16_t stream;
    uint32_t ppid;
    bool is_unordered;
    bool has_retransmit_limit;
    uint16_t max_retransmits; /* 0: each fragment is sent once */
};

struct sctp_stats {
    uint64_t packets_in, packets_out, retransmitted_chunks, messages_in, messages_out,
        messages_given_up;
    int64_t rtt_us; /* smoothed; 0: not measured */
};

struct sctp *sctp_new(const struct sctp_config *config);
void sctp_free(struct sctp *sctp);
DEFINE_AUTO(sctp)

/* Sends INIT. Either side may, and both may at once (RFC 9260 section 5.2). */
void sctp_connect(struct sctp *sctp, int64_t now_us);
void sctp_input(struct sctp *sctp, const uint8_t *data, size_t len, int64_t now_us);
/* Bytes of the next packet, at most the MTU; 0 when there is none. cap: the MTU at least. */
size_t sctp_output(struct sctp *sctp, uint8_t *out, size_t cap, int64_t now_us);
int64_t sctp_deadline_us(const struct sctp *sctp); /* INT64_MAX: none */
bool sctp_event(struct sctp *sctp, struct sctp_event *out);

/* Copies. Before OPEN it is queued. ERR_LIMIT: the message or the queue is too large.
 * ERR_CLOSED: the association has ended. ERR_INVALID: no such stream, or len is 0. */
enum err sctp_send(struct sctp *sctp, const struct sctp_send *how, const void *data,
                   size_t len) MUST_USE;
size_t sctp_queued_bytes(const struct sctp *sctp); /* sent by nobody yet or not acknowledged */
/* Resets our outgoing stream once all sent on it is acknowledged (closing a data channel). */
void sctp_reset_stream(struct sctp *sctp, uint16_t stream);
void sctp_shutdown(struct sctp *sctp, int64_t now_us);
void sctp_abort(struct sctp *sctp);
bool sctp_is_open(const struct sctp *sctp);
void sctp_stats(const struct sctp *sctp, struct sctp_stats *out);

/* CRC32c as RFC 9260 appendix A has it, of a whole packet whose checksum field counts as zero. */
uint32_t sctp_checksum(const uint8_t *packet, size_t len);
