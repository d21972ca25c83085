/* One WebRTC transport (BUNDLE, rtcp-mux): ICE, DTLS, SRTP, one Opus track each way, RTCP, data
 * channels. Sans-I/O (RFC 8445, 6347, 5764, 3711, 3550, 8831): whoever owns the socket feeds
 * datagrams and carries out peer_output(); rtc/port.h does that for a whole media loop.
 *
 *     datagram -> demux -+- STUN ------> ice_lite | ice_client -> validated paths, selected path
 *                        +- DTLS ------> dtls ------------------> keys, data channels (rtc/data.h)
 *                        +- RTP, RTCP -> seal -> rtp, rtcp -----> audio, statistics
 *
 * Only STUN is taken from anywhere; everything else only over paths that ICE has validated.
 *
 * Two roles. PEER_LITE answers checks and learns of a lost peer by silence alone (RFC 8445 section
 * 2.5, no checks of its own). PEER_CONTROLLING checks the peer's host candidates, nominates, and
 * asks for consent (RFC 7675). Local credentials stay for the life of a peer: a restart of the
 * other side is peer_set_remote() again, and lite never needed the remote ones.
 *
 * Thread: its owner's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "net/addr.h"
#include "rtc/data.h"
#include "rtc/dtls.h"

struct demux_packet;
struct ice_path;
struct peer;

enum peer_role { PEER_LITE, PEER_CONTROLLING };

enum {
    PEER_MTU_BYTES = 1200, /* no datagram is larger; fits every path without fragments */
    PEER_OPUS_MAX_BYTES = 1100
};

struct peer_config {
    enum peer_role role;
    struct dtls_identity *identity; /* borrowed, outlives the peer */
    const char *ufrag;              /* copied, 4 to 32 characters; NULL: random */
    int64_t silence_limit_us;       /* without any packet: SILENT; 0: 10 s */
    int64_t handshake_limit_us;     /* DTLS not up so long after its start: FAILED; 0: 30 s */
};

/* What the other side's description says. */
struct peer_remote {
    const char *ufrag, *pwd;
    uint8_t fingerprint[DTLS_FINGERPRINT_BYTES];
    bool is_dtls_client; /* of this side: it opens the handshake; the peer is a=setup:passive */
};

enum peer_event_type {
    PEER_EVENT_CONNECTED, /* ICE and DTLS are up, keys are in place; once */
    PEER_EVENT_SILENT,    /* nothing came for the silence limit; the peer stays as it is */
    PEER_EVENT_BACK,      /* a packet came after SILENT */
    PEER_EVENT_AUDIO,     /* one RTP packet */
    PEER_EVENT_DATA,      /* an event of rtc/data.h */
    PEER_EVENT_FLOODED,   /* it goes on sending far more than it may (budget.h); once */
    PEER_EVENT_CLOSED,    /* the other side has closed DTLS; nothing but SILENT comes after it */
    PEER_EVENT_FAILED     /* handshake refused or too late; nothing comes after it */
};

struct peer_audio { /* payload is borrowed until the next call of any function */
    const uint8_t *payload;
    size_t len;
    uint32_t ssrc, timestamp;
    uint16_t sequence;
    uint8_t payload_type;
    bool is_marked;
    int level_dbov; /* 0 to -127; 1: not said */
};

struct peer_event {
    enum peer_event_type type;
    struct peer_audio audio; /* AUDIO */
    struct data_event data;  /* DATA */
    const char *reason;      /* FAILED: a sentence for the log */
};

/* local: from which of our addresses; all zero: the system chooses. */
struct peer_datagram {
    struct net_addr local, to;
    const uint8_t *data; /* borrowed until the next call of any function */
    size_t len;
};

struct peer_stats {
    uint64_t packets_received, bytes_received, packets_lost; /* of the current incoming stream */
    uint64_t packets_sent, bytes_sent, packets_resent;
    uint64_t packets_refused; /* no valid path, bad tag, replay, malformed */
    uint64_t packets_dropped; /* over what a peer may send */
    double jitter_ms;         /* of what we receive; negative: not measured */
    double rtt_ms;            /* from the peer's reports; negative: not measured */
    double remote_loss;       /* fraction 0 to 1 of its last report; negative: none came */
    int64_t last_packet_us;   /* any authenticated packet; 0: none */
};

struct peer *peer_new(const struct peer_config *config, int64_t now_us);
void peer_free(struct peer *peer);
DEFINE_AUTO(peer)

const char *peer_ufrag(const struct peer *peer);
const char *peer_pwd(const struct peer *peer);
const uint8_t *peer_fingerprint(const struct peer *peer); /* DTLS_FINGERPRINT_BYTES */
uint32_t peer_ssrc(const struct peer *peer);              /* of our audio */

/* First description, or a later one with new credentials (ICE restart). Checks and a ClientHello
 * that come before it are answered all the same; CONNECTED waits for it.
 * ERR_INVALID: ufrag or pwd has a bad length. ERR_CONFLICT: another fingerprint or DTLS role than
 * the running session has. */
enum err peer_set_remote(struct peer *peer, const struct peer_remote *remote,
                         int64_t now_us) MUST_USE;
/* Controlling role: where the other side can be reached by UDP. ERR_LIMIT: 16 are known. */
enum err peer_add_remote_candidate(struct peer *peer, const struct net_addr *addr,
                                   uint32_t priority) MUST_USE;
/* Negotiated id of the audio level header extension (RFC 6464); 0: none. */
void peer_set_level_extension(struct peer *peer, uint8_t id);
/* An application section was negotiated: SCTP starts as soon as DTLS is up. After
 * peer_set_remote(). Safe to repeat. */
void peer_enable_data(struct peer *peer, uint16_t sctp_port, int64_t now_us);
/* For data_open(), data_send(), data_find(); NULL before peer_enable_data(). After using it:
 * peer_output() (port_pump()). */
struct data *peer_data(struct peer *peer);

/* Its data is overwritten (opened in place). False: it was over the peer's budget (lite role), and
 * nothing was done for it. */
bool peer_input(struct peer *peer, const struct ice_path *path, const struct demux_packet *packet,
                int64_t now_us);
/* The next datagram to send; call until false. Runs the timers that are due, which may make
 * events. */
bool peer_output(struct peer *peer, struct peer_datagram *out, int64_t now_us);
int64_t peer_deadline_us(const struct peer *peer); /* INT64_MAX: none */
bool peer_event(struct peer *peer, struct peer_event *out);

struct peer_opus {
    const uint8_t *payload;
    size_t len;         /* 1 to PEER_OPUS_MAX_BYTES */
    uint32_t timestamp; /* 48 kHz units; a random offset is added on the wire */
    uint8_t payload_type;
    bool is_first; /* begins a talk spurt: RTP marker */
};

/* Copies. Dropped silently before CONNECTED. */
void peer_send_audio(struct peer *peer, const struct peer_opus *opus, int64_t now_us);
/* Tells the other side (DTLS close_notify, SCTP abort); what remains is peer_output(). */
void peer_close(struct peer *peer, int64_t now_us);

bool peer_is_connected(const struct peer *peer);
bool peer_is_silent(const struct peer *peer);
/* Has ICE validated this path? The port routes by that. */
bool peer_has_path(const struct peer *peer, const struct net_addr *local,
                   const struct net_addr *from);
void peer_stats(const struct peer *peer, struct peer_stats *out);
