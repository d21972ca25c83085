/* A WebRTC peer for tests: reads a browser's offer from standard input to its end, prints the
 * answer, then sends back what it hears and reads, until the browser goes or 60 s have passed.
 * Arguments: `active` opens the DTLS handshake itself. On its end it prints `echoed <packets>`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/ids.h"
#include "base/loop.h"
#include "rtc/port.h"
#include "rtc/sdp.h"

enum { LIMIT_US = 600000000 };

struct echo {
    struct loop *loop;
    struct port *port;
    struct peer *peer;
    struct timer limit;
    uint8_t payload_type;
    bool is_active; /* DTLS */
    uint32_t first_timestamp;
    unsigned echoed;
};

static void stop(void *arg)
{
    struct echo *echo = arg;
    loop_stop(echo->loop);
}

static void echo_audio(struct echo *echo, const struct peer_audio *audio, int64_t now_us)
{
    if (!audio->len || audio->payload_type != echo->payload_type)
        return;
    if (!echo->echoed++)
        echo->first_timestamp = audio->timestamp;
    struct peer_opus opus = {
        .payload = audio->payload,
        .len = audio->len,
        .timestamp = audio->timestamp - echo->first_timestamp,
        .payload_type = audio->payload_type,
        .is_first = audio->is_marked,
    };
    peer_send_audio(echo->peer, &opus, now_us);
}

static void echo_message(struct echo *echo, const struct data_event *event)
{
    struct data *data = peer_data(echo->peer);
    if (event->type == DATA_EVENT_MESSAGE &&
        data_send(data, event->channel.id, event->bytes, event->len, event->is_binary) != OK)
        fprintf(stderr, "a message of %zu bytes was not sent back\n", event->len);
}

static void on_event(void *arg, struct peer *peer, const struct peer_event *event, int64_t now_us)
{
    struct echo *echo = arg;
    switch (event->type) {
    case PEER_EVENT_AUDIO:
        echo_audio(echo, &event->audio, now_us);
        break;
    case PEER_EVENT_DATA:
        echo_message(echo, &event->data);
        break;
    case PEER_EVENT_FAILED:
        fprintf(stderr, "failed: %s\n", event->reason);
        loop_stop(echo->loop);
        break;
    case PEER_EVENT_CLOSED:
        loop_stop(echo->loop);
        break;
    default:
        break;
    }
    port_pump(echo->port, peer);
}

static void read_offer(struct buf *out)
{
    char piece[4096];
    size_t len;
    while ((len = fread(piece, 1, sizeof(piece), stdin)))
        buf_append(out, piece, len);
}

static void add_candidates(const struct port *port, struct sdp *answer)
{
    struct port_candidate candidates[PORT_ADDRESSES];
    size_t count = port_candidates(port, candidates, PORT_ADDRESSES);
    for (size_t i = 0; i < count && i < SDP_CANDIDATES; i++) {
        char ip[NET_IP_SIZE];
        net_ip_print(&candidates[i].addr, ip);
        snprintf(answer->candidates[i], SDP_CANDIDATE_SIZE, "%u 1 udp %u %s %u typ host",
                 candidates[i].foundation, candidates[i].priority, ip, candidates[i].addr.port);
        answer->candidate_count++;
    }
    answer->has_all_candidates = true;
}

static void fill_section(struct echo *echo, const struct sdp_section *offered,
                         struct sdp_section *out)
{
    sdp_answer_section(offered, out);
    snprintf(out->transport.ufrag, sizeof(out->transport.ufrag), "%s", peer_ufrag(echo->peer));
    snprintf(out->transport.pwd, sizeof(out->transport.pwd), "%s", peer_pwd(echo->peer));
    memcpy(out->transport.fingerprint, peer_fingerprint(echo->peer),
           sizeof(out->transport.fingerprint));
    out->transport.has_fingerprint = true;
    out->transport.setup = echo->is_active ? SDP_ACTIVE : SDP_PASSIVE;
    if (offered->kind != SDP_AUDIO || out->is_rejected)
        return;
    echo->payload_type = (uint8_t)out->codec_pt;
    peer_set_level_extension(echo->peer, out->ext_level);
    out->direction = SDP_SENDRECV;
    out->ssrc = peer_ssrc(echo->peer);
    snprintf(out->msid_stream, sizeof(out->msid_stream), "echo");
    snprintf(out->msid_track, sizeof(out->msid_track), "echo-track");
    snprintf(out->cname, sizeof(out->cname), "echo");
}

static enum err answer_offer(struct echo *echo, const struct sdp *offer, struct buf *out,
                             struct fault *fault)
{
    const struct sdp_transport *transport;
    enum err err = sdp_bundle_transport(offer, &transport, fault);
    if (err)
        return err;
    struct peer_remote remote = {
        .ufrag = transport->ufrag, .pwd = transport->pwd, .is_dtls_client = echo->is_active};
    memcpy(remote.fingerprint, transport->fingerprint, sizeof(remote.fingerprint));
    err = peer_set_remote(echo->peer, &remote, clock_now_us());
    if (err)
        return fault_set(fault, err, "the offer's credentials are not valid");
    peer_enable_data(echo->peer, 5000, clock_now_us());

    AUTO(sdp) answer = sdp_new();
    answer->session_id = 1;
    answer->session_version = 1;
    answer->is_ice_lite = true;
    answer->section_count = offer->section_count;
    for (unsigned i = 0; i < offer->section_count; i++)
        fill_section(echo, &offer->sections[i], &answer->sections[i]);
    add_candidates(echo->port, answer);
    return sdp_write(answer, out);
}

static enum err serve(struct echo *echo, struct dtls_identity *identity, struct fault *fault)
{
    AUTO_BUF text = BUF_INIT(SDP_MAX_BYTES);
    AUTO(sdp) offer = sdp_new();
    read_offer(&text);
    enum err err = sdp_parse(text.data, text.len, offer, fault);
    if (err)
        return err;
    struct port_config config = {.loop = echo->loop, .identity = identity};
    err = port_open(&config, &echo->port, fault);
    if (err)
        return err;
    struct port_peer_config peer_config = {.role = PEER_LITE, .fn = on_event, .arg = echo};
    AUTO_BUF out = BUF_INIT(SDP_MAX_BYTES);
    err = port_peer_new(echo->port, &peer_config, &echo->peer);
    if (!err)
        err = answer_offer(echo, offer, &out, fault);
    if (err)
        return err;
    fwrite(out.data, 1, out.len, stdout);
    fclose(stdout);
    timer_init(&echo->limit, echo->loop, stop, echo);
    timer_set_after(&echo->limit, LIMIT_US);
    loop_run(echo->loop);
    fprintf(stderr, "echoed %u\n", echo->echoed);
    return OK;
}

int main(int argc, char **argv)
{
    AUTO(dtls_identity) identity = NULL;
    AUTO(loop) loop = loop_new("echo");
    struct echo echo = {.loop = loop, .is_active = argc > 1 && !strcmp(argv[1], "active")};
    struct fault fault = {0};
    enum err err = dtls_identity_new(&identity, &fault);
    if (!err)
        err = serve(&echo, identity, &fault);
    if (err)
        fprintf(stderr, "%s: %s\n", err_name(err), fault.text);
    if (echo.port)
        port_peer_free(echo.port, echo.peer);
    port_close(echo.port);
    return err ? 1 : 0;
}
