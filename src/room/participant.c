#include "room/participant.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "net/http_header.h"
#include "net/url.h"
#include "net/ws.h"
#include "room/livekit.pb-c.h"
#include "room/participant_internal.h"
#include "rtc/peer.h"

enum {
    TARGET_MAX_BYTES = 65536,
    SIGNAL_MAX_BYTES = 262144,
    OPEN_MS = 15000,
    PING_INTERVAL_US = 5000000,
    PING_TIMEOUT_US = 15000000
};

static const struct states_row rows[] = {
    {PARTICIPANT_DIALLING, PARTICIPANT_JOINED, PARTICIPANT_JOINING},
    {PARTICIPANT_DIALLING, PARTICIPANT_END, PARTICIPANT_ENDED},
    {PARTICIPANT_DIALLING, PARTICIPANT_CLOSE, PARTICIPANT_CLOSED},
    {PARTICIPANT_JOINING, PARTICIPANT_CONNECTED, PARTICIPANT_UP},
    {PARTICIPANT_JOINING, PARTICIPANT_END, PARTICIPANT_ENDED},
    {PARTICIPANT_JOINING, PARTICIPANT_CLOSE, PARTICIPANT_CLOSED},
    {PARTICIPANT_UP, PARTICIPANT_END, PARTICIPANT_ENDED},
    {PARTICIPANT_UP, PARTICIPANT_CLOSE, PARTICIPANT_CLOSED},
    {PARTICIPANT_ENDED, PARTICIPANT_CONNECTED, PARTICIPANT_ENDED}, /* on its way when it ended */
    {PARTICIPANT_ENDED, PARTICIPANT_END, PARTICIPANT_ENDED}, /* leave, then the socket's end */
    {PARTICIPANT_ENDED, PARTICIPANT_CLOSE, PARTICIPANT_CLOSED},
    {PARTICIPANT_CLOSED, PARTICIPANT_END, PARTICIPANT_CLOSED}, /* closed inside an event of ours */
    {PARTICIPANT_CLOSED, PARTICIPANT_CLOSE, PARTICIPANT_CLOSED},
};
static const char *const state_names[] = {"dialling", "joining", "up", "ended", "closed"};
static const char *const event_names[] = {"joined", "connected", "end", "close"};
_Static_assert(ARRAY_LEN(state_names) == PARTICIPANT_STATES, "each state has a name");
_Static_assert(ARRAY_LEN(event_names) == PARTICIPANT_EVENTS, "each event has a name");

const struct states participant_states = {"participant",      state_names,        event_names,
                                          PARTICIPANT_STATES, PARTICIPANT_EVENTS, rows,
                                          ARRAY_LEN(rows)};

bool participant_move(struct participant *participant, enum participant_event event)
{
    int to =
        states_next(&participant_states, (int)participant->state, (int)event, participant->sid);
    if (to == STATES_REFUSED || to == (int)participant->state)
        return false;
    participant->state = (enum participant_state)to;
    return true;
}

static struct participant *participant_of(const struct room_link *link)
{
    return CONTAINER_OF(link, struct participant, link);
}

static struct loop *loop_of(const struct participant *participant)
{
    return participant->rooms->config.loop;
}

static void on_message(void *arg, bool is_text, const uint8_t *data, size_t len)
{
    struct participant *participant = arg;
    Lk__SignalResponse *response = is_text ? NULL : lk__signal_response__unpack(NULL, len, data);
    participant->ping.heard_us = loop_now_us(loop_of(participant));
    if (!response) {
        participant_end(participant, ERR_INVALID, "no SignalResponse");
        return;
    }
    participant_handle(participant, response);
    lk__signal_response__free_unpacked(response, NULL);
}

static void on_ws_closed(void *arg, unsigned code, const struct fault *fault)
{
    struct participant *participant = arg;
    (void)code;
    ws_close(TAKE(participant->ws), WS_NORMAL, NULL);
    participant_end(participant, !fault->err ? ERR_CLOSED : fault->err,
                    fault->text[0] ? fault->text : "signalling closed");
}

static void on_ping(void *arg)
{
    struct participant *participant = arg;
    int64_t quiet_us = loop_now_us(loop_of(participant)) - participant->ping.heard_us;
    if (quiet_us > participant->ping.timeout_us) {
        participant_end(participant, ERR_TIMEOUT, "no answer to pings");
        return;
    }
    participant_send_ping(participant);
    timer_set_after(&participant->ping.timer, participant->ping.interval_us);
}

static void on_text(void *arg, const struct text_in *stream, const char *added, size_t len,
                    bool is_end)
{
    struct participant *participant = arg;
    AUTO_MEM char *text = mem_strndup(added, len);
    struct room_transcript line = {
        .segment_id = stream->segment_id,
        .text = text,
        .is_agent = strcmp(stream->sender, participant->identity) != 0,
        .is_final = stream->is_final && is_end,
    };
    bool is_whole_line = line.is_agent ? len > 0 || is_end : is_end;
    if (!line.is_agent && is_end)
        line.text = stream->text.data ? stream->text.data : "";
    if (strcmp(stream->topic, TOPIC_TRANSCRIPTION) == 0 && is_whole_line &&
        participant->config.events->on_transcript)
        participant->config.events->on_transcript(participant->config.arg, &line);
}

static void on_chat(void *arg, const char *text)
{
    struct participant *participant = arg;
    if (participant->config.events->room.on_chat)
        participant->config.events->room.on_chat(participant->config.arg, text);
}

void participant_up(struct participant *participant)
{
    if (!participant_move(participant, PARTICIPANT_CONNECTED))
        return;
    const struct room_events *events = &participant->config.events->room;
    if (events->on_joined)
        events->on_joined(participant->config.arg, participant->agent.identity,
                          participant->agent.name);
}

void participant_end(struct participant *participant, enum err err, const char *reason)
{
    if (!participant_move(participant, PARTICIPANT_END))
        return;
    timer_stop(&participant->ping.timer);
    if (participant->config.events->on_ended)
        participant->config.events->on_ended(participant->config.arg, err, reason);
}

static void send_opus(struct room_link *link, const uint8_t *payload, size_t len,
                      uint32_t timestamp, bool is_first)
{
    struct participant *participant = participant_of(link);
    const struct leg *leg = &participant->up;
    if (participant->state != PARTICIPANT_UP || leg->result.payload_type < 0)
        return;
    struct peer_opus opus = {payload, len, timestamp, (uint8_t)leg->result.payload_type, is_first};
    peer_send_audio(leg->peer, &opus, loop_now_us(loop_of(participant)));
    port_pump(participant->rooms->config.port, leg->peer);
}

static void stats(struct room_link *link, struct room_stats *out)
{
    struct participant *participant = participant_of(link);
    struct peer_stats up = {0}, down = {0};
    *out = (struct room_stats){.jitter_ms = -1, .rtt_ms = -1};
    if (!participant->up.peer)
        return;
    peer_stats(participant->up.peer, &up);
    peer_stats(participant_in(participant)->peer, &down);
    out->packets_received = down.packets_received;
    out->packets_lost = down.packets_lost;
    out->packets_sent = up.packets_sent;
    out->jitter_ms = down.jitter_ms;
    out->rtt_ms = up.rtt_ms;
}

static bool is_joined(const struct room_link *link)
{
    return participant_of(link)->state == PARTICIPANT_UP;
}

static void free_participant(void *arg)
{
    struct participant *participant = arg;
    const struct room_events *events = &participant->config.events->room;
    if (events->on_closed)
        events->on_closed(participant->config.arg);
    transcript_clear(&participant->transcript);
    mem_free(participant);
}

static void close_link(struct room_link *link, enum room_close_reason reason)
{
    struct participant *participant = participant_of(link);
    (void)reason;
    if (!participant_move(participant, PARTICIPANT_CLOSE))
        return;
    participant_send_leave(participant);
    ws_close(TAKE(participant->ws), WS_NORMAL, NULL);
    timer_stop(&participant->ping.timer);
    participant_media_close(participant);
    packet_reader_clear(&participant->reader);
    loop_defer(loop_of(participant), free_participant, participant);
}

static void send_packet(void *arg, const uint8_t *packet, size_t len)
{
    struct participant *participant = arg;
    if (leg_send(&participant->up, packet, len) != OK)
        log_debug("room.packet_dropped", LOG_S("participant", participant->sid));
}

/* As the agent of somebody else's room: the other side is the caller. */
static void send_transcript(struct room_link *link, const struct room_transcript *line)
{
    struct participant *participant = participant_of(link);
    if (participant->state != PARTICIPANT_UP)
        return;
    const struct transcript_way way = {
        .agent = {participant->identity, participant->sid, send_packet, participant},
        .agent_track_sid = participant->track_sid,
        .caller_identity = *participant->agent.identity ? participant->agent.identity : NULL,
        .caller_track_sid = "TR_none",
    };
    transcript_send(&participant->transcript, &way, line);
    port_pump(participant->rooms->config.port, participant->up.peer);
}

static void set_agent_state(struct room_link *link, const char *state)
{
    struct participant *participant = participant_of(link);
    if (participant->state == PARTICIPANT_UP)
        participant_send_attribute(participant, "lk.agent.state", state);
}

enum err room_participant_chat(struct room_link *link, const char *text)
{
    struct participant *participant = participant_of(link);
    struct packet_sender sender = {participant->identity, participant->sid, send_packet,
                                   participant};
    if (participant->state != PARTICIPANT_UP)
        return ERR_CONFLICT;
    text_out_open(&participant->chat, &sender, TOPIC_CHAT, NULL, 0);
    text_out_write(&participant->chat, &sender, text, strlen(text));
    text_out_close(&participant->chat, &sender, NULL, 0);
    port_pump(participant->rooms->config.port, participant->up.peer);
    return OK;
}

void room_participant_mute(struct room_link *link, bool is_muted)
{
    struct participant *participant = participant_of(link);
    if (participant->state == PARTICIPANT_UP)
        participant_send_mute(participant, is_muted);
}

static struct participant *new_participant(struct rooms *rooms,
                                           const struct room_participant_config *config)
{
    static const struct room_link_ops ops = {
        .send_opus = send_opus,
        .send_transcript = send_transcript,
        .set_agent_state = set_agent_state,
        .stats = stats,
        .is_joined = is_joined,
        .close = close_link,
    };
    static const struct packet_events packet_events = {.on_text = on_text, .on_chat = on_chat};
    struct participant *participant = mem_new(struct participant);
    participant->link.ops = &ops;
    participant->rooms = rooms;
    participant->config = *config;
    participant->config.url = participant->config.token = NULL; /* borrowed for the call only */
    participant->ping.interval_us = PING_INTERVAL_US;
    participant->ping.timeout_us = PING_TIMEOUT_US;
    participant->ping.heard_us = loop_now_us(rooms->config.loop);
    id_new("mic_", participant->cid);
    id_new("str_", participant->stream);
    packet_reader_init(&participant->reader, &packet_events, participant);
    transcript_init(&participant->transcript);
    timer_init(&participant->ping.timer, rooms->config.loop, on_ping, participant);
    return participant;
}

/* Base URL (a path prefix is kept), then path and query. */
static enum err write_url(struct participant *participant, const char *base, struct buf *out,
                          struct fault *fault)
{
    struct url url;
    enum err err = url_parse(base, &url, fault);
    if (err)
        return err;
    size_t path_len = url.path_len;
    while (path_len > 0 && url.path[path_len - 1] == '/')
        path_len--;
    buf_append_str(out, url_is_tls(&url) ? "wss://" : "ws://");
    url_write_host(&url, out);
    buf_append(out, url.path, path_len);
    err = participant_target(participant, out);
    return err ? fault_set(fault, err, "join request is too long") : OK;
}

static enum err dial(struct participant *participant, const struct room_participant_config *config,
                     struct fault *fault)
{
    static const struct ws_fns fns = {.on_message = on_message, .on_closed = on_ws_closed};
    static const struct ws_config ws_config = {.max_message_bytes = SIGNAL_MAX_BYTES};
    AUTO_BUF url = BUF_INIT(TARGET_MAX_BYTES);
    AUTO_BUF bearer = BUF_INIT(TARGET_MAX_BYTES);
    enum err err = write_url(participant, config->url, &url, fault);
    if (err)
        return err;
    buf_printf(&bearer, "Bearer %s", config->token);
    struct http_header header = {"Authorization", bearer.data};
    struct ws_request request = {
        .url = url.data,
        .headers = &header,
        .header_count = 1,
        .open_ms = OPEN_MS,
        .is_operators = true,
    };
    participant->ws = ws_connect(loop_of(participant), participant->rooms->config.dialer, &request,
                                 &ws_config, &fns, participant);
    return OK;
}

enum err room_participant_open(struct rooms *rooms, const struct room_participant_config *config,
                               struct room_link **out, struct fault *fault)
{
    struct participant *participant = new_participant(rooms, config);
    enum err err = participant_media_open(participant);
    if (err)
        fault_set(fault, err, "no room for another peer connection");
    else
        err = dial(participant, config, fault);
    if (err) {
        participant_media_close(participant);
        mem_free(participant);
        return err;
    }
    *out = &participant->link;
    return OK;
}
