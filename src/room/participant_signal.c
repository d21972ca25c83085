/* Messages of a participant: SignalRequests out, SignalResponses in (LiveKit, The C code as a
 * LiveKit client). */
#include <string.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/log.h"
#include "net/url.h"
#include "net/ws.h"
#include "room/livekit.pb-c.h"
#include "room/participant_internal.h"

enum {
    REQUEST_MAX_BYTES = 65536,
    SDP_OUT_MAX_BYTES = 65536,
    KIND_AGENT = 4,
    STATE_DISCONNECTED = 3,
    SOURCE_MICROPHONE = 2,
    TARGET_SUBSCRIBER = 1,
    ACTION_DISCONNECT = 0,
    REASON_CLIENT_INITIATED = 1,
    PROTOCOL = 16,
    SDK_CPP = 10
};

static char *text_of(const char *text)
{
    return (char *)(uintptr_t)(text ? text : "");
}

static void send_request(struct participant *participant, const Lk__SignalRequest *request)
{
    AUTO_BUF bytes = BUF_INIT(REQUEST_MAX_BYTES);
    size_t len = lk__signal_request__get_packed_size(request);
    if (!participant->ws || buf_reserve(&bytes, len) != OK)
        return;
    lk__signal_request__pack(request, (uint8_t *)bytes.data);
    if (ws_send_binary(participant->ws, bytes.data, len) != OK)
        log_debug("room.request_not_sent", LOG_S("participant", participant->sid));
}

/* A request of one message. */
#define SEND(participant, which, member, message)                                                  \
    do {                                                                                           \
        Lk__SignalRequest request_ = LK__SIGNAL_REQUEST__INIT;                                     \
        request_.message_case = LK__SIGNAL_REQUEST__MESSAGE_##which;                               \
        request_.member = (message);                                                               \
        send_request((participant), &request_);                                                    \
    } while (0)

void participant_send_description(struct participant *participant, const char *type,
                                  const char *sdp, uint32_t id)
{
    Lk__SessionDescription description = LK__SESSION_DESCRIPTION__INIT;
    Lk__SignalRequest request = LK__SIGNAL_REQUEST__INIT;
    description.type = text_of(type);
    description.sdp = text_of(sdp);
    description.id = id;
    if (strcmp(type, "offer") == 0) {
        request.message_case = LK__SIGNAL_REQUEST__MESSAGE_OFFER;
        request.offer = &description;
    } else {
        request.message_case = LK__SIGNAL_REQUEST__MESSAGE_ANSWER;
        request.answer = &description;
    }
    send_request(participant, &request);
}

static void fill_add_track(const struct participant *participant, Lk__AddTrackRequest *out)
{
    lk__add_track_request__init(out);
    out->cid = text_of(participant->cid);
    out->name = text_of("microphone");
    out->source = SOURCE_MICROPHONE;
    out->disable_red = true;
    out->stream = text_of(participant->stream);
}

void participant_send_add_track(struct participant *participant)
{
    Lk__AddTrackRequest track;
    fill_add_track(participant, &track);
    SEND(participant, ADD_TRACK, add_track, &track);
}

void participant_send_mute(struct participant *participant, bool is_muted)
{
    Lk__MuteTrackRequest mute = LK__MUTE_TRACK_REQUEST__INIT;
    mute.sid = participant->track_sid;
    mute.muted = is_muted;
    SEND(participant, MUTE, mute, &mute);
}

void participant_send_attribute(struct participant *participant, const char *key, const char *value)
{
    Lk__Pair pair = LK__PAIR__INIT;
    Lk__Pair *pairs[] = {&pair};
    Lk__UpdateParticipantMetadata update = LK__UPDATE_PARTICIPANT_METADATA__INIT;
    pair.key = text_of(key);
    pair.value = text_of(value);
    update.attributes = pairs;
    update.n_attributes = 1;
    SEND(participant, UPDATE_METADATA, update_metadata, &update);
}

void participant_send_ping(struct participant *participant)
{
    Lk__Ping ping = LK__PING__INIT;
    ping.timestamp = clock_wall_ms();
    SEND(participant, PING_REQ, ping_req, &ping);
}

void participant_send_leave(struct participant *participant)
{
    Lk__LeaveRequest leave = LK__LEAVE_REQUEST__INIT;
    leave.reason = REASON_CLIENT_INITIATED;
    leave.action = ACTION_DISCONNECT;
    SEND(participant, LEAVE, leave, &leave);
}

static enum err write_join_request(struct participant *participant, struct buf *out)
{
    AUTO_BUF sdp = BUF_INIT(SDP_OUT_MAX_BYTES);
    AUTO_BUF inner = BUF_INIT(REQUEST_MAX_BYTES);
    AUTO_BUF outer = BUF_INIT(REQUEST_MAX_BYTES);
    Lk__ClientInfo client = LK__CLIENT_INFO__INIT;
    Lk__ConnectionSettings settings = LK__CONNECTION_SETTINGS__INIT;
    Lk__AddTrackRequest track, *tracks = &track;
    Lk__SessionDescription offer = LK__SESSION_DESCRIPTION__INIT;
    Lk__JoinRequest join = LK__JOIN_REQUEST__INIT;
    Lk__WrappedJoinRequest wrapped = LK__WRAPPED_JOIN_REQUEST__INIT;
    enum err err = participant_write_offer(participant, &sdp);
    if (err)
        return err;
    client.sdk = SDK_CPP;
    client.version = text_of(EARSHOT_VERSION);
    client.protocol = PROTOCOL;
    settings.auto_subscribe = true;
    fill_add_track(participant, &track);
    offer.type = text_of("offer");
    offer.sdp = sdp.data;
    offer.id = participant->offer_id;
    join.client_info = &client;
    join.connection_settings = &settings;
    join.n_add_track_requests = 1;
    join.add_track_requests = &tracks;
    join.publisher_offer = &offer;
    size_t len = lk__join_request__get_packed_size(&join);
    if (buf_reserve(&inner, len) != OK)
        return ERR_LIMIT;
    lk__join_request__pack(&join, (uint8_t *)inner.data);
    wrapped.join_request = (ProtobufCBinaryData){.len = len, .data = (uint8_t *)inner.data};
    len = lk__wrapped_join_request__get_packed_size(&wrapped);
    if (buf_reserve(&outer, len) != OK)
        return ERR_LIMIT;
    lk__wrapped_join_request__pack(&wrapped, (uint8_t *)outer.data);
    return base64url_encode(outer.data, len, out);
}

enum err participant_target(struct participant *participant, struct buf *out)
{
    if (!participant->config.is_single_pc)
        return buf_printf(out,
                          "/rtc?auto_subscribe=1&sdk=cpp&version=%s&protocol=%d&client_protocol=0",
                          EARSHOT_VERSION, PROTOCOL);
    buf_append_str(out, "/rtc/v1?join_request=");
    return write_join_request(participant, out);
}

static void copy_text(char *to, size_t size, const char *from)
{
    size_t len = strnlen(from, size - 1);
    memcpy(to, from, len);
    to[len] = 0;
}

static void take_agent(struct participant *participant, const Lk__ParticipantInfo *info)
{
    if (info->kind != KIND_AGENT || info->state == STATE_DISCONNECTED)
        return;
    copy_text(participant->agent.identity, sizeof(participant->agent.identity), info->identity);
    copy_text(participant->agent.name, sizeof(participant->agent.name), info->name);
    for (size_t i = 0; i < info->n_attributes; i++) {
        const Lk__Pair *pair = info->attributes[i];
        if (strcmp(pair->key, "lk.agent.state") != 0 ||
            strcmp(pair->value, participant->agent.state) == 0)
            continue;
        copy_text(participant->agent.state, sizeof(participant->agent.state), pair->value);
        if (participant->config.events->on_agent_state)
            participant->config.events->on_agent_state(participant->config.arg,
                                                       participant->agent.state);
    }
}

static void on_join(struct participant *participant, const Lk__SignalResponse *response)
{
    const Lk__JoinResponse *join = response->join;
    if (!join->participant || !participant_move(participant, PARTICIPANT_JOINED))
        return;
    copy_text(participant->sid, sizeof(participant->sid), join->participant->sid);
    copy_text(participant->identity, sizeof(participant->identity), join->participant->identity);
    if (join->ping_interval > 0 && join->ping_interval < 3600)
        participant->ping.interval_us = (int64_t)join->ping_interval * 1000000;
    if (join->ping_timeout > 0 && join->ping_timeout < 3600)
        participant->ping.timeout_us = (int64_t)join->ping_timeout * 1000000;
    timer_set_after(&participant->ping.timer, participant->ping.interval_us);
    for (size_t i = 0; i < join->n_other_participants; i++)
        take_agent(participant, join->other_participants[i]);
    if (participant->config.is_single_pc)
        return; /* track and offer went with the request */
    participant_send_add_track(participant);
    participant_offer(participant);
}

static void on_answer(struct participant *participant, const Lk__SignalResponse *response)
{
    participant_answered(participant, response->answer->sdp);
}

static void on_offer(struct participant *participant, const Lk__SignalResponse *response)
{
    participant_offered(participant, response->offer->sdp, response->offer->id);
}

static void on_trickle(struct participant *participant, const Lk__SignalResponse *response)
{
    participant_candidate(participant, response->trickle->candidate_init,
                          response->trickle->target == TARGET_SUBSCRIBER);
}

static void on_update(struct participant *participant, const Lk__SignalResponse *response)
{
    for (size_t i = 0; i < response->update->n_participants; i++)
        take_agent(participant, response->update->participants[i]);
}

static void on_published(struct participant *participant, const Lk__SignalResponse *response)
{
    if (response->track_published->track)
        copy_text(participant->track_sid, sizeof(participant->track_sid),
                  response->track_published->track->sid);
}

static const char *reason_name(int reason)
{
    static const char *const names[] = {
        "unknown",         "client initiated",    "duplicate identity",
        "server shutdown", "participant removed", "room deleted",
        "state mismatch",  "join failure",        "migration",
        "signal closed",   "room closed",         "user unavailable",
        "user rejected",   "SIP trunk failure",   "connection timeout",
        "media failure",   "agent error",
    };
    return reason >= 0 && (size_t)reason < ARRAY_LEN(names) ? names[reason] : names[0];
}

static void on_leave(struct participant *participant, const Lk__SignalResponse *response)
{
    participant_end(participant, ERR_CLOSED, reason_name(response->leave->reason));
}

/* Single peer connection: the server wants a new offer (the agent has come). */
static void on_sections(struct participant *participant, const Lk__SignalResponse *response)
{
    (void)response;
    if (participant->config.is_single_pc)
        participant_offer(participant);
}

static const struct {
    Lk__SignalResponse__MessageCase type;
    void (*on)(struct participant *participant, const Lk__SignalResponse *response);
} handlers[] = {
    {LK__SIGNAL_RESPONSE__MESSAGE_JOIN, on_join},
    {LK__SIGNAL_RESPONSE__MESSAGE_ANSWER, on_answer},
    {LK__SIGNAL_RESPONSE__MESSAGE_OFFER, on_offer},
    {LK__SIGNAL_RESPONSE__MESSAGE_TRICKLE, on_trickle},
    {LK__SIGNAL_RESPONSE__MESSAGE_UPDATE, on_update},
    {LK__SIGNAL_RESPONSE__MESSAGE_TRACK_PUBLISHED, on_published},
    {LK__SIGNAL_RESPONSE__MESSAGE_LEAVE, on_leave},
    {LK__SIGNAL_RESPONSE__MESSAGE_MEDIA_SECTIONS_REQUIREMENT, on_sections},
};

void participant_handle(struct participant *participant, const Lk__SignalResponse *response)
{
    for (size_t i = 0; i < ARRAY_LEN(handlers); i++) {
        if (handlers[i].type != response->message_case)
            continue;
        handlers[i].on(participant, response);
        return;
    }
}
