#include "rtc/sdp.h"

#include <stdio.h>
#include <stdlib.h>

#include "test.h"

#define HEAD "v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n"
#define KEYS                                                                                       \
    "a=ice-ufrag:abcd\r\na=ice-pwd:0123456789012345678901\r\na=fingerprint:sha-256 "               \
    "00:01:02:03:04:05:06:07:08:09:0A:0B:0C:0D:0E:0F:10:11:12:13:14:15:16:17:18:19:1A:1b:1c:1D:"   \
    "1E:1F\r\na=setup:actpass\r\n"

/* SDP_VECTORS is the folder of the captured descriptions. */
static char *read_vector(const char *name, size_t *out_len)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s.sdp", SDP_VECTORS, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    char *text = malloc(SDP_MAX_BYTES);
    *out_len = fread(text, 1, SDP_MAX_BYTES, file);
    fclose(file);
    return text;
}

static struct sdp *parse_vector(const char *name)
{
    size_t len;
    struct fault fault = {0};
    struct sdp *sdp = sdp_new();
    char *text = read_vector(name, &len);
    if (!CHECK(text != NULL) || !CHECK_INT(sdp_parse(text, len, sdp, &fault), OK))
        fprintf(stderr, "    %s: %s\n", name, fault.text);
    free(text);
    return sdp;
}

TEST(sdp_parses_what_real_clients_send)
{
    static const struct {
        const char *name;
        unsigned sections;
        int mic; /* index of the microphone's section, -1: none */
    } rows[] = {
        {"browser-single-1-offer", 7, -1},
        {"browser-single-2-with-mic-offer", 8, 7},
        {"rtc-node-single-1-offer", 7, -1},
        {"rtc-node-single-2-with-mic-offer", 8, 7},
        {"browser-dual-publisher-1-offer", 1, 0},
        {"browser-dual-publisher-2-with-mic-offer", 2, 0},
        {"browser-dual-subscriber-offer", 2, -1},
        {"browser-single-1-answer", 7, -1},
        {"rtc-node-single-2-with-mic-answer", 8, -1},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct sdp *sdp = parse_vector(rows[i].name);
        const struct sdp_transport *transport;
        struct fault fault;
        CHECK_INT(sdp_bundle_transport(sdp, &transport, &fault), OK);
        if (!CHECK_INT(sdp->section_count, rows[i].sections))
            fprintf(stderr, "    %s\n", rows[i].name);
        for (unsigned k = 0; k < sdp->section_count; k++) {
            const struct sdp_section *section = &sdp->sections[k];
            bool is_mic = section->kind == SDP_AUDIO && section->direction == SDP_SENDONLY &&
                          section->msid_track[0] && section->codec_pt == 111;
            if (rows[i].mic >= 0)
                CHECK_INT(is_mic, (int)k == rows[i].mic);
            if (section->kind == SDP_APPLICATION) {
                CHECK(section->is_datachannel);
                CHECK_INT(section->sctp_port, 5000);
            }
        }
        sdp_free(sdp);
    }
}

TEST(sdp_reads_the_details_of_a_microphone)
{
    struct sdp *sdp = parse_vector("browser-dual-publisher-2-with-mic-offer");
    const struct sdp_section *mic = &sdp->sections[0];
    CHECK_TEXT(mic->transport.ufrag, "+L+U");
    CHECK_TEXT(mic->transport.pwd, "WJvZfYVabU1V9Y5L6fIH0Bye");
    CHECK_INT(mic->transport.fingerprint[0], 0x91);
    CHECK_INT(mic->transport.fingerprint[31], 0xFA);
    CHECK_INT(mic->transport.setup, SDP_ACTPASS);
    CHECK_TEXT(mic->mid, "0");
    CHECK_INT(mic->red_pt, 63);
    CHECK_INT(mic->ext_level, 1);
    CHECK_INT(mic->ext_mid, 4);
    CHECK_TEXT(mic->msid_track, "9ded5ed3-9a13-4bcb-8027-3eb3c2d6f6a3");
    CHECK(mic->ssrc == 1604381373);
    CHECK_TEXT(mic->cname, "lNz4Ubrt2FxyIHf2");
    CHECK(mic->is_bundled && mic->has_rtcp_mux && !mic->is_rejected);
    CHECK_INT(sdp->candidate_count, 2);
    CHECK_INT(sdp->sections[1].max_message_bytes, 262144);
    sdp_free(sdp);
}

TEST(sdp_writes_what_it_parses)
{
    static const char *const names[] = {"rtc-node-single-2-with-mic-answer",
                                        "rtc-node-single-1-answer",
                                        "browser-dual-publisher-2-with-mic-answer"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        struct sdp *first = parse_vector(names[i]), *second = sdp_new();
        AUTO_BUF text = BUF_INIT(SDP_MAX_BYTES);
        struct fault fault = {0};
        CHECK_INT(sdp_write(first, &text), OK);
        CHECK_INT(sdp_parse(text.data, text.len, second, &fault), OK);
        CHECK(memcmp(first, second, sizeof(*first)) == 0);
        sdp_free(first);
        sdp_free(second);
    }
}

TEST(sdp_answers_the_kinds_that_we_know)
{
    struct sdp *offer = parse_vector("browser-single-2-with-mic-offer");
    struct sdp_section answer;
    sdp_answer_section(&offer->sections[0], &answer);
    CHECK_INT(answer.codec_pt, 111);
    CHECK_INT(answer.red_pt, -1);
    CHECK_INT(answer.direction, SDP_INACTIVE);
    CHECK(!answer.is_rejected && answer.is_bundled);
    sdp_answer_section(&offer->sections[3], &answer);
    CHECK_INT(answer.kind, SDP_VIDEO);
    CHECK_TEXT(answer.codec_name, "VP8/90000");
    sdp_answer_section(&offer->sections[6], &answer);
    CHECK(answer.is_datachannel && !answer.is_rejected);
    offer->sections[0].codec_pt = -1;
    sdp_answer_section(&offer->sections[0], &answer);
    CHECK(answer.is_rejected);
    sdp_free(offer);
}

TEST(sdp_takes_firefox_payload_types_and_session_level_keys)
{
    static const char text[] = HEAD KEYS "m=audio 9 UDP/TLS/RTP/SAVPF 109 9\r\n"
                                         "a=mid:mic\r\na=rtcp-mux\r\na=sendrecv\r\n"
                                         "a=rtpmap:109 opus/48000/2\r\n";
    struct sdp *sdp = sdp_new();
    struct fault fault = {0};
    CHECK_INT(sdp_parse(text, sizeof(text) - 1, sdp, &fault), OK);
    CHECK_INT(sdp->sections[0].codec_pt, 109);
    CHECK_TEXT(sdp->sections[0].transport.ufrag, "abcd");
    CHECK_INT(sdp->sections[0].transport.fingerprint[27], 0x1B);
    sdp_free(sdp);
}

TEST(sdp_refuses_broken_descriptions)
{
    static const char *const texts[] = {
        "",
        "\r\n",
        "hello",
        "v=1\r\n",
        "v=0\r\n", /* no origin */
        "v=0\r\no=- x 2 IN IP4 0\r\n",
        HEAD "m=audio\r\n",
        HEAD "m=audio 99999 UDP/TLS/RTP/SAVPF 111\r\n",
        HEAD "m=audio 9 UDP/TLS/RTP/SAVPF\r\n",
        HEAD "m=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:\r\n",
        HEAD "m=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:0\r\nm=video 9 X 1\r\na=mid:0\r\n",
        HEAD "m=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=rtpmap:200 opus/48000/2\r\n",
        HEAD "a=ice-ufrag:abc\r\n",
        HEAD "a=ice-ufrag:ab cd\r\n",
        HEAD "a=ice-pwd:short\r\n",
        HEAD "a=fingerprint:sha-256 00:11\r\n",
        HEAD "a=setup:sideways\r\n",
        HEAD "m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\na=sctp-port:70000\r\n",
        HEAD "m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\na=max-message-size:x\r\n",
        HEAD "m=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=ssrc:99999999999 cname:x\r\n",
        HEAD "=\r\n",
        HEAD "\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\n",
    };
    struct sdp *sdp = sdp_new();
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        struct fault fault = {0};
        if (!CHECK_INT(sdp_parse(texts[i], strlen(texts[i]), sdp, &fault), ERR_INVALID))
            fprintf(stderr, "    %s\n", texts[i]);
        CHECK(fault.text[0] != 0);
    }
    CHECK_INT(sdp_parse("v=0\0", 4, sdp, NULL), ERR_INVALID);
    sdp_free(sdp);
}

TEST(sdp_has_ceilings)
{
    AUTO_BUF text = BUF_INIT(1 << 20);
    struct sdp *sdp = sdp_new();
    struct fault fault = {0};
    buf_append_str(&text, HEAD);
    for (int i = 0; i <= SDP_SECTIONS; i++)
        buf_printf(&text, "m=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:%d\r\n", i);
    CHECK_INT(sdp_parse(text.data, text.len, sdp, &fault), ERR_LIMIT);
    buf_reset(&text);
    buf_append_str(&text, HEAD "a=x:");
    for (int i = 0; i < 5000; i++)
        buf_append_char(&text, 'x');
    CHECK_INT(sdp_parse(text.data, text.len, sdp, &fault), ERR_LIMIT);
    buf_reset(&text);
    while (text.len <= SDP_MAX_BYTES)
        buf_append_str(&text, HEAD);
    CHECK_INT(sdp_parse(text.data, text.len, sdp, &fault), ERR_LIMIT);
    sdp_free(sdp);
}

TEST(sdp_needs_credentials_and_a_fingerprint)
{
    static const char bare[] = HEAD "m=audio 9 UDP/TLS/RTP/SAVPF 111\r\n";
    static const char no_print[] = HEAD "a=ice-ufrag:abcd\r\na=ice-pwd:0123456789012345678901\r\n"
                                        "m=audio 9 UDP/TLS/RTP/SAVPF 111\r\n";
    static const char good[] = HEAD KEYS "m=audio 0 UDP/TLS/RTP/SAVPF 111\r\n"
                                         "m=audio 9 UDP/TLS/RTP/SAVPF 111\r\n";
    const struct sdp_transport *transport = NULL;
    struct sdp *sdp = sdp_new();
    struct fault fault;
    CHECK_INT(sdp_parse(bare, sizeof(bare) - 1, sdp, NULL), OK);
    CHECK_INT(sdp_bundle_transport(sdp, &transport, &fault), ERR_INVALID);
    CHECK_INT(sdp_parse(no_print, sizeof(no_print) - 1, sdp, NULL), OK);
    CHECK_INT(sdp_bundle_transport(sdp, &transport, &fault), ERR_INVALID);
    CHECK_INT(sdp_parse(good, sizeof(good) - 1, sdp, NULL), OK);
    CHECK(sdp->sections[0].is_rejected);
    CHECK_INT(sdp_bundle_transport(sdp, &transport, &fault), OK);
    CHECK(transport == &sdp->sections[1].transport);
    sdp_free(sdp);
}
