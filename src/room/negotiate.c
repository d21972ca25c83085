#include "room/negotiate.h"

#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "rtc/peer.h"
#include "rtc/port.h"

enum {
    OPUS_PT = 111, /* what browsers use; any dynamic number would do */
    EXT_LEVEL = 1,
    EXT_MID = 4,
    SCTP_PORT = 5000,
    MESSAGE_MAX_BYTES = 65535
};

struct negotiate_own negotiate_own(const struct peer *peer, const struct port *port,
                                   bool is_ice_lite)
{
    struct negotiate_own own = {.is_ice_lite = is_ice_lite, .port = port};
    own.session_id = crypto_random_u64() >> 2;
    snprintf(own.transport.ufrag, SDP_ICE_SIZE, "%s", peer_ufrag(peer));
    snprintf(own.transport.pwd, SDP_ICE_SIZE, "%s", peer_pwd(peer));
    memcpy(own.transport.fingerprint, peer_fingerprint(peer), SDP_FINGERPRINT_BYTES);
    own.transport.has_fingerprint = true;
    return own;
}

static void add_candidates(const struct port *port, struct sdp *out)
{
    struct port_candidate list[SDP_CANDIDATES];
    size_t count = port ? port_candidates(port, list, SDP_CANDIDATES) : 0;
    for (size_t i = 0; i < count; i++) {
        char ip[NET_IP_SIZE];
        net_ip_print(&list[i].addr, ip);
        snprintf(out->candidates[out->candidate_count++], SDP_CANDIDATE_SIZE,
                 "%u 1 udp %u %s %u typ host", list[i].foundation, list[i].priority, ip,
                 list[i].addr.port);
    }
    out->has_all_candidates = true;
}

static void begin(const struct negotiate_own *own, struct sdp *out)
{
    memset(out, 0, sizeof(*out));
    out->session_id = own->session_id;
    out->session_version = own->session_version;
    out->is_ice_lite = own->is_ice_lite;
    add_candidates(own->port, out);
}

static void set_text(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from);
}

static void set_track(struct sdp_section *section, const struct negotiate_track *track)
{
    section->direction = SDP_SENDONLY;
    section->ssrc = track->ssrc;
    set_text(section->msid_stream, sizeof(section->msid_stream), track->stream);
    set_text(section->msid_track, sizeof(section->msid_track), track->sid);
    set_text(section->cname, sizeof(section->cname), track->sid);
}

/* Where our audio goes: the section of last time, else the first that the client only receives. */
static const struct sdp_section *find_free(const struct sdp *offer, const char *track_mid)
{
    const struct sdp_section *first = NULL;
    for (unsigned i = 0; i < offer->section_count; i++) {
        const struct sdp_section *section = &offer->sections[i];
        if (section->kind != SDP_AUDIO || section->is_rejected || section->codec_pt < 0 ||
            section->direction != SDP_RECVONLY)
            continue;
        if (strcmp(section->mid, track_mid) == 0)
            return section;
        first = first ? first : section;
    }
    return first;
}

static void answer_audio(const struct sdp_section *offered, bool is_ours,
                         const struct negotiate_track *track, struct sdp_section *section,
                         struct negotiate_result *out)
{
    if (offered->kind != SDP_AUDIO || section->is_rejected)
        return;
    if (out->payload_type < 0 || is_ours)
        out->payload_type = offered->codec_pt;
    if (offered->ext_level)
        out->level_extension = offered->ext_level;
    if (is_ours) {
        set_track(section, track);
        set_text(out->track_mid, sizeof(out->track_mid), offered->mid);
    } else if (offered->direction == SDP_SENDONLY || offered->direction == SDP_SENDRECV) {
        section->direction = SDP_RECVONLY;
        set_text(section->codec_fmtp, sizeof(section->codec_fmtp),
                 "minptime=10;useinbandfec=1;usedtx=1");
    }
}

void negotiate_answer(const struct sdp *offer, const struct negotiate_own *own,
                      const struct negotiate_track *track, const char *track_mid,
                      struct sdp *out_answer, struct negotiate_result *out)
{
    const struct sdp_transport *theirs = NULL;
    bool has_theirs = sdp_bundle_transport(offer, &theirs, NULL) == OK;
    *out = (struct negotiate_result){.payload_type = -1, .sctp_port = SCTP_PORT};
    out->is_dtls_client = has_theirs && theirs->setup == SDP_PASSIVE;
    const struct sdp_section *free_one = track->sid ? find_free(offer, track_mid) : NULL;
    begin(own, out_answer);
    for (unsigned i = 0; i < offer->section_count; i++) {
        const struct sdp_section *offered = &offer->sections[i];
        struct sdp_section *section = &out_answer->sections[out_answer->section_count++];
        sdp_answer_section(offered, section);
        section->transport = own->transport;
        section->transport.setup = out->is_dtls_client ? SDP_ACTIVE : SDP_PASSIVE;
        answer_audio(offered, offered == free_one, track, section, out);
        if (section->kind != SDP_APPLICATION || section->is_rejected)
            continue;
        out->has_data = true;
        out->sctp_port = offered->sctp_port ? offered->sctp_port : SCTP_PORT;
        section->sctp_port = out->sctp_port;
        section->max_message_bytes = MESSAGE_MAX_BYTES;
    }
}

static struct sdp_section *add_section(const struct negotiate_own *own, enum sdp_kind kind,
                                       struct sdp *out)
{
    struct sdp_section *section = &out->sections[out->section_count];
    snprintf(section->mid, sizeof(section->mid), "%u", out->section_count++);
    section->kind = kind;
    section->is_bundled = section->has_rtcp_mux = true;
    section->transport = own->transport;
    section->transport.setup = SDP_ACTPASS;
    section->direction = SDP_INACTIVE;
    section->red_pt = -1;
    bool is_audio = kind == SDP_AUDIO;
    set_text(section->media, sizeof(section->media), is_audio ? "audio" : "application");
    set_text(section->protocol, sizeof(section->protocol),
             is_audio ? "UDP/TLS/RTP/SAVPF" : "UDP/DTLS/SCTP");
    if (is_audio) {
        section->codec_pt = OPUS_PT;
        section->ext_level = EXT_LEVEL;
        section->ext_mid = EXT_MID;
        set_text(section->codec_name, sizeof(section->codec_name), "opus/48000/2");
        set_text(section->codec_fmtp, sizeof(section->codec_fmtp), "minptime=10;useinbandfec=1");
    } else {
        section->is_datachannel = true;
        section->sctp_port = SCTP_PORT;
        section->max_message_bytes = MESSAGE_MAX_BYTES;
    }
    return section;
}

void negotiate_downlink(const struct negotiate_own *own, const struct negotiate_track *track,
                        struct sdp *out_offer)
{
    begin(own, out_offer);
    struct sdp_section *audio = add_section(own, SDP_AUDIO, out_offer);
    if (track->sid)
        set_track(audio, track);
    add_section(own, SDP_APPLICATION, out_offer);
}

void negotiate_uplink(const struct negotiate_own *own, const struct negotiate_track *track,
                      bool has_downlink, struct sdp *out_offer)
{
    begin(own, out_offer);
    set_track(add_section(own, SDP_AUDIO, out_offer), track);
    add_section(own, SDP_APPLICATION, out_offer);
    if (has_downlink)
        add_section(own, SDP_AUDIO, out_offer)->direction = SDP_RECVONLY;
}

void negotiate_read_answer(const struct sdp *answer, struct negotiate_result *out)
{
    const struct sdp_transport *theirs = NULL;
    *out = (struct negotiate_result){.payload_type = -1, .sctp_port = SCTP_PORT};
    if (sdp_bundle_transport(answer, &theirs, NULL) == OK)
        out->is_dtls_client = theirs->setup == SDP_PASSIVE;
    for (unsigned i = 0; i < answer->section_count; i++) {
        const struct sdp_section *section = &answer->sections[i];
        if (section->is_rejected)
            continue;
        if (section->kind == SDP_AUDIO && out->payload_type < 0) {
            out->payload_type = section->codec_pt;
            out->level_extension = section->ext_level;
        } else if (section->kind == SDP_APPLICATION && section->is_datachannel) {
            out->has_data = true;
            out->sctp_port = section->sctp_port ? section->sctp_port : SCTP_PORT;
        }
    }
}
