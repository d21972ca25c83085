#include "room/caller.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "base/states.h"
#include "net/ws.h"
#include "room/caller_internal.h"
#include "room/join.h"
#include "room/livekit.pb-c.h"
#include "room/unpack.h"
#include "rtc/peer.h"

enum {
    SIGNAL_MAX_BYTES = 262144, /* one message; offers have 20 KB, the server in use 2 MiB */
    SIGNAL_UNSENT_BYTES = 1048576,
    SIGNAL_UNIT_BYTES = 1024, /* of a message: so many are a unit of what may be asked */
    SIGNAL_PING_MS = 10000    /* finds half-open connections */
};

static const struct states_row rows[] = {
    {CALLER_JOINING, CALLER_CONNECTED, CALLER_UP},
    {CALLER_JOINING, CALLER_GONE, CALLER_REFUSED},
    {CALLER_JOINING, CALLER_MEDIA_CLOSED, CALLER_JOINING}, /* it may offer anew until the limit */
    {CALLER_JOINING, CALLER_CLOSE, CALLER_CLOSED},
    {CALLER_UP, CALLER_MEDIA_CLOSED, CALLER_ENDING},
    {CALLER_UP, CALLER_GONE, CALLER_LEFT},
    {CALLER_UP, CALLER_CLOSE, CALLER_CLOSED},
    {CALLER_ENDING, CALLER_GONE, CALLER_LEFT},
    {CALLER_ENDING, CALLER_CLOSE, CALLER_CLOSED},
    /* Several reasons may be found in one turn, and packets of it are still read. */
    {CALLER_REFUSED, CALLER_CONNECTED, CALLER_REFUSED},
    {CALLER_REFUSED, CALLER_MEDIA_CLOSED, CALLER_REFUSED},
    {CALLER_REFUSED, CALLER_GONE, CALLER_REFUSED},
    {CALLER_REFUSED, CALLER_CLOSE, CALLER_CLOSED},
    {CALLER_LEFT, CALLER_MEDIA_CLOSED, CALLER_LEFT},
    {CALLER_LEFT, CALLER_GONE, CALLER_LEFT},
    {CALLER_LEFT, CALLER_CLOSE, CALLER_CLOSED},
    {CALLER_CLOSED, CALLER_GONE, CALLER_CLOSED}, /* the host closed it while it was being told */
};
static const char *const state_names[] = {"joining", "up", "ending", "refused", "left", "closed"};
static const char *const event_names[] = {"connected", "media_closed", "gone", "close"};
_Static_assert(ARRAY_LEN(state_names) == CALLER_STATES, "each state has a name");
_Static_assert(ARRAY_LEN(event_names) == CALLER_EVENTS, "each event has a name");

const struct states caller_states = {"caller",      state_names, event_names,    CALLER_STATES,
                                     CALLER_EVENTS, rows,        ARRAY_LEN(rows)};

bool caller_move(struct caller *caller, enum caller_event event)
{
    int to = states_next(&caller_states, (int)caller->state, (int)event, caller->member.sid);
    if (to == STATES_REFUSED || to == (int)caller->state)
        return false;
    caller->state = (enum caller_state)to;
    return true;
}

static void on_message(void *arg, bool is_text, const uint8_t *data, size_t len)
{
    struct caller *caller = arg;
    caller->last_signal_us = loop_now_us(caller->config.loop);
    if (!caller_may_ask(caller, 1 + (int64_t)(len / SIGNAL_UNIT_BYTES)))
        return;
    Lk__SignalRequest *request =
        is_text ? NULL : unpack_message(&lk__signal_request__descriptor, data, len);
    if (!request) {
        log_info("room.bad_signal", LOG_S("room", caller->config.room->name),
                 LOG_S("caller", caller->member.sid));
        ws_close(TAKE(caller->signal.ws), is_text ? WS_NOT_ACCEPTABLE : WS_BAD_DATA,
                 "no SignalRequest");
        if (caller->state == CALLER_JOINING)
            caller_gone(caller, ROOM_LEFT_REFUSED);
        return;
    }
    caller_handle(caller, request);
    lk__signal_request__free_unpacked(request, NULL);
}

/* Whoever is not up yet cannot come back to this session; whoever is stays while packets come. */
static void on_closed(void *arg, unsigned code, const struct fault *fault)
{
    struct caller *caller = arg;
    (void)fault;
    log_debug("room.signal_closed", LOG_S("caller", caller->member.sid), LOG_I("code", code));
    ws_close(TAKE(caller->signal.ws), WS_NORMAL, NULL);
    const struct peer *peer = legs_out(&caller->legs)->peer;
    if (caller->state != CALLER_UP || peer_is_silent(peer))
        caller_gone(caller, ROOM_LEFT_LOST);
}

static void on_join_limit(void *arg)
{
    caller_refuse(arg, LEAVE_JOIN_FAILURE, "no media path in time");
}

/* Neither packets nor signalling for the limit, or no leave after the media's end: gone. */
static void on_silence(void *arg)
{
    struct caller *caller = arg;
    int64_t alone_until_us = caller->last_signal_us + caller->config.silence_limit_us;
    bool is_silent = caller->state == CALLER_UP && peer_is_silent(legs_out(&caller->legs)->peer);
    if (caller->state != CALLER_ENDING && !is_silent)
        return;
    if (caller->signal.ws && is_silent && alone_until_us > loop_now_us(caller->config.loop))
        timer_set(&caller->silence_timer, alone_until_us);
    else
        caller_gone(caller, ROOM_LEFT_LOST);
}

static void on_tick(void *arg)
{
    struct caller *caller = arg;
    const struct room_view *room = caller->config.room;
    bool is_agent_speaking = room->has_agent && strcmp(room->agent_state, "speaking") == 0;
    struct peer_stats stats;
    timer_set_after(&caller->tick_timer, METER_TICK_US);
    peer_stats(caller->legs.up.peer, &stats);
    unsigned found = meter_tick(&caller->meter, &stats, is_agent_speaking);
    if (found & (METER_CALLER | METER_AGENT))
        signal_send_speakers(&caller->signal, found, &caller->meter, room);
    if (found & METER_QUALITY)
        signal_send_quality(&caller->signal, caller->meter.quality);
    if (found & METER_TOKEN)
        signal_send_refresh_token(&caller->signal, &caller->member, caller->config.signer);
}

static void run_gone(void *arg)
{
    struct caller *caller = arg;
    if (caller->state != CALLER_CLOSED)
        caller->config.fns->on_gone(caller->config.arg, caller->gone_how);
}

/* At the end of the turn: the reason may be found while the caller is being opened. */
void caller_gone(struct caller *caller, enum room_left how)
{
    if (!caller_move(caller, CALLER_GONE))
        return;
    caller->gone_how = how;
    loop_defer(caller->config.loop, run_gone, caller);
}

void caller_refuse(struct caller *caller, enum caller_leave_reason reason, const char *why)
{
    log_info("room.caller_refused", LOG_S("room", caller->config.room->name), LOG_S("reason", why));
    signal_send_leave(&caller->signal, reason, ACTION_DISCONNECT);
    ws_close(TAKE(caller->signal.ws), WS_NORMAL, why);
    bool was_here = caller_is_up(caller); /* an offer later on: his client may come again */
    caller_gone(caller, was_here ? ROOM_LEFT_LOST : ROOM_LEFT_REFUSED);
}

void caller_put_out(struct caller *caller, const char *why)
{
    log_warn("room.caller_put_out", LOG_S("room", caller->config.room->name), LOG_S("reason", why));
    metric_add(METRIC_CALLERS_PUT_OUT, 1);
    caller_gone(caller, caller_is_up(caller) ? ROOM_LEFT_CLEAN : ROOM_LEFT_REFUSED);
}

static struct signal_self self_of(struct caller *caller)
{
    return (struct signal_self){&caller->member, &caller->tracks};
}

void caller_tell_self(struct caller *caller)
{
    struct signal_self self = self_of(caller);
    signal_send_self(&caller->signal, &self);
}

/* Who has not published yet is not muted: told_muted begins as false, and the first track tells. */
void caller_tell_muted(struct caller *caller)
{
    bool is_muted = tracks_are_muted(&caller->tracks);
    if (is_muted == caller->told_muted)
        return;
    caller->told_muted = is_muted;
    caller->config.fns->on_muted(caller->config.arg, is_muted);
}

void caller_up(struct caller *caller)
{
    if (!caller_move(caller, CALLER_CONNECTED))
        return;
    timer_stop(&caller->join_timer);
    timer_set_after(&caller->tick_timer, METER_TICK_US);
    caller->member.is_active = true;
    caller_tell_self(caller);
    signal_send_refresh_token(&caller->signal, &caller->member, caller->config.signer);
    caller->config.fns->on_up(caller->config.arg);
}

static void on_text(void *arg, const struct text_in *stream, const char *added, size_t len,
                    bool is_end)
{
    struct caller *caller = arg;
    (void)added;
    (void)len;
    if (is_end && stream->text.len > 0 && strcmp(stream->topic, TOPIC_CHAT) == 0)
        caller->config.fns->on_chat(caller->config.arg, stream->text.data);
}

static void on_chat(void *arg, const char *text)
{
    struct caller *caller = arg;
    caller->config.fns->on_chat(caller->config.arg, text);
}

static void begin(struct caller *caller, const Lk__JoinRequest *request)
{
    struct signal_self self = self_of(caller);
    signal_send_join(&caller->signal, &self, caller->config.room, caller->legs.is_single);
    if (!caller->legs.is_single)
        caller_offer_downlink(caller);
    for (size_t i = 0; request && i < request->n_add_track_requests; i++)
        caller_add_track(caller, request->add_track_requests[i]);
    if (request && request->publisher_offer)
        caller_offered(caller, request->publisher_offer->sdp, request->publisher_offer->id);
}

static struct caller *new_caller(const struct caller_config *config, struct room_join *join)
{
    static const struct packet_events packet_events = {.on_text = on_text, .on_chat = on_chat};
    struct caller *caller = mem_new(struct caller);
    caller->config = *config;
    member_init(&caller->member, &join->token, join->request.message);
    caller->signal.sid = caller->member.sid;
    caller->legs.is_single = join->request.is_single_pc;
    caller->legs.wants_audio = join->request.wants_audio;
    meter_init(&caller->meter);
    caller->last_signal_us = loop_now_us(config->loop);
    backlog_init(&caller->backlog);
    packet_reader_init(&caller->reader, &packet_events, caller);
    caller->reader.is_one_sender = true;
    timer_init(&caller->join_timer, config->loop, on_join_limit, caller);
    timer_init(&caller->silence_timer, config->loop, on_silence, caller);
    timer_init(&caller->tick_timer, config->loop, on_tick, caller);
    timer_set_after(&caller->join_timer, config->join_limit_us);
    return caller;
}

static void accept_signal(struct caller *caller, struct room_join *join)
{
    static const struct ws_fns fns = {.on_message = on_message, .on_closed = on_closed};
    static const struct ws_config ws_config = {
        .max_message_bytes = SIGNAL_MAX_BYTES,
        .max_unsent_bytes = SIGNAL_UNSENT_BYTES,
        .ping_ms = SIGNAL_PING_MS,
    };
    caller->signal.ws =
        ws_accept(caller->config.loop, &join->connection, &join->offer, &ws_config, &fns, caller);
    join->connection.fd = -1;
    caller->last_signal_us = loop_now_us(caller->config.loop);
}

struct caller *caller_open(const struct caller_config *config, struct room_join *take_join)
{
    AUTO(room_join) join = take_join;
    struct caller *caller = new_caller(config, join);
    accept_signal(caller, join);
    if (caller_media_open(caller))
        begin(caller, join->request.message);
    else
        caller_refuse(caller, LEAVE_JOIN_FAILURE, "no slot for a peer connection");
    return caller;
}

bool caller_can_resume(const struct caller *caller, const struct room_join *join)
{
    return caller && (caller->state == CALLER_UP || caller->state == CALLER_ENDING) &&
           caller->legs.is_single == join->request.is_single_pc &&
           strcmp(caller->member.sid, join->request.participant_sid) == 0;
}

void caller_resume(struct caller *caller, struct room_join *take_join)
{
    AUTO(room_join) join = take_join;
    ws_close(caller->signal.ws, WS_NORMAL, "resumed elsewhere");
    accept_signal(caller, join);
    log_info("room.resumed", LOG_S("room", caller->config.room->name));
    struct signal_self self = self_of(caller);
    signal_send_reconnect(&caller->signal, caller->reader.last_sequence);
    signal_send_everyone(&caller->signal, &self, caller->config.room);
    signal_send_room(&caller->signal, caller->config.room);
    caller->legs.offer_waits = false;
    if (!caller->legs.is_single)
        caller_offer_downlink(caller);
}

void caller_turn_away(const struct caller_config *config, struct room_join *take_join)
{
    static const struct ws_fns fns = {0};
    static const struct ws_config ws_config = {0};
    AUTO(room_join) join = take_join;
    struct signal signal = {.sid = join->request.participant_sid};
    signal.ws = ws_accept(config->loop, &join->connection, &join->offer, &ws_config, &fns, NULL);
    join->connection.fd = -1;
    signal_send_leave(&signal, LEAVE_STATE_MISMATCH, ACTION_RECONNECT);
    ws_close(signal.ws, WS_NORMAL, NULL);
}

static void free_caller(void *arg)
{
    struct caller *caller = arg;
    member_clear(&caller->member);
    mem_free(caller);
}

void caller_close(struct caller *caller, enum caller_leave_reason reason,
                  enum caller_leave_action action)
{
    if (!caller || !caller_move(caller, CALLER_CLOSE))
        return;
    if (caller->signal.ws) {
        signal_send_leave(&caller->signal, reason, action);
        ws_close(TAKE(caller->signal.ws), WS_NORMAL, NULL);
    }
    timer_stop(&caller->join_timer);
    timer_stop(&caller->silence_timer);
    timer_stop(&caller->tick_timer);
    legs_close(&caller->legs);
    backlog_clear(&caller->backlog);
    packet_reader_clear(&caller->reader);
    loop_defer(caller->config.loop, free_caller, caller);
}

const char *caller_identity(const struct caller *caller)
{
    return caller->member.token.claims.identity;
}

const char *caller_name(const struct caller *caller)
{
    return caller->member.name;
}

bool caller_is_up(const struct caller *caller)
{
    return caller && (caller->state == CALLER_UP || caller->state == CALLER_ENDING ||
                      caller->state == CALLER_LEFT);
}

const char *caller_track_sid(const struct caller *caller)
{
    const struct track *track = tracks_microphone(&caller->tracks);
    return track ? track->sid : "TR_none";
}

void caller_agent_changed(struct caller *caller)
{
    bool is_new = !legs_has_track(&caller->legs);
    signal_send_agent(&caller->signal, caller->config.room);
    if (!is_new || caller->state == CALLER_CLOSED)
        return;
    if (!caller->legs.is_single)
        caller_offer_downlink(caller);
    else if (caller->legs.up.has_remote)
        signal_send_sections_requirement(&caller->signal);
}
