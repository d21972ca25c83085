#include "room/legs.h"

#include <string.h>

#include "room/caller.h"
#include "rtc/peer.h"

enum err legs_open(struct legs *legs, struct port *port, const struct port_peer_config *config)
{
    legs->port = port;
    enum err err = leg_open(&legs->up, port, config);
    return err || legs->is_single ? err : leg_open(&legs->down, port, config);
}

void legs_close(struct legs *legs)
{
    leg_close(&legs->up, legs->port);
    leg_close(&legs->down, legs->port);
}

struct leg *legs_out(struct legs *legs)
{
    return legs->is_single ? &legs->up : &legs->down;
}

bool legs_has_track(const struct legs *legs)
{
    return legs->up.result.track_mid[0] || legs->down.result.track_mid[0];
}

void legs_pump(struct legs *legs, const struct leg *leg)
{
    if (leg->peer)
        port_pump(legs->port, leg->peer);
}

static struct negotiate_track agent_track(const struct room_view *room, const struct leg *leg,
                                          struct buf *stream)
{
    if (!room->has_agent)
        return (struct negotiate_track){.stream = "", .ssrc = peer_ssrc(leg->peer)};
    buf_printf(stream, "%s|%s", room->agent_sid, room->agent_track_sid);
    return (struct negotiate_track){stream->data, room->agent_track_sid, peer_ssrc(leg->peer)};
}

enum err legs_answer(struct legs *legs, const struct room_view *room, const struct sdp *offer,
                     int64_t now_us, struct buf *out, struct fault *fault)
{
    char mid[SDP_MID_SIZE];
    struct leg *leg = &legs->up;
    AUTO_BUF stream = BUF_INIT(2 * ID_SIZE);
    AUTO(sdp) answer = sdp_new();
    struct negotiate_track track = {0};
    if (legs->is_single)
        track = agent_track(room, leg, &stream);
    memcpy(mid, leg->result.track_mid, sizeof(mid));
    leg->own.session_version++;
    negotiate_answer(offer, &leg->own, &track, mid, answer, &leg->result);
    enum err err = leg_set_remote(leg, offer, now_us, fault);
    if (err)
        return err;
    return sdp_write(answer, out) == OK ? OK : fault_set(fault, ERR_LIMIT, "answer is too long");
}

enum err legs_offer(struct legs *legs, const struct room_view *room, struct buf *out)
{
    struct leg *leg = &legs->down;
    if (legs->offer_waits) {
        legs->offer_wanted = true;
        return ERR_CONFLICT;
    }
    AUTO_BUF stream = BUF_INIT(2 * ID_SIZE);
    AUTO(sdp) offer = sdp_new();
    struct negotiate_track track = agent_track(room, leg, &stream);
    leg->own.session_version++;
    negotiate_downlink(&leg->own, &track, offer);
    enum err err = sdp_write(offer, out);
    if (err)
        return err;
    leg->result.track_mid[0] = 0;
    if (track.sid)
        memcpy(leg->result.track_mid, offer->sections[0].mid, sizeof(leg->result.track_mid));
    legs->offer_waits = true;
    legs->offer_wanted = false;
    legs->offer_id++;
    return OK;
}

bool legs_expects_answer(const struct legs *legs)
{
    return !legs->is_single && legs->offer_waits;
}

static enum err take_answer(struct leg *leg, const struct sdp *answer, int64_t now_us,
                            struct fault *fault)
{
    char mid[SDP_MID_SIZE];
    bool is_first = !leg->has_remote;
    memcpy(mid, leg->result.track_mid, sizeof(mid));
    negotiate_read_answer(answer, &leg->result);
    memcpy(leg->result.track_mid, mid, sizeof(mid));
    enum err err = leg_set_remote(leg, answer, now_us, fault);
    if (!err && is_first)
        leg_open_channels(leg);
    return err;
}

enum err legs_take_answer(struct legs *legs, const char *text, int64_t now_us, struct fault *fault)
{
    AUTO(sdp) answer = sdp_new();
    legs->offer_waits = false;
    enum err err = sdp_parse(text, strlen(text), answer, fault);
    if (err)
        return err;
    err = take_answer(&legs->down, answer, now_us, fault);
    legs_pump(legs, &legs->down);
    return err;
}

void legs_send_opus(struct legs *legs, struct peer_opus *opus, int64_t now_us)
{
    struct leg *out = legs_out(legs);
    if (!legs->wants_audio || legs->is_paused || out->result.payload_type < 0 ||
        !out->result.track_mid[0])
        return;
    opus->payload_type = (uint8_t)out->result.payload_type;
    peer_send_audio(out->peer, opus, now_us);
    legs_pump(legs, out);
}

int64_t legs_last_packet_us(const struct legs *legs)
{
    const struct leg *const all[] = {&legs->up, &legs->down};
    int64_t last_us = 0;
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        struct peer_stats stats;
        if (!all[i]->peer)
            continue;
        peer_stats(all[i]->peer, &stats);
        last_us = MAX(last_us, stats.last_packet_us);
    }
    return last_us;
}

void legs_stats(const struct legs *legs, struct room_stats *out)
{
    struct peer_stats up, down;
    const struct leg *leg = legs->is_single ? &legs->up : &legs->down;
    *out = (struct room_stats){.jitter_ms = -1, .rtt_ms = -1};
    if (!legs->up.peer || !leg->peer)
        return;
    peer_stats(legs->up.peer, &up);
    peer_stats(leg->peer, &down);
    out->packets_received = up.packets_received;
    out->packets_lost = up.packets_lost;
    out->packets_sent = down.packets_sent;
    out->jitter_ms = up.jitter_ms;
    out->rtt_ms = down.rtt_ms >= 0 ? down.rtt_ms : up.rtt_ms;
}
