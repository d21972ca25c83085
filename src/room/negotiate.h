/* Which section of a description carries what: the answer to a client's offer, the server's offer
 * of the downlink (dual peer connection), and a client's offers. Pure functions over rtc/sdp.h.
 * Thread: any. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "rtc/sdp.h"

struct peer;
struct port;

/* One side's transport, as it goes into each of its descriptions. */
struct negotiate_own {
    struct sdp_transport transport;
    bool is_ice_lite;
    uint64_t session_id, session_version;
    const struct port *port; /* its candidates are written; NULL: none */
};

/* Our audio; sid NULL: there is none. */
struct negotiate_track {
    const char *stream; /* "PA_x|TR_y" of a server, any of a client */
    const char *sid;    /* track id: "TR_y", or the client's cid */
    uint32_t ssrc;
};

struct negotiate_result {
    char track_mid[SDP_MID_SIZE]; /* the section of our audio; "" if none was free */
    int payload_type;             /* of opus, both ways; -1: no audio was negotiated */
    uint8_t level_extension;      /* 0: none */
    bool has_data;
    uint16_t sctp_port;
    bool is_dtls_client; /* this side */
};

struct negotiate_own negotiate_own(const struct peer *peer, const struct port *port,
                                   bool is_ice_lite);

/* track_mid: where our audio stood in the last answer ("" at first): it stays there. Free sections
 * are those that the client offers recvonly; what it sends is accepted recvonly. */
void negotiate_answer(const struct sdp *offer, const struct negotiate_own *own,
                      const struct negotiate_track *track, const char *track_mid,
                      struct sdp *out_answer, struct negotiate_result *out);
/* The server's downlink: our audio (inactive without a track) and a data section. */
void negotiate_downlink(const struct negotiate_own *own, const struct negotiate_track *track,
                        struct sdp *out_offer);
/* A client's offer: microphone (msid: stream and cid), data, and when has_downlink a section to
 * hear by. */
void negotiate_uplink(const struct negotiate_own *own, const struct negotiate_track *track,
                      bool has_downlink, struct sdp *out_offer);
/* What an answer to an offer of ours says. */
void negotiate_read_answer(const struct sdp *answer, struct negotiate_result *out);
