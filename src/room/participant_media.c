#include <string.h>

#include "base/js.h"
#include "base/log.h"
#include "room/participant_internal.h"
#include "rtc/peer.h"

enum { SDP_OUT_MAX_BYTES = 65536, SILENCE_LIMIT_US = 10 * 1000 * 1000 };

struct leg *participant_in(struct participant *participant)
{
    return participant->config.is_single_pc ? &participant->up : &participant->down;
}

static int64_t now_of(const struct participant *participant)
{
    return loop_now_us(participant->rooms->config.loop);
}

static void on_connected(struct participant *participant, const struct peer *peer)
{
    if (peer == participant->up.peer)
        participant->up_is_connected = true;
    else
        participant->down_is_connected = true;
    if (participant->up_is_connected &&
        (participant->config.is_single_pc || participant->down_is_connected))
        participant_up(participant);
}

static void on_audio(struct participant *participant, const struct peer *peer,
                     const struct peer_audio *audio, int64_t now_us)
{
    const struct leg *in = participant_in(participant);
    const struct room_events *events = &participant->config.events->room;
    if (peer == in->peer && audio->len > 0 && audio->payload_type == in->result.payload_type &&
        events->on_opus)
        events->on_opus(participant->config.arg, audio->payload, audio->len, audio->sequence,
                        audio->timestamp, now_us);
}

static void drop_answer(void *arg, const uint8_t *packet, size_t len)
{
    struct participant *participant = arg;
    if (leg_send(&participant->up, packet, len) == OK)
        port_pump(participant->rooms->config.port, participant->up.peer);
}

static void on_data(struct participant *participant, const struct data_event *event)
{
    struct packet_sender sender = {participant->identity, participant->sid, drop_answer,
                                   participant};
    bool is_packet = strcmp(event->channel.label, CHANNEL_RELIABLE) == 0 ||
                     strcmp(event->channel.label, CHANNEL_LOSSY) == 0;
    if (event->type == DATA_EVENT_MESSAGE && is_packet &&
        packet_read(&participant->reader, event->bytes, event->len, &sender) != OK)
        log_debug("room.bad_packet", LOG_S("participant", participant->sid));
}

static void on_port(void *arg, struct peer *peer, const struct peer_event *event, int64_t now_us)
{
    struct participant *participant = arg;
    switch (event->type) {
    case PEER_EVENT_CONNECTED:
        on_connected(participant, peer);
        break;
    case PEER_EVENT_AUDIO:
        on_audio(participant, peer, &event->audio, now_us);
        break;
    case PEER_EVENT_DATA:
        on_data(participant, &event->data);
        break;
    case PEER_EVENT_SILENT:
        participant_end(participant, ERR_TIMEOUT, "no packets from the server");
        break;
    case PEER_EVENT_BACK:
    case PEER_EVENT_FLOODED:
        break;
    case PEER_EVENT_CLOSED:
        if (!participant->ws)
            participant_end(participant, ERR_CLOSED, "the server closed the media path");
        break;
    case PEER_EVENT_FAILED:
        participant_end(participant, ERR_IO, event->reason);
        break;
    }
}

enum err participant_media_open(struct participant *participant)
{
    struct port_peer_config config = {
        .role = PEER_CONTROLLING,
        .silence_limit_us = participant->config.silence_limit_us
                                ? participant->config.silence_limit_us
                                : SILENCE_LIMIT_US,
        .fn = on_port,
        .arg = participant,
    };
    struct port *port = participant->rooms->config.port;
    enum err err = leg_open(&participant->up, port, &config);
    if (err || participant->config.is_single_pc)
        return err;
    return leg_open(&participant->down, port, &config);
}

void participant_media_close(struct participant *participant)
{
    leg_close(&participant->up, participant->rooms->config.port);
    leg_close(&participant->down, participant->rooms->config.port);
}

enum err participant_write_offer(struct participant *participant, struct buf *out)
{
    AUTO(sdp) offer = sdp_new();
    struct leg *leg = &participant->up;
    struct negotiate_track track = {participant->stream, participant->cid, peer_ssrc(leg->peer)};
    leg->own.session_version++;
    participant->offer_id++;
    negotiate_uplink(&leg->own, &track, participant->config.is_single_pc, offer);
    return sdp_write(offer, out);
}

void participant_offer(struct participant *participant)
{
    AUTO_BUF text = BUF_INIT(SDP_OUT_MAX_BYTES);
    if (participant_write_offer(participant, &text) == OK)
        participant_send_description(participant, "offer", text.data, participant->offer_id);
}

static enum err take_remote(struct participant *participant, struct leg *leg,
                            const struct sdp *remote, struct fault *fault)
{
    enum err err = leg_set_remote(leg, remote, now_of(participant), fault);
    for (unsigned i = 0; !err && i < remote->candidate_count; i++)
        leg_add_candidate(leg, remote->candidates[i]);
    return err;
}

static enum err answer_offer(struct participant *participant, const char *text, uint32_t id,
                             struct fault *fault)
{
    struct leg *leg = &participant->down;
    struct negotiate_track none = {0};
    AUTO(sdp) offer = sdp_new();
    AUTO(sdp) answer = sdp_new();
    AUTO_BUF out = BUF_INIT(SDP_OUT_MAX_BYTES);
    enum err err = sdp_parse(text, strlen(text), offer, fault);
    if (err)
        return err;
    leg->own.session_version++;
    negotiate_answer(offer, &leg->own, &none, "", answer, &leg->result);
    err = take_remote(participant, leg, offer, fault);
    if (err)
        return err;
    if (sdp_write(answer, &out) != OK)
        return fault_set(fault, ERR_LIMIT, "answer is too long");
    participant_send_description(participant, "answer", out.data, id);
    port_pump(participant->rooms->config.port, leg->peer);
    return OK;
}

void participant_offered(struct participant *participant, const char *text, uint32_t id)
{
    struct fault fault = {0};
    if (!participant->down.peer)
        return;
    if (answer_offer(participant, text, id, &fault) != OK)
        participant_end(participant, ERR_INVALID, fault.text);
}

void participant_answered(struct participant *participant, const char *text)
{
    struct fault fault = {0};
    struct leg *leg = &participant->up;
    bool is_first = !leg->has_remote;
    AUTO(sdp) answer = sdp_new();
    enum err err = sdp_parse(text, strlen(text), answer, &fault);
    if (!err) {
        negotiate_read_answer(answer, &leg->result);
        err = take_remote(participant, leg, answer, &fault);
    }
    if (err) {
        participant_end(participant, err, fault.text);
        return;
    }
    if (is_first)
        leg_open_channels(leg);
    port_pump(participant->rooms->config.port, leg->peer);
}

/* {"candidate":"candidate:1 1 udp ...","sdpMid":"","sdpMLineIndex":0} */
void participant_candidate(struct participant *participant, const char *json, bool is_down)
{
    static const char prefix[] = "candidate:";
    struct leg *leg = is_down ? &participant->down : &participant->up;
    struct js *parsed = NULL;
    if (!leg->peer || js_parse(json, strlen(json), 4, &parsed, NULL) != OK)
        return;
    AUTO(js) candidate = parsed;
    const char *line = js_text_or(js_get(candidate, "candidate"), "");
    if (strncmp(line, prefix, sizeof(prefix) - 1) == 0)
        leg_add_candidate(leg, line + sizeof(prefix) - 1);
    port_pump(participant->rooms->config.port, leg->peer);
}
