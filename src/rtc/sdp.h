/* Session descriptions (RFC 8866, JSEP RFC 8829) as far as a bundled voice session needs them: a
 * strict bounded parser into a plain struct, a writer, and the answer to one offered section.
 * Unknown attributes are skipped; malformed known ones, over-long values and too many sections are
 * refused with a sentence. Thread: any. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"

enum {
    SDP_MAX_BYTES = 131072, /* Chrome's widest offer with six sections is 18 KB */
    SDP_SECTIONS = 32,
    SDP_CANDIDATES = 32,
    SDP_MID_SIZE = 33,
    SDP_ICE_SIZE = 257, /* RFC 8839 section 5.4: ufrag and pwd of at most 256 */
    SDP_NAME_SIZE = 129,
    SDP_CANDIDATE_SIZE = 256,
    SDP_FINGERPRINT_BYTES = 32, /* sha-256 */
    SDP_FMTP_SIZE = 129
};

enum sdp_kind { SDP_AUDIO, SDP_VIDEO, SDP_APPLICATION, SDP_OTHER };
enum sdp_direction { SDP_SENDRECV, SDP_SENDONLY, SDP_RECVONLY, SDP_INACTIVE };
enum sdp_setup { SDP_SETUP_NONE, SDP_ACTPASS, SDP_ACTIVE, SDP_PASSIVE };

struct sdp_transport {
    char ufrag[SDP_ICE_SIZE];
    char pwd[SDP_ICE_SIZE];
    uint8_t fingerprint[SDP_FINGERPRINT_BYTES];
    bool has_fingerprint;
    enum sdp_setup setup;
};

struct sdp_section {
    enum sdp_kind kind;
    char media[16];    /* "audio" ... as in the m-line */
    char protocol[32]; /* "UDP/TLS/RTP/SAVPF", "UDP/DTLS/SCTP" */
    bool is_rejected;  /* port 0, not bundle-only */
    bool is_bundled;
    bool has_rtcp_mux;
    char mid[SDP_MID_SIZE];
    enum sdp_direction direction;
    struct sdp_transport transport; /* session level values where the section has none */

    /* Audio and video. Payload types are -1 when not offered. */
    int codec_pt;        /* audio: opus; video: the first VP8 or else the first of the list */
    int red_pt;          /* red/48000 around opus */
    char codec_name[32]; /* as in the rtpmap: "opus/48000/2", "VP8/90000" */
    char codec_fmtp[SDP_FMTP_SIZE];
    uint8_t ext_mid, ext_level; /* RTP header extension ids; 0: not offered */
    char msid_stream[SDP_NAME_SIZE];
    char msid_track[SDP_NAME_SIZE];
    uint32_t ssrc; /* 0: none said */
    char cname[SDP_NAME_SIZE];

    /* Application. */
    bool is_datachannel;
    uint16_t sctp_port;
    uint32_t max_message_bytes;
};

struct sdp {
    uint64_t session_id;
    uint64_t session_version;
    bool is_ice_lite;
    unsigned section_count;
    struct sdp_section sections[SDP_SECTIONS];
    unsigned candidate_count; /* all sections', in order; what exceeds the array is skipped */
    char candidates[SDP_CANDIDATES][SDP_CANDIDATE_SIZE]; /* after "candidate:" */
    bool has_all_candidates;                             /* a=end-of-candidates */
};

/* On the heap: it is some 40 KB. */
struct sdp *sdp_new(void);
void sdp_free(struct sdp *sdp);
DEFINE_AUTO(sdp)

/* ERR_INVALID, ERR_LIMIT: the fault says which line and why. */
enum err sdp_parse(const char *text, size_t len, struct sdp *out, struct fault *fault) MUST_USE;
/* Writes what the struct says; each section carries its own transport. ERR_LIMIT: buffer full. */
enum err sdp_write(const struct sdp *sdp, struct buf *out) MUST_USE;

/* The transport of the BUNDLE group: that of the first section which is not rejected.
 * ERR_INVALID: no section, no credentials or no fingerprint. */
enum err sdp_bundle_transport(const struct sdp *sdp, const struct sdp_transport **out,
                              struct fault *fault) MUST_USE;

/* Fills *out with the negotiated subset of an offered section: same kind and mid, the offered
 * payload types and extension ids that we use, direction inactive; the caller sets direction, msid,
 * ssrc and transport. Audio without opus and kinds that we do not know come out rejected. RED is
 * not taken up: without it clients send plain Opus. */
void sdp_answer_section(const struct sdp_section *offered, struct sdp_section *out);
