/* The parser: lines, then one row of a table for each attribute that counts. The writer is
 * sdp_write.c. */
#include "rtc/sdp.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/enum.h"
#include "base/mem.h"

enum {
    LINE_MAX_BYTES = 4096,
    UFRAG_MIN = 4, /* RFC 8839 section 5.4 */
    PWD_MIN = 22,
    EXT_ID_MAX = 14 /* the one-byte form of RFC 8285 */
};

/* What stands after "name:" of an attribute, NUL-terminated. */
struct parse {
    struct sdp *sdp;
    struct sdp_section *section; /* NULL: session level */
    struct sdp_transport session_transport;
    enum sdp_direction session_direction;
    char bundle[1024];
    bool has_origin;
    unsigned line;
    struct fault *fault;
};

struct sdp *sdp_new(void)
{
    return mem_new(struct sdp);
}

void sdp_free(struct sdp *sdp)
{
    mem_free(sdp);
}

static enum err refuse(const struct parse *parse, const char *what)
{
    return fault_set(parse->fault, ERR_INVALID, "SDP line %u: %s", parse->line, what);
}

/* Copies a word of [least, size) visible characters. */
static bool copy_word(const char *from, size_t len, size_t least, char *to, size_t size)
{
    if (len < least || len >= size)
        return false;
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)from[i] <= ' ' || from[i] == 0x7F)
            return false;
    }
    memcpy(to, from, len);
    to[len] = 0;
    return true;
}

static bool copy_whole(const char *from, size_t least, char *to, size_t size)
{
    return copy_word(from, strlen(from), least, to, size);
}

/* Cuts what does not fit. */
static void put_text(char *to, size_t size, const char *from)
{
    size_t len = strnlen(from, size - 1);
    memcpy(to, from, len);
    to[len] = 0;
}

/* Decimal digits up to `most`; *end is after them. */
static bool read_number(const char *text, uint64_t most, uint64_t *out, const char **out_end)
{
    uint64_t value = 0;
    const char *at = text;
    for (; isdigit((unsigned char)*at); at++) {
        value = value * 10 + (uint64_t)(*at - '0');
        if (value > most)
            return false;
    }
    if (at == text)
        return false;
    *out = value;
    *out_end = at;
    return true;
}

static struct sdp_transport *transport_of(struct parse *parse)
{
    return parse->section ? &parse->section->transport : &parse->session_transport;
}

static enum err on_ufrag(struct parse *parse, const char *value)
{
    if (!copy_whole(value, UFRAG_MIN, transport_of(parse)->ufrag, SDP_ICE_SIZE))
        return refuse(parse, "bad ice-ufrag");
    return OK;
}

static enum err on_pwd(struct parse *parse, const char *value)
{
    if (!copy_whole(value, PWD_MIN, transport_of(parse)->pwd, SDP_ICE_SIZE))
        return refuse(parse, "bad ice-pwd");
    return OK;
}

static int hex_value(char c)
{
    return isdigit((unsigned char)c) ? c - '0' : toupper((unsigned char)c) - 'A' + 10;
}

static enum err on_fingerprint(struct parse *parse, const char *value)
{
    static const char hash[] = "sha-256 ";
    struct sdp_transport *transport = transport_of(parse);
    if (strncasecmp(value, hash, sizeof(hash) - 1) != 0)
        return OK; /* another hash beside it */
    value += sizeof(hash) - 1;
    if (strlen(value) != 3 * SDP_FINGERPRINT_BYTES - 1)
        return refuse(parse, "bad fingerprint");
    for (int i = 0; i < SDP_FINGERPRINT_BYTES; i++, value += 3) {
        if (!isxdigit((unsigned char)value[0]) || !isxdigit((unsigned char)value[1]) ||
            (value[2] != ':' && value[2] != 0))
            return refuse(parse, "bad fingerprint");
        transport->fingerprint[i] = (uint8_t)(hex_value(value[0]) << 4 | hex_value(value[1]));
    }
    transport->has_fingerprint = true;
    return OK;
}

static enum err on_setup(struct parse *parse, const char *value)
{
    static const struct {
        const char *text;
        enum sdp_setup setup;
    } rows[] = {{"actpass", SDP_ACTPASS}, {"active", SDP_ACTIVE}, {"passive", SDP_PASSIVE}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (strcmp(value, rows[i].text) != 0)
            continue;
        transport_of(parse)->setup = rows[i].setup;
        return OK;
    }
    return refuse(parse, "bad setup");
}

static enum err set_direction(struct parse *parse, enum sdp_direction direction)
{
    if (parse->section)
        parse->section->direction = direction;
    else
        parse->session_direction = direction;
    return OK;
}

static enum err on_sendrecv(struct parse *parse, const char *value)
{
    (void)value;
    return set_direction(parse, SDP_SENDRECV);
}

static enum err on_sendonly(struct parse *parse, const char *value)
{
    (void)value;
    return set_direction(parse, SDP_SENDONLY);
}

static enum err on_recvonly(struct parse *parse, const char *value)
{
    (void)value;
    return set_direction(parse, SDP_RECVONLY);
}

static enum err on_inactive(struct parse *parse, const char *value)
{
    (void)value;
    return set_direction(parse, SDP_INACTIVE);
}

static enum err on_lite(struct parse *parse, const char *value)
{
    (void)value;
    parse->sdp->is_ice_lite = true;
    return OK;
}

static enum err on_group(struct parse *parse, const char *value)
{
    if (parse->section || strncmp(value, "BUNDLE", 6) != 0)
        return OK;
    if (strlen(value) + 2 > sizeof(parse->bundle))
        return fault_set(parse->fault, ERR_LIMIT, "SDP line %u: BUNDLE group is too long",
                         parse->line);
    size_t len = strlen(value + 6);
    memcpy(parse->bundle, value + 6, len);
    memcpy(parse->bundle + len, " ", 2);
    return OK;
}

static enum err on_mid(struct parse *parse, const char *value)
{
    const struct sdp *sdp = parse->sdp;
    if (!parse->section)
        return OK;
    for (unsigned i = 0; i < sdp->section_count; i++) {
        if (strcmp(sdp->sections[i].mid, value) == 0)
            return refuse(parse, "mid is there twice");
    }
    if (!copy_whole(value, 1, parse->section->mid, SDP_MID_SIZE))
        return refuse(parse, "bad mid");
    return OK;
}

static enum err on_rtcp_mux(struct parse *parse, const char *value)
{
    (void)value;
    if (parse->section)
        parse->section->has_rtcp_mux = true;
    return OK;
}

static enum err on_bundle_only(struct parse *parse, const char *value)
{
    (void)value;
    if (parse->section)
        parse->section->is_rejected = false;
    return OK;
}

/* Audio: the first opus. Video: the first codec, or VP8 wherever it stands. */
static bool is_wanted(const struct sdp_section *section, const char *name)
{
    if (section->kind == SDP_AUDIO)
        return section->codec_pt < 0 && strcasecmp(name, "opus/48000/2") == 0;
    if (section->codec_pt < 0)
        return true;
    return strcasecmp(name, "VP8/90000") == 0 && strcasecmp(section->codec_name, "VP8/90000") != 0;
}

static void take_codec(struct sdp_section *section, int pt, const char *name)
{
    if (section->kind == SDP_AUDIO && strcasecmp(name, "red/48000/2") == 0)
        section->red_pt = pt;
    if (!is_wanted(section, name) ||
        !copy_whole(name, 1, section->codec_name, sizeof(section->codec_name)))
        return;
    section->codec_pt = pt;
    section->codec_fmtp[0] = 0;
}

static enum err on_rtpmap(struct parse *parse, const char *value)
{
    uint64_t pt;
    if (!parse->section || (parse->section->kind != SDP_AUDIO && parse->section->kind != SDP_VIDEO))
        return OK;
    if (!read_number(value, 127, &pt, &value) || *value != ' ')
        return refuse(parse, "bad rtpmap");
    take_codec(parse->section, (int)pt, value + 1);
    return OK;
}

static enum err on_fmtp(struct parse *parse, const char *value)
{
    uint64_t pt;
    struct sdp_section *section = parse->section;
    if (!section || !read_number(value, 127, &pt, &value) || *value != ' ')
        return OK;
    if ((int)pt == section->codec_pt && strlen(value + 1) < SDP_FMTP_SIZE)
        put_text(section->codec_fmtp, SDP_FMTP_SIZE, value + 1);
    return OK;
}

static enum err on_extmap(struct parse *parse, const char *value)
{
    uint64_t id;
    if (!read_number(value, 4095, &id, &value))
        return refuse(parse, "bad extmap");
    const char *uri = strchr(value, ' ');
    if (!uri || !parse->section || id == 0 || id > EXT_ID_MAX)
        return OK;
    if (strcmp(uri + 1, "urn:ietf:params:rtp-hdrext:sdes:mid") == 0)
        parse->section->ext_mid = (uint8_t)id;
    else if (strcmp(uri + 1, "urn:ietf:params:rtp-hdrext:ssrc-audio-level") == 0)
        parse->section->ext_level = (uint8_t)id;
    return OK;
}

static enum err on_msid(struct parse *parse, const char *value)
{
    struct sdp_section *section = parse->section;
    const char *space = strchr(value, ' ');
    size_t len = space ? (size_t)(space - value) : strlen(value);
    if (!section || section->msid_stream[0])
        return OK;
    if (!copy_word(value, len, 1, section->msid_stream, SDP_NAME_SIZE) ||
        (space && !copy_whole(space + 1, 1, section->msid_track, SDP_NAME_SIZE)))
        return refuse(parse, "bad msid");
    return OK;
}

static enum err on_ssrc(struct parse *parse, const char *value)
{
    uint64_t ssrc;
    static const char cname[] = " cname:";
    struct sdp_section *section = parse->section;
    if (!section)
        return OK;
    if (!read_number(value, UINT32_MAX, &ssrc, &value))
        return refuse(parse, "bad ssrc");
    if (section->ssrc == 0)
        section->ssrc = (uint32_t)ssrc;
    if (section->ssrc == ssrc && strncmp(value, cname, sizeof(cname) - 1) == 0)
        (void)!copy_whole(value + sizeof(cname) - 1, 1, section->cname, SDP_NAME_SIZE);
    return OK;
}

static enum err on_sctp_port(struct parse *parse, const char *value)
{
    uint64_t port;
    if (!parse->section)
        return OK;
    if (!read_number(value, UINT16_MAX, &port, &value) || *value || port == 0)
        return refuse(parse, "bad sctp-port");
    parse->section->sctp_port = (uint16_t)port;
    return OK;
}

static enum err on_max_message(struct parse *parse, const char *value)
{
    uint64_t bytes;
    if (!parse->section)
        return OK;
    if (!read_number(value, UINT32_MAX, &bytes, &value) || *value)
        return refuse(parse, "bad max-message-size");
    parse->section->max_message_bytes = (uint32_t)bytes;
    return OK;
}

static enum err on_candidate(struct parse *parse, const char *value)
{
    struct sdp *sdp = parse->sdp;
    if (sdp->candidate_count < SDP_CANDIDATES && strlen(value) < SDP_CANDIDATE_SIZE)
        put_text(sdp->candidates[sdp->candidate_count++], SDP_CANDIDATE_SIZE, value);
    return OK;
}

static enum err on_end_of_candidates(struct parse *parse, const char *value)
{
    (void)value;
    parse->sdp->has_all_candidates = true;
    return OK;
}

static const struct {
    const char *name;
    enum err (*on)(struct parse *parse, const char *value);
} attributes[] = {
    {"bundle-only", on_bundle_only},
    {"candidate", on_candidate},
    {"end-of-candidates", on_end_of_candidates},
    {"extmap", on_extmap},
    {"fingerprint", on_fingerprint},
    {"fmtp", on_fmtp},
    {"group", on_group},
    {"ice-lite", on_lite},
    {"ice-pwd", on_pwd},
    {"ice-ufrag", on_ufrag},
    {"inactive", on_inactive},
    {"max-message-size", on_max_message},
    {"mid", on_mid},
    {"msid", on_msid},
    {"recvonly", on_recvonly},
    {"rtcp-mux", on_rtcp_mux},
    {"rtpmap", on_rtpmap},
    {"sctp-port", on_sctp_port},
    {"sendonly", on_sendonly},
    {"sendrecv", on_sendrecv},
    {"setup", on_setup},
    {"ssrc", on_ssrc},
};

static enum err read_attribute(struct parse *parse, const char *text)
{
    size_t len = strcspn(text, ":");
    const char *value = text[len] ? text + len + 1 : text + len;
    for (size_t i = 0; i < ARRAY_LEN(attributes); i++) {
        if (strlen(attributes[i].name) == len && memcmp(attributes[i].name, text, len) == 0)
            return attributes[i].on(parse, value);
    }
    return OK;
}

static enum sdp_kind kind_of(const char *media)
{
    static const char *const names[] = {
        [SDP_AUDIO] = "audio", [SDP_VIDEO] = "video", [SDP_APPLICATION] = "application"};
    int kind = enum_find(names, SDP_OTHER, media);
    return kind < 0 ? SDP_OTHER : (enum sdp_kind)kind;
}

/* "audio 9 UDP/TLS/RTP/SAVPF 111 63" */
static enum err read_media(struct parse *parse, const char *text)
{
    struct sdp *sdp = parse->sdp;
    if (sdp->section_count == SDP_SECTIONS)
        return fault_set(parse->fault, ERR_LIMIT, "SDP has more than %d sections", SDP_SECTIONS);
    struct sdp_section *section = &sdp->sections[sdp->section_count];
    size_t media_len = strcspn(text, " ");
    uint64_t port;
    if (!copy_word(text, media_len, 1, section->media, sizeof(section->media)) ||
        text[media_len] != ' ' || !read_number(text + media_len + 1, UINT16_MAX, &port, &text))
        return refuse(parse, "bad m-line");
    text += strcspn(text, " "); /* "/number of ports" */
    const char *protocol = *text ? text + 1 : text;
    size_t protocol_len = strcspn(protocol, " ");
    if (!copy_word(protocol, protocol_len, 1, section->protocol, sizeof(section->protocol)) ||
        protocol[protocol_len] != ' ' || protocol[protocol_len + 1] == 0)
        return refuse(parse, "bad m-line");
    section->kind = kind_of(section->media);
    section->is_rejected = port == 0;
    section->is_datachannel = strcmp(protocol + protocol_len + 1, "webrtc-datachannel") == 0;
    section->codec_pt = section->red_pt = -1;
    section->direction = parse->session_direction;
    section->transport = parse->session_transport;
    parse->section = section;
    sdp->section_count++;
    return OK;
}

/* "- 42 1 IN IP4 127.0.0.1" */
static enum err read_origin(struct parse *parse, const char *text)
{
    text += strcspn(text, " ");
    if (*text != ' ' || !read_number(text + 1, INT64_MAX, &parse->sdp->session_id, &text) ||
        *text != ' ' || !read_number(text + 1, INT64_MAX, &parse->sdp->session_version, &text) ||
        *text != ' ')
        return refuse(parse, "bad o-line");
    parse->has_origin = true;
    return OK;
}

static enum err read_line(struct parse *parse, const char *line)
{
    if (!islower((unsigned char)line[0]) || line[1] != '=')
        return refuse(parse, "not a description");
    if (parse->line == 1)
        return strcmp(line, "v=0") == 0 ? OK : refuse(parse, "does not begin with v=0");
    if (line[0] == 'm')
        return read_media(parse, line + 2);
    if (line[0] == 'o' && !parse->section)
        return read_origin(parse, line + 2);
    return line[0] == 'a' ? read_attribute(parse, line + 2) : OK;
}

static void mark_bundled(struct parse *parse)
{
    for (unsigned i = 0; i < parse->sdp->section_count; i++) {
        struct sdp_section *section = &parse->sdp->sections[i];
        char word[SDP_MID_SIZE + 3];
        size_t len = strlen(section->mid);
        if (len == 0)
            continue;
        word[0] = ' ';
        memcpy(word + 1, section->mid, len);
        memcpy(word + 1 + len, " ", 2);
        section->is_bundled = strstr(parse->bundle, word) != NULL;
    }
}

enum err sdp_parse(const char *text, size_t len, struct sdp *out, struct fault *fault)
{
    struct parse parse = {.sdp = out, .fault = fault};
    char line[LINE_MAX_BYTES];
    memset(out, 0, sizeof(*out));
    if (len > SDP_MAX_BYTES)
        return fault_set(fault, ERR_LIMIT, "SDP of over %d bytes", SDP_MAX_BYTES);
    if (memchr(text, 0, len))
        return fault_set(fault, ERR_INVALID, "SDP with a NUL byte");
    while (len > 0) {
        const char *end = memchr(text, '\n', len);
        size_t step = end ? (size_t)(end - text) + 1 : len;
        size_t line_len = end ? step - 1 : step;
        while (line_len > 0 && text[line_len - 1] == '\r')
            line_len--;
        parse.line++;
        if (line_len >= sizeof(line))
            return fault_set(fault, ERR_LIMIT, "SDP line %u is too long", parse.line);
        memcpy(line, text, line_len);
        line[line_len] = 0;
        enum err err = line_len == 0 && step == len ? OK : read_line(&parse, line);
        if (err)
            return err;
        text += step;
        len -= step;
    }
    if (!parse.has_origin)
        return fault_set(fault, ERR_INVALID, "SDP without an o-line");
    mark_bundled(&parse);
    return OK;
}

enum err sdp_bundle_transport(const struct sdp *sdp, const struct sdp_transport **out,
                              struct fault *fault)
{
    for (unsigned i = 0; i < sdp->section_count; i++) {
        const struct sdp_transport *transport = &sdp->sections[i].transport;
        if (sdp->sections[i].is_rejected)
            continue;
        if (!transport->ufrag[0] || !transport->pwd[0])
            return fault_set(fault, ERR_INVALID, "SDP without ICE credentials");
        if (!transport->has_fingerprint)
            return fault_set(fault, ERR_INVALID, "SDP without a sha-256 fingerprint");
        *out = transport;
        return OK;
    }
    return fault_set(fault, ERR_INVALID, "SDP without a usable section");
}

static bool is_ours(const struct sdp_section *offered)
{
    if (offered->is_rejected || !offered->mid[0])
        return false;
    if (offered->kind == SDP_APPLICATION)
        return offered->is_datachannel && strcmp(offered->protocol, "UDP/DTLS/SCTP") == 0;
    return (offered->kind == SDP_AUDIO || offered->kind == SDP_VIDEO) && offered->codec_pt >= 0 &&
           offered->has_rtcp_mux && strcmp(offered->protocol, "UDP/TLS/RTP/SAVPF") == 0;
}

void sdp_answer_section(const struct sdp_section *offered, struct sdp_section *out)
{
    memset(out, 0, sizeof(*out));
    out->kind = offered->kind;
    out->codec_pt = offered->codec_pt;
    out->red_pt = -1;
    out->direction = SDP_INACTIVE;
    out->is_datachannel = offered->is_datachannel;
    out->is_rejected = !is_ours(offered);
    out->is_bundled = !out->is_rejected;
    out->has_rtcp_mux = true;
    out->sctp_port = offered->sctp_port;
    put_text(out->media, sizeof(out->media), offered->media);
    put_text(out->protocol, sizeof(out->protocol), offered->protocol);
    put_text(out->mid, sizeof(out->mid), offered->mid);
    put_text(out->codec_name, sizeof(out->codec_name), offered->codec_name);
    if (offered->kind != SDP_AUDIO)
        return;
    put_text(out->codec_fmtp, sizeof(out->codec_fmtp), "minptime=10;useinbandfec=1");
    out->ext_mid = offered->ext_mid;
    out->ext_level = offered->ext_level;
}
