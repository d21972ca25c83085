/* A caller's peer connections: descriptions, audio, data. Offers are answered at once, in the same
 * turn (rtc-node blocks while one waits). */
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "room/caller_internal.h"
#include "rtc/peer.h"
#include "rtc/port.h"

enum {
    SDP_OUT_MAX_BYTES = 65536,
    LEAVE_WAIT_US = 1000 * 1000, /* signalling may be a round trip behind the media */
};

struct waiting_packet {
    struct list_node node;
    size_t len;
    uint8_t bytes[];
};

struct leg *caller_out(struct caller *caller)
{
    return caller->is_single_pc ? &caller->up : &caller->down;
}

static struct negotiate_track agent_track(const struct caller *caller, char *stream, size_t size)
{
    const struct room_view *room = caller->config.room;
    struct negotiate_track track = {.stream = stream};
    struct buf text = BUF_INIT(size - 1);
    if (!room->has_agent)
        return track;
    buf_printf(&text, "%s|%s", room->agent_sid, room->agent_track_sid);
    memcpy(stream, text.data, text.len + 1);
    buf_clear(&text);
    track.sid = room->agent_track_sid;
    return track;
}

static void flush_backlog(struct caller *caller)
{
    struct leg *out = caller_out(caller);
    struct waiting_packet *packet;
    LIST_EACH (packet, &caller->backlog, struct waiting_packet, node) {
        enum err err = leg_send(out, packet->bytes, packet->len);
        if (err == ERR_CONFLICT)
            return;
        if (err != OK)
            log_debug("room.packet_dropped", LOG_S("caller", caller->sid));
        list_remove(&packet->node);
        caller->backlog_bytes -= packet->len;
        mem_free(packet);
    }
    if (out->peer)
        port_pump(caller->config.port, out->peer);
}

void caller_send_packet(struct caller *caller, const uint8_t *packet, size_t len)
{
    if (caller->state == CALLER_CLOSED || caller->backlog_bytes + len > CALLER_BACKLOG_MAX_BYTES)
        return;
    struct waiting_packet *waiting = mem_zalloc(sizeof *waiting + len);
    waiting->len = len;
    memcpy(waiting->bytes, packet, len);
    list_push_back(&caller->backlog, &waiting->node);
    caller->backlog_bytes += len;
    flush_backlog(caller);
}

static void answer_packet(void *arg, const uint8_t *packet, size_t len)
{
    caller_send_packet(arg, packet, len);
}

static void on_data(struct caller *caller, struct peer *peer, const struct data_event *event)
{
    const struct room_view *room = caller->config.room;
    struct packet_sender sender = {room->agent_identity, room->agent_sid, answer_packet, caller};
    bool is_packet = strcmp(event->channel.label, CHANNEL_RELIABLE) == 0 ||
                     strcmp(event->channel.label, CHANNEL_LOSSY) == 0;
    if (event->type == DATA_EVENT_CHANNEL_OPEN && peer == caller_out(caller)->peer)
        flush_backlog(caller);
    if (event->type != DATA_EVENT_MESSAGE || !is_packet || !caller->token.claims.can_publish_data)
        return;
    if (!bucket_take(&caller->packets, CALLER_PACKET_EVERY_US, CALLER_PACKETS, 1,
                     loop_now_us(caller->config.loop))) {
        metric_add(METRIC_REQUESTS_DROPPED, 1);
        return;
    }
    if (packet_read(&caller->reader, event->bytes, event->len, &sender) != OK)
        log_debug("room.bad_packet", LOG_S("caller", caller->sid));
}

static void on_audio(struct caller *caller, const struct peer_audio *audio, int64_t now_us)
{
    const struct caller_track *track = caller_microphone(caller);
    bool is_microphone = track && track->mid[0] && (!track->ssrc || track->ssrc == audio->ssrc);
    if (!is_microphone || audio->payload_type != caller->up.result.payload_type || audio->len == 0)
        return;
    if (audio->level_dbov <= 0)
        caller->level_dbov = MAX(caller->level_dbov, audio->level_dbov);
    caller->config.fns->on_opus(caller->config.arg, audio->payload, audio->len, audio->sequence,
                                audio->timestamp, now_us);
}

/* Who leaves says so by signalling, too, but that comes another way and may be the later one. */
static void media_closed(struct caller *caller, int64_t now_us)
{
    caller->is_media_closed = true;
    if (caller->ws)
        timer_set(&caller->silence_timer, now_us + LEAVE_WAIT_US);
    else
        caller_gone(caller, ROOM_LEFT_LOST);
}

static void on_port(void *arg, struct peer *peer, const struct peer_event *event, int64_t now_us)
{
    struct caller *caller = arg;
    bool is_primary = peer == caller_out(caller)->peer;
    switch (event->type) {
    case PEER_EVENT_CONNECTED:
        if (is_primary)
            caller_up(caller);
        break;
    case PEER_EVENT_SILENT:
        if (is_primary && caller->state == CALLER_UP)
            timer_set(&caller->silence_timer, now_us);
        break;
    case PEER_EVENT_BACK:
        if (is_primary)
            timer_stop(&caller->silence_timer);
        break;
    case PEER_EVENT_AUDIO:
        if (peer == caller->up.peer && caller->state == CALLER_UP)
            on_audio(caller, &event->audio, now_us);
        break;
    case PEER_EVENT_DATA:
        on_data(caller, peer, &event->data);
        break;
    case PEER_EVENT_FLOODED:
        caller_put_out(caller, "more packets than a caller may send");
        break;
    case PEER_EVENT_CLOSED:
        if (is_primary && caller->state == CALLER_UP)
            media_closed(caller, now_us);
        break;
    case PEER_EVENT_FAILED:
        if (is_primary)
            caller_refuse(caller, LEAVE_JOIN_FAILURE, event->reason);
        break;
    }
}

bool caller_media_open(struct caller *caller)
{
    struct port_peer_config config = {
        .role = PEER_LITE,
        .silence_limit_us = caller->config.silence_limit_us,
        .fn = on_port,
        .arg = caller,
    };
    return leg_open(&caller->up, caller->config.port, &config) == OK &&
           (caller->is_single_pc || leg_open(&caller->down, caller->config.port, &config) == OK);
}

void caller_media_close(struct caller *caller)
{
    leg_close(&caller->up, caller->config.port);
    leg_close(&caller->down, caller->config.port);
    struct waiting_packet *packet;
    LIST_EACH (packet, &caller->backlog, struct waiting_packet, node) {
        list_remove(&packet->node);
        mem_free(packet);
    }
}

static enum err answer_offer(struct caller *caller, const char *text, uint32_t id,
                             struct fault *fault)
{
    char stream[2 * ID_SIZE], mid[SDP_MID_SIZE];
    struct leg *leg = &caller->up;
    AUTO(sdp) offer = sdp_new();
    AUTO(sdp) answer = sdp_new();
    AUTO_BUF out = BUF_INIT(SDP_OUT_MAX_BYTES);
    enum err err = sdp_parse(text, strlen(text), offer, fault);
    if (err != OK)
        return err;
    struct negotiate_track track = {0};
    if (caller->is_single_pc) {
        track = agent_track(caller, stream, sizeof stream);
        track.ssrc = peer_ssrc(leg->peer);
    }
    memcpy(mid, leg->result.track_mid, sizeof mid);
    leg->own.session_version++;
    negotiate_answer(offer, &leg->own, &track, mid, answer, &leg->result);
    err = leg_set_remote(leg, offer, loop_now_us(caller->config.loop), fault);
    if (err != OK)
        return err;
    if (sdp_write(answer, &out) != OK)
        return fault_set(fault, ERR_LIMIT, "answer is too long");
    caller_send_description(caller, "answer", out.data, id);
    caller_bind_tracks(caller, offer);
    port_pump(caller->config.port, leg->peer);
    return OK;
}

void caller_offered(struct caller *caller, const char *text, uint32_t id)
{
    struct fault fault = {0};
    if (answer_offer(caller, text, id, &fault) != OK)
        caller_refuse(caller, LEAVE_JOIN_FAILURE, fault.text);
}

/* At most one offer waits for its answer; another wish is remembered. */
void caller_offer_downlink(struct caller *caller)
{
    char stream[2 * ID_SIZE];
    struct leg *leg = &caller->down;
    if (caller->offer_waits) {
        caller->offer_wanted = true;
        return;
    }
    AUTO(sdp) offer = sdp_new();
    AUTO_BUF out = BUF_INIT(SDP_OUT_MAX_BYTES);
    struct negotiate_track track = agent_track(caller, stream, sizeof stream);
    track.ssrc = peer_ssrc(leg->peer);
    leg->own.session_version++;
    negotiate_downlink(&leg->own, &track, offer);
    if (sdp_write(offer, &out) != OK)
        return;
    leg->result.track_mid[0] = 0;
    if (track.sid)
        memcpy(leg->result.track_mid, offer->sections[0].mid, sizeof leg->result.track_mid);
    caller->offer_waits = true;
    caller->offer_wanted = false;
    caller_send_description(caller, "offer", out.data, ++caller->offer_id);
}

static enum err take_answer(struct caller *caller, const char *text, struct fault *fault)
{
    struct leg *leg = &caller->down;
    bool is_first = !leg->has_remote;
    AUTO(sdp) answer = sdp_new();
    enum err err = sdp_parse(text, strlen(text), answer, fault);
    if (err != OK)
        return err;
    char mid[SDP_MID_SIZE];
    memcpy(mid, leg->result.track_mid, sizeof mid);
    negotiate_read_answer(answer, &leg->result);
    memcpy(leg->result.track_mid, mid, sizeof mid);
    err = leg_set_remote(leg, answer, loop_now_us(caller->config.loop), fault);
    if (err == OK && is_first)
        leg_open_channels(leg);
    port_pump(caller->config.port, leg->peer);
    return err;
}

void caller_answered(struct caller *caller, const char *text)
{
    struct fault fault = {0};
    if (caller->is_single_pc || !caller->offer_waits)
        return;
    caller->offer_waits = false;
    if (take_answer(caller, text, &fault) != OK) {
        caller_refuse(caller, LEAVE_JOIN_FAILURE, fault.text);
        return;
    }
    flush_backlog(caller);
    if (caller->offer_wanted)
        caller_offer_downlink(caller);
}

void caller_send_opus(struct caller *caller, const uint8_t *payload, size_t len, uint32_t timestamp,
                      bool is_first)
{
    struct leg *out = caller_out(caller);
    bool is_heard = caller->wants_audio && !caller->is_paused && out->result.payload_type >= 0 &&
                    out->result.track_mid[0];
    if (caller->state != CALLER_UP || !is_heard)
        return;
    struct peer_opus opus = {payload, len, timestamp, (uint8_t)out->result.payload_type, is_first};
    peer_send_audio(out->peer, &opus, loop_now_us(caller->config.loop));
    port_pump(caller->config.port, out->peer);
}

int64_t caller_last_packet_us(const struct caller *caller)
{
    const struct leg *legs[] = {&caller->up, &caller->down};
    int64_t last_us = 0;
    for (size_t i = 0; i < ARRAY_LEN(legs); i++) {
        struct peer_stats stats;
        if (!legs[i]->peer)
            continue;
        peer_stats(legs[i]->peer, &stats);
        last_us = MAX(last_us, stats.last_packet_us);
    }
    return last_us;
}

void caller_stats(const struct caller *caller, struct room_stats *out)
{
    struct peer_stats up, down;
    const struct leg *leg = caller->is_single_pc ? &caller->up : &caller->down;
    *out = (struct room_stats){.jitter_ms = -1, .rtt_ms = -1};
    if (!caller->up.peer || !leg->peer)
        return;
    peer_stats(caller->up.peer, &up);
    peer_stats(leg->peer, &down);
    out->packets_received = up.packets_received;
    out->packets_lost = up.packets_lost;
    out->packets_sent = down.packets_sent;
    out->jitter_ms = up.jitter_ms;
    out->rtt_ms = down.rtt_ms >= 0 ? down.rtt_ms : up.rtt_ms;
}
