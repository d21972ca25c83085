/* A caller's peer connections: descriptions, audio, data. Offers are answered at once, in the same
 * turn (rtc-node blocks while one waits). */
#include <string.h>

#include "base/log.h"
#include "base/metrics.h"
#include "room/caller_internal.h"
#include "rtc/peer.h"
#include "rtc/port.h"

enum {
    LEAVE_WAIT_US = 1000 * 1000, /* signalling may come a round trip after the media */
    PACKETS_MAX = 150,           /* data packets, at once and a second */
    PACKET_EVERY_US = 20 * 1000
};

static void flush_backlog(struct caller *caller)
{
    struct leg *out = legs_out(&caller->legs);
    if (backlog_flush(&caller->backlog, out))
        legs_pump(&caller->legs, out);
}

void caller_send_packet(struct caller *caller, const uint8_t *packet, size_t len)
{
    if (caller->state == CALLER_CLOSED || backlog_add(&caller->backlog, packet, len))
        return;
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
    if (event->type == DATA_EVENT_CHANNEL_OPEN && peer == legs_out(&caller->legs)->peer)
        flush_backlog(caller);
    if (event->type != DATA_EVENT_MESSAGE || !is_packet ||
        !caller->member.token.claims.can_publish_data)
        return;
    if (!bucket_take(&caller->packets, PACKET_EVERY_US, PACKETS_MAX, 1,
                     loop_now_us(caller->config.loop))) {
        metric_add(METRIC_REQUESTS_DROPPED, 1);
        return;
    }
    if (packet_read(&caller->reader, event->bytes, event->len, &sender) != OK)
        log_debug("room.bad_packet", LOG_S("caller", caller->member.sid));
}

static void on_audio(struct caller *caller, const struct peer_audio *audio, int64_t now_us)
{
    const struct track *track = tracks_microphone(&caller->tracks);
    bool is_microphone = track && track->mid[0] && (!track->ssrc || track->ssrc == audio->ssrc);
    if (!is_microphone || audio->payload_type != caller->legs.up.result.payload_type ||
        audio->len == 0)
        return;
    meter_hear(&caller->meter, audio->level_dbov);
    caller->config.fns->on_opus(caller->config.arg, audio->payload, audio->len, audio->sequence,
                                audio->timestamp, now_us);
}

/* Who leaves says so by signalling, too, but that comes another way and may be the later one. */
static void media_closed(struct caller *caller, int64_t now_us)
{
    if (!caller_move(caller, CALLER_MEDIA_CLOSED))
        return;
    if (caller->signal.ws)
        timer_set(&caller->silence_timer, now_us + LEAVE_WAIT_US);
    else
        caller_gone(caller, ROOM_LEFT_LOST);
}

static void on_port(void *arg, struct peer *peer, const struct peer_event *event, int64_t now_us)
{
    struct caller *caller = arg;
    bool is_primary = peer == legs_out(&caller->legs)->peer;
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
        if (peer == caller->legs.up.peer && caller->state == CALLER_UP)
            on_audio(caller, &event->audio, now_us);
        break;
    case PEER_EVENT_DATA:
        on_data(caller, peer, &event->data);
        break;
    case PEER_EVENT_FLOODED:
        caller_put_out(caller, "more packets than a caller may send");
        break;
    case PEER_EVENT_CLOSED:
        if (is_primary)
            media_closed(caller, now_us);
        break;
    case PEER_EVENT_FAILED: /* of either: who is heard but hears nothing, or the reverse, has no
                               call */
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
    return legs_open(&caller->legs, caller->config.port, &config) == OK;
}

static enum err answer_offer(struct caller *caller, const char *text, uint32_t id,
                             struct fault *fault)
{
    struct legs *legs = &caller->legs;
    AUTO(sdp) offer = sdp_new();
    AUTO_BUF out = BUF_INIT(LEGS_SDP_MAX_BYTES);
    enum err err = sdp_parse(text, strlen(text), offer, fault);
    if (!err)
        err = legs_answer(legs, caller->config.room, offer, loop_now_us(caller->config.loop), &out,
                          fault);
    if (err)
        return err;
    struct signal_description answer = {false, out.data, id, legs_out(legs)->result.track_mid};
    signal_send_description(&caller->signal, &answer, caller->config.room);
    struct tracks_bound bound = tracks_bind(&caller->tracks, offer);
    for (unsigned i = 0; i < bound.added_count; i++)
        signal_send_subscribed(&caller->signal, bound.added[i]);
    if (bound.has_changed) {
        caller_tell_muted(caller);
        caller_tell_self(caller);
    }
    legs_pump(legs, &legs->up);
    return OK;
}

void caller_offered(struct caller *caller, const char *text, uint32_t id)
{
    struct fault fault = {0};
    if (answer_offer(caller, text, id, &fault))
        caller_refuse(caller, LEAVE_JOIN_FAILURE, fault.text);
}

/* At most one offer waits for its answer; another wish is remembered. */
void caller_offer_downlink(struct caller *caller)
{
    struct legs *legs = &caller->legs;
    AUTO_BUF out = BUF_INIT(LEGS_SDP_MAX_BYTES);
    if (legs_offer(legs, caller->config.room, &out))
        return;
    struct signal_description offer = {true, out.data, legs->offer_id,
                                       legs_out(legs)->result.track_mid};
    signal_send_description(&caller->signal, &offer, caller->config.room);
}

void caller_answered(struct caller *caller, const char *text)
{
    struct fault fault = {0};
    struct legs *legs = &caller->legs;
    if (!legs_expects_answer(legs))
        return;
    if (legs_take_answer(legs, text, loop_now_us(caller->config.loop), &fault)) {
        caller_refuse(caller, LEAVE_JOIN_FAILURE, fault.text);
        return;
    }
    flush_backlog(caller);
    if (legs->offer_wanted)
        caller_offer_downlink(caller);
}

void caller_send_opus(struct caller *caller, const uint8_t *payload, size_t len, uint32_t timestamp,
                      bool is_first)
{
    struct peer_opus opus = {payload, len, timestamp, 0, is_first};
    if (caller->state == CALLER_UP)
        legs_send_opus(&caller->legs, &opus, loop_now_us(caller->config.loop));
}

int64_t caller_last_packet_us(const struct caller *caller)
{
    return legs_last_packet_us(&caller->legs);
}

void caller_stats(const struct caller *caller, struct room_stats *out)
{
    legs_stats(&caller->legs, out);
}
