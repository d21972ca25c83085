#include <inttypes.h>

#include "rtc/sdp.h"

static const char *const direction_names[] = {
    [SDP_SENDRECV] = "sendrecv",
    [SDP_SENDONLY] = "sendonly",
    [SDP_RECVONLY] = "recvonly",
    [SDP_INACTIVE] = "inactive",
};

static const char *const setup_names[] = {
    [SDP_SETUP_NONE] = "actpass",
    [SDP_ACTPASS] = "actpass",
    [SDP_ACTIVE] = "active",
    [SDP_PASSIVE] = "passive",
};

static void write_transport(const struct sdp_transport *transport, struct buf *out)
{
    buf_printf(out, "a=ice-ufrag:%s\r\na=ice-pwd:%s\r\na=fingerprint:sha-256 ", transport->ufrag,
               transport->pwd);
    for (int i = 0; i < SDP_FINGERPRINT_BYTES; i++)
        buf_printf(out, "%s%02X", i ? ":" : "", transport->fingerprint[i]);
    buf_printf(out, "\r\na=setup:%s\r\n", setup_names[transport->setup]);
}

static void write_codec(const struct sdp_section *section, struct buf *out)
{
    int pt = section->codec_pt;
    buf_printf(out, "a=rtcp-mux\r\na=rtcp-rsize\r\na=rtpmap:%d %s\r\n", pt, section->codec_name);
    if (section->codec_fmtp[0])
        buf_printf(out, "a=fmtp:%d %s\r\n", pt, section->codec_fmtp);
    if (section->kind == SDP_AUDIO)
        buf_printf(out, "a=rtcp-fb:%d nack\r\n", pt);
    if (section->ext_mid)
        buf_printf(out, "a=extmap:%d urn:ietf:params:rtp-hdrext:sdes:mid\r\n", section->ext_mid);
    if (section->ext_level)
        buf_printf(out, "a=extmap:%d urn:ietf:params:rtp-hdrext:ssrc-audio-level\r\n",
                   section->ext_level);
    if (section->msid_stream[0])
        buf_printf(out, "a=msid:%s %s\r\n", section->msid_stream, section->msid_track);
    if (section->ssrc)
        buf_printf(out, "a=ssrc:%" PRIu32 " cname:%s\r\n", section->ssrc, section->cname);
}

static void write_data(const struct sdp_section *section, struct buf *out)
{
    buf_printf(out, "a=sctp-port:%u\r\na=max-message-size:%" PRIu32 "\r\n", section->sctp_port,
               section->max_message_bytes);
}

static void write_candidates(const struct sdp *sdp, struct buf *out)
{
    for (unsigned i = 0; i < sdp->candidate_count; i++)
        buf_printf(out, "a=candidate:%s\r\n", sdp->candidates[i]);
    if (sdp->has_all_candidates)
        buf_append_str(out, "a=end-of-candidates\r\n");
}

static void write_section(const struct sdp_section *section, struct buf *out)
{
    buf_printf(out, "m=%s %d %s ", section->media, section->is_rejected ? 0 : 9, section->protocol);
    if (section->kind == SDP_APPLICATION)
        buf_append_str(out, "webrtc-datachannel\r\n");
    else
        buf_printf(out, "%d\r\n", section->codec_pt >= 0 ? section->codec_pt : 0);
    buf_append_str(out, "c=IN IP4 0.0.0.0\r\n");
    if (section->mid[0])
        buf_printf(out, "a=mid:%s\r\n", section->mid);
    if (section->is_rejected) {
        buf_append_str(out, "a=inactive\r\n");
        return;
    }
    write_transport(&section->transport, out);
    if (section->kind == SDP_APPLICATION) {
        write_data(section, out);
        return;
    }
    buf_printf(out, "a=%s\r\n", direction_names[section->direction]);
    write_codec(section, out);
}

enum err sdp_write(const struct sdp *sdp, struct buf *out)
{
    buf_printf(out, "v=0\r\no=- %" PRIu64 " %" PRIu64 " IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n",
               sdp->session_id, sdp->session_version);
    if (sdp->is_ice_lite)
        buf_append_str(out, "a=ice-lite\r\n");
    buf_append_str(out, "a=group:BUNDLE");
    for (unsigned i = 0; i < sdp->section_count; i++) {
        if (sdp->sections[i].is_bundled)
            buf_printf(out, " %s", sdp->sections[i].mid);
    }
    buf_append_str(out, "\r\na=msid-semantic: WMS *\r\n");
    bool has_candidates = false;
    for (unsigned i = 0; i < sdp->section_count; i++) {
        write_section(&sdp->sections[i], out);
        if (has_candidates || sdp->sections[i].is_rejected)
            continue;
        write_candidates(sdp, out);
        has_candidates = true;
    }
    return out->is_full ? ERR_LIMIT : OK;
}
