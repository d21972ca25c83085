/* protobuf-c's texts are not const, so text_of() lends ours; nothing here keeps or changes them. */
#include "room/signal.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/js.h"
#include "base/log.h"
#include "net/ws.h"
#include "room/livekit.pb-c.h"
#include "room/tracks.h"

enum {
    RESPONSE_MAX_BYTES = 131072,
    STATE_JOINED = 1,
    STATE_ACTIVE = 2,
    KIND_AGENT = 4,
    SERVER_PROTOCOL = 16,
    REFRESH_TTL_S = 600
};

/* Clients gate RPC and text-stream chat on it and parse it as x.y.z (LiveKit, First message). */
#define SERVER_VERSION "1.10.0"

static char *text_of(const char *text)
{
    return (char *)(uintptr_t)(text ? text : "");
}

static void send_response(struct signal *signal, const Lk__SignalResponse *response)
{
    size_t len = lk__signal_response__get_packed_size(response);
    AUTO_BUF bytes = BUF_INIT(RESPONSE_MAX_BYTES);
    if (!signal->ws)
        return;
    if (buf_reserve(&bytes, len) != OK) {
        log_warn("room.response_too_long", LOG_S("caller", signal->sid));
        return;
    }
    lk__signal_response__pack(response, (uint8_t *)bytes.data);
    if (ws_send_binary(signal->ws, bytes.data, len) != OK)
        log_debug("room.response_not_sent", LOG_S("caller", signal->sid));
}

/* A response of one message. */
#define SEND(signal, which, member, message)                                                       \
    do {                                                                                           \
        Lk__SignalResponse response_ = LK__SIGNAL_RESPONSE__INIT;                                  \
        response_.message_case = LK__SIGNAL_RESPONSE__MESSAGE_##which;                             \
        response_.member = (message);                                                              \
        send_response((signal), &response_);                                                       \
    } while (0)

/* Messages with what they point to. */
struct self_info {
    Lk__ParticipantInfo info;
    Lk__ParticipantPermission permission;
    Lk__TrackInfo tracks[TRACKS], *track_pointers[TRACKS];
    Lk__Pair pairs[MEMBER_ATTRIBUTES], *pair_pointers[MEMBER_ATTRIBUTES];
};

struct agent_info {
    Lk__ParticipantInfo info, *pointer;
    Lk__ParticipantPermission permission;
    Lk__TrackInfo track, *track_pointer;
    Lk__Pair state, *pair_pointer;
};

static void fill_track(const struct track *track, Lk__TrackInfo *out)
{
    lk__track_info__init(out);
    out->sid = text_of(track->sid);
    out->type = track->type;
    out->name = text_of(track->name);
    out->muted = track->is_muted;
    out->disable_dtx = track->has_no_dtx;
    out->disable_red = track->has_no_red;
    out->source = track->source;
    out->mime_type = text_of(track->type == TRACK_AUDIO ? "audio/opus" : "video/VP8");
    out->mid = text_of(track->mid);
    out->stereo = track->is_stereo;
    out->stream = text_of(track->stream);
    out->n_audio_features = track->feature_count;
    out->audio_features = (int32_t *)(uintptr_t)track->features;
}

static void fill_attributes(const struct js *attributes, struct self_info *out)
{
    size_t count = 0;
    for (void *it = js_first(attributes); it && count < MEMBER_ATTRIBUTES;
         it = js_next(attributes, it)) {
        if (js_type(js_value(it)) != JS_STRING)
            continue;
        lk__pair__init(&out->pairs[count]);
        out->pairs[count].key = text_of(js_key(it));
        out->pairs[count].value = text_of(js_text(js_value(it)));
        out->pair_pointers[count] = &out->pairs[count];
        count++;
    }
    out->info.n_attributes = count;
    out->info.attributes = out->pair_pointers;
}

static void fill_self(const struct signal_self *self, struct self_info *out)
{
    struct member *member = self->member;
    const struct token_claims *claims = &member->token.claims;
    size_t tracks = 0;
    lk__participant_info__init(&out->info);
    lk__participant_permission__init(&out->permission);
    for (unsigned i = 0; i < TRACKS; i++) {
        const struct track *track = &self->tracks->all[i];
        if (!track->is_used || !track->mid[0])
            continue;
        fill_track(track, &out->tracks[tracks]);
        out->track_pointers[tracks] = &out->tracks[tracks];
        tracks++;
    }
    out->permission.can_subscribe = claims->can_subscribe;
    out->permission.can_publish = claims->can_publish;
    out->permission.can_publish_data = claims->can_publish_data;
    out->permission.can_update_metadata = claims->can_update_own_metadata;
    out->permission.hidden = claims->is_hidden;
    out->info.sid = text_of(member->sid);
    out->info.identity = text_of(claims->identity);
    out->info.name = text_of(member->name);
    out->info.metadata = text_of(member->metadata);
    out->info.state = member->is_active ? STATE_ACTIVE : STATE_JOINED;
    out->info.joined_at = member->joined_wall_ms / 1000;
    out->info.joined_at_ms = member->joined_wall_ms;
    out->info.version = ++member->version; /* must rise strictly, or the update is ignored */
    out->info.permission = &out->permission;
    out->info.is_publisher = tracks > 0;
    out->info.n_tracks = tracks;
    out->info.tracks = out->track_pointers;
    fill_attributes(member->attributes, out);
}

static void fill_agent(const struct room_view *room, struct agent_info *out)
{
    lk__participant_info__init(&out->info);
    lk__participant_permission__init(&out->permission);
    lk__track_info__init(&out->track);
    lk__pair__init(&out->state);
    out->state.key = text_of("lk.agent.state");
    out->state.value = text_of(room->agent_state);
    out->pair_pointer = &out->state;
    out->track.sid = text_of(room->agent_track_sid);
    out->track.type = TRACK_AUDIO;
    out->track.name = text_of("agent");
    out->track.source = SOURCE_MICROPHONE;
    out->track.mime_type = text_of("audio/opus");
    out->track.disable_red = true;
    out->track_pointer = &out->track;
    out->permission.can_subscribe = out->permission.can_publish = true;
    out->permission.can_publish_data = out->permission.can_update_metadata = true;
    out->permission.agent = true;
    out->info.sid = text_of(room->agent_sid);
    out->info.identity = text_of(room->agent_identity);
    out->info.name = text_of(room->agent_name);
    out->info.state = STATE_ACTIVE;
    out->info.kind = KIND_AGENT;
    out->info.joined_at = room->created_wall_ms / 1000;
    out->info.joined_at_ms = room->created_wall_ms;
    out->info.version = room->agent_version;
    out->info.permission = &out->permission;
    out->info.is_publisher = true;
    out->info.n_tracks = 1;
    out->info.tracks = &out->track_pointer;
    out->info.n_attributes = 1;
    out->info.attributes = &out->pair_pointer;
    out->pointer = &out->info;
}

static void fill_room(const struct room_view *room, Lk__Room *out)
{
    lk__room__init(out);
    out->sid = text_of(room->sid);
    out->name = text_of(room->name);
    out->metadata = text_of(room->metadata);
    out->creation_time = room->created_wall_ms / 1000;
    out->creation_time_ms = room->created_wall_ms;
    out->num_participants = room->has_agent ? 2 : 1;
    out->num_publishers = room->has_agent ? 1 : 0;
}

static Lk__ServerInfo server_info(void)
{
    Lk__ServerInfo server = LK__SERVER_INFO__INIT;
    server.version = text_of(SERVER_VERSION);
    server.protocol = SERVER_PROTOCOL;
    server.node_id = text_of("ND_earshot");
    return server;
}

void signal_send_join(struct signal *signal, const struct signal_self *self,
                      const struct room_view *room, bool is_single_pc)
{
    struct self_info self_info;
    struct agent_info agent;
    Lk__Room room_info;
    Lk__ServerInfo server = server_info();
    Lk__Codec opus = LK__CODEC__INIT, *codecs = &opus;
    Lk__JoinResponse join = LK__JOIN_RESPONSE__INIT;
    fill_self(self, &self_info);
    fill_room(room, &room_info);
    if (room->has_agent) {
        fill_agent(room, &agent);
        join.n_other_participants = 1;
        join.other_participants = &agent.pointer;
    }
    opus.mime = text_of("audio/opus");
    join.room = &room_info;
    join.participant = &self_info.info;
    join.server_version = text_of(SERVER_VERSION);
    join.server_info = &server;
    join.subscriber_primary = !is_single_pc;
    join.ping_interval = PING_INTERVAL_S;
    join.ping_timeout = PING_TIMEOUT_S;
    join.n_enabled_publish_codecs = 1;
    join.enabled_publish_codecs = &codecs;
    SEND(signal, JOIN, join, &join);
}

void signal_send_reconnect(struct signal *signal, uint32_t last_sequence)
{
    Lk__ServerInfo server = server_info();
    Lk__ReconnectResponse reconnect = LK__RECONNECT_RESPONSE__INIT;
    reconnect.server_info = &server;
    reconnect.last_message_seq = last_sequence;
    SEND(signal, RECONNECT, reconnect, &reconnect);
}

void signal_send_room(struct signal *signal, const struct room_view *room)
{
    Lk__Room info;
    Lk__RoomUpdate update = LK__ROOM_UPDATE__INIT;
    fill_room(room, &info);
    update.room = &info;
    SEND(signal, ROOM_UPDATE, room_update, &update);
}

/* With the map from section to track that single-PC clients need to name what they hear. */
void signal_send_description(struct signal *signal, const struct signal_description *description,
                             const struct room_view *room)
{
    Lk__Pair pair = LK__PAIR__INIT, *pairs = &pair;
    Lk__SessionDescription message = LK__SESSION_DESCRIPTION__INIT;
    Lk__SignalResponse response = LK__SIGNAL_RESPONSE__INIT;
    message.type = text_of(description->is_offer ? "offer" : "answer");
    message.sdp = text_of(description->sdp);
    message.id = description->id;
    if (description->track_mid[0] && room->has_agent) {
        pair.key = text_of(description->track_mid);
        pair.value = text_of(room->agent_track_sid);
        message.n_mid_to_track_id = 1;
        message.mid_to_track_id = &pairs;
    }
    if (description->is_offer) {
        response.message_case = LK__SIGNAL_RESPONSE__MESSAGE_OFFER;
        response.offer = &message;
    } else {
        response.message_case = LK__SIGNAL_RESPONSE__MESSAGE_ANSWER;
        response.answer = &message;
    }
    send_response(signal, &response);
}

static void send_update(struct signal *signal, Lk__ParticipantInfo **infos, size_t count)
{
    Lk__ParticipantUpdate update = LK__PARTICIPANT_UPDATE__INIT;
    update.n_participants = count;
    update.participants = infos;
    SEND(signal, UPDATE, update, &update);
}

void signal_send_self(struct signal *signal, const struct signal_self *self)
{
    struct self_info info;
    Lk__ParticipantInfo *infos[] = {&info.info};
    fill_self(self, &info);
    send_update(signal, infos, 1);
}

void signal_send_agent(struct signal *signal, const struct room_view *room)
{
    struct agent_info agent;
    Lk__ParticipantInfo *infos[] = {&agent.info};
    fill_agent(room, &agent);
    send_update(signal, infos, 1);
}

void signal_send_everyone(struct signal *signal, const struct signal_self *self,
                          const struct room_view *room)
{
    struct self_info info;
    struct agent_info agent;
    Lk__ParticipantInfo *infos[] = {&info.info, &agent.info};
    fill_self(self, &info);
    if (room->has_agent)
        fill_agent(room, &agent);
    send_update(signal, infos, room->has_agent ? 2 : 1);
}

void signal_send_sections_requirement(struct signal *signal)
{
    Lk__MediaSectionsRequirement requirement = LK__MEDIA_SECTIONS_REQUIREMENT__INIT;
    SEND(signal, MEDIA_SECTIONS_REQUIREMENT, media_sections_requirement, &requirement);
}

void signal_send_published(struct signal *signal, const struct track *track)
{
    Lk__TrackInfo info;
    Lk__TrackPublishedResponse published = LK__TRACK_PUBLISHED_RESPONSE__INIT;
    fill_track(track, &info);
    published.cid = text_of(track->cid);
    published.track = &info;
    SEND(signal, TRACK_PUBLISHED, track_published, &published);
}

void signal_send_subscribed(struct signal *signal, const struct track *track)
{
    Lk__TrackSubscribed subscribed = LK__TRACK_SUBSCRIBED__INIT;
    subscribed.track_sid = text_of(track->sid);
    SEND(signal, TRACK_SUBSCRIBED, track_subscribed, &subscribed);
}

void signal_send_leave(struct signal *signal, enum caller_leave_reason reason,
                       enum caller_leave_action action)
{
    Lk__LeaveRequest leave = LK__LEAVE_REQUEST__INIT;
    leave.reason = (int32_t)reason;
    leave.action = (int32_t)action;
    leave.can_reconnect = action != ACTION_DISCONNECT;
    SEND(signal, LEAVE, leave, &leave);
}

void signal_send_refresh_token(struct signal *signal, const struct member *member,
                               const struct token_signer *signer)
{
    AUTO_BUF text = BUF_INIT(TOKEN_MAX_BYTES);
    struct token_claims claims = member->token.claims;
    claims.name = member->name;
    claims.metadata = member->metadata;
    claims.attributes = member->attributes;
    claims.not_before_s = 0;
    claims.expires_s = MAX(claims.expires_s, clock_wall_ms() / 1000 + REFRESH_TTL_S);
    if (token_mint(signer, &claims, &text) != OK)
        return;
    SEND(signal, REFRESH_TOKEN, refresh_token, text.data);
}

void signal_send_pong(struct signal *signal, int64_t timestamp, bool is_old_form)
{
    Lk__Pong pong = LK__PONG__INIT;
    Lk__SignalResponse response = LK__SIGNAL_RESPONSE__INIT;
    pong.last_ping_timestamp = timestamp;
    pong.timestamp = clock_wall_ms();
    if (is_old_form) {
        response.message_case = LK__SIGNAL_RESPONSE__MESSAGE_PONG;
        response.pong = pong.timestamp;
    } else {
        response.message_case = LK__SIGNAL_RESPONSE__MESSAGE_PONG_RESP;
        response.pong_resp = &pong;
    }
    send_response(signal, &response);
}

void signal_send_metadata_result(struct signal *signal, uint32_t request_id,
                                 enum request_reason reason)
{
    Lk__RequestResponse result = LK__REQUEST_RESPONSE__INIT;
    result.request_id = request_id;
    result.reason = (int32_t)reason;
    if (reason == REQUEST_NOT_ALLOWED)
        result.message = text_of("does not have permission to update own metadata");
    else if (reason == REQUEST_LIMIT_EXCEEDED)
        result.message = text_of("metadata is too large");
    SEND(signal, REQUEST_RESPONSE, request_response, &result);
}

void signal_send_data_track_refusal(struct signal *signal, uint32_t handle)
{
    Lk__PublishDataTrackRequest request = LK__PUBLISH_DATA_TRACK_REQUEST__INIT;
    Lk__RequestResponse result = LK__REQUEST_RESPONSE__INIT;
    request.pub_handle = handle;
    result.reason = REQUEST_NOT_ALLOWED;
    result.message = text_of("data tracks are not served");
    result.request_case = LK__REQUEST_RESPONSE__REQUEST_PUBLISH_DATA_TRACK;
    result.publish_data_track = &request;
    SEND(signal, REQUEST_RESPONSE, request_response, &result);
}

static void fill_speaker(const char *sid, bool is_active, Lk__SpeakerInfo *out)
{
    lk__speaker_info__init(out);
    out->sid = text_of(sid);
    out->active = is_active;
    out->level = is_active ? 0.5F : 0;
}

void signal_send_speakers(struct signal *signal, unsigned found, const struct meter *meter,
                          const struct room_view *room)
{
    Lk__SpeakerInfo infos[2], *pointers[2] = {&infos[0], &infos[1]};
    Lk__SpeakersChanged changed = LK__SPEAKERS_CHANGED__INIT;
    changed.speakers = pointers;
    if (found & METER_CALLER)
        fill_speaker(signal->sid, meter->is_caller_speaking, &infos[changed.n_speakers++]);
    if (found & METER_AGENT)
        fill_speaker(room->agent_sid, meter->is_agent_speaking, &infos[changed.n_speakers++]);
    SEND(signal, SPEAKERS_CHANGED, speakers_changed, &changed);
}

void signal_send_quality(struct signal *signal, enum connection_quality quality)
{
    static const float scores[] = {2.0F, 3.5F, 4.5F};
    Lk__ConnectionQualityInfo info = LK__CONNECTION_QUALITY_INFO__INIT, *infos = &info;
    Lk__ConnectionQualityUpdate update = LK__CONNECTION_QUALITY_UPDATE__INIT;
    info.participant_sid = text_of(signal->sid);
    info.quality = (int32_t)quality;
    info.score = scores[quality];
    update.n_updates = 1;
    update.updates = &infos;
    SEND(signal, CONNECTION_QUALITY, connection_quality, &update);
}
