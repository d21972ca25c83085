#include "room/caller.h"

#include <string.h>

#include "base/clock.h"
#include "base/js.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "room/caller_internal.h"
#include "room/livekit.pb-c.h"
#include "room/unpack.h"
#include "rtc/peer.h"

enum {
    SIGNAL_MAX_BYTES = 262144, /* one message; offers have 20 KB, the server in use 2 MiB */
    SIGNAL_UNSENT_BYTES = 1048576,
    SIGNAL_PING_MS = 10000, /* finds half-open connections */
    TICK_US = 400000        /* speakers' period (LiveKit, Keep-alive) */
};

static void on_message(void *arg, bool is_text, const uint8_t *data, size_t len)
{
    struct caller *caller = arg;
    caller->last_signal_us = loop_now_us(caller->config.loop);
    if (!caller_may_ask(caller, 1 + (int64_t)(len / CALLER_ASK_UNIT_BYTES)))
        return;
    Lk__SignalRequest *request =
        is_text ? NULL : unpack_message(&lk__signal_request__descriptor, data, len);
    if (!request) {
        log_info("room.bad_signal", LOG_S("room", caller->config.room->name),
                 LOG_S("caller", caller->sid));
        ws_close(caller->ws, is_text ? WS_NOT_ACCEPTABLE : WS_BAD_DATA, "no SignalRequest");
        caller->ws = NULL;
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
    log_debug("room.signal_closed", LOG_S("caller", caller->sid), LOG_I("code", code));
    ws_close(caller->ws, WS_NORMAL, NULL);
    caller->ws = NULL;
    const struct peer *peer = caller_out(caller)->peer;
    if (caller->state == CALLER_JOINING || caller->is_media_closed || peer_is_silent(peer))
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
    int64_t limit_us = caller->config.silence_limit_us;
    int64_t alone_until_us = caller->last_signal_us + limit_us;
    if (caller->state != CALLER_UP ||
        !(caller->is_media_closed || peer_is_silent(caller_out(caller)->peer)))
        return;
    if (caller->ws && !caller->is_media_closed &&
        alone_until_us > loop_now_us(caller->config.loop)) {
        timer_set(&caller->silence_timer, alone_until_us);
        return;
    }
    caller_gone(caller, ROOM_LEFT_LOST);
}

static void on_tick(void *arg)
{
    struct caller *caller = arg;
    timer_set_after(&caller->tick_timer, TICK_US);
    caller_tick(caller);
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
    if (caller->state == CALLER_CLOSED || caller->is_gone)
        return;
    caller->is_gone = true;
    caller->gone_how = how;
    loop_defer(caller->config.loop, run_gone, caller);
}

void caller_refuse(struct caller *caller, enum caller_leave_reason reason, const char *why)
{
    log_info("room.caller_refused", LOG_S("room", caller->config.room->name), LOG_S("reason", why));
    caller_send_leave(caller, reason, ACTION_DISCONNECT);
    ws_close(caller->ws, WS_NORMAL, why);
    caller->ws = NULL;
    bool was_here = caller->state == CALLER_UP; /* an offer later on: his client may come again */
    caller_gone(caller, was_here ? ROOM_LEFT_LOST : ROOM_LEFT_REFUSED);
}

void caller_put_out(struct caller *caller, const char *why)
{
    log_warn("room.caller_put_out", LOG_S("room", caller->config.room->name), LOG_S("reason", why));
    metric_add(METRIC_CALLERS_PUT_OUT, 1);
    caller_gone(caller, caller->state == CALLER_UP ? ROOM_LEFT_CLEAN : ROOM_LEFT_REFUSED);
}

void caller_up(struct caller *caller)
{
    if (caller->state != CALLER_JOINING)
        return;
    caller->state = CALLER_UP;
    timer_stop(&caller->join_timer);
    timer_set_after(&caller->tick_timer, TICK_US);
    caller_send_self(caller);
    caller_send_refresh_token(caller);
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

/* The token's; a join request may set its own with the grant. */
static void take_profile(struct caller *caller, const Lk__JoinRequest *request)
{
    const struct token_claims *claims = &caller->token.claims;
    caller->name = mem_strdup(claims->name);
    caller->metadata = mem_strdup(claims->metadata);
    caller->attributes = claims->attributes ? js_copy(claims->attributes) : js_object();
    if (!request || !claims->can_update_own_metadata)
        return;
    if (request->metadata[0] && strlen(request->metadata) <= CALLER_METADATA_MAX_BYTES) {
        mem_free(caller->metadata);
        caller->metadata = mem_strdup(request->metadata);
    }
    caller_set_attributes(caller, request->participant_attributes,
                          request->n_participant_attributes);
}

static void begin(struct caller *caller, const Lk__JoinRequest *request)
{
    caller_send_join(caller);
    if (!caller->is_single_pc)
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
    caller->token = join->token;
    join->token = (struct token){0};
    caller->is_single_pc = join->request.is_single_pc;
    caller->wants_audio = join->request.wants_audio;
    caller->joined_wall_ms = clock_wall_ms();
    caller->quality = -1;
    caller->level_dbov = -127;
    caller->last_signal_us = loop_now_us(config->loop);
    id_new("PA_", caller->sid);
    list_init(&caller->backlog);
    packet_reader_init(&caller->reader, &packet_events, caller);
    caller->reader.is_one_sender = true;
    timer_init(&caller->join_timer, config->loop, on_join_limit, caller);
    timer_init(&caller->silence_timer, config->loop, on_silence, caller);
    timer_init(&caller->tick_timer, config->loop, on_tick, caller);
    timer_set_after(&caller->join_timer, config->join_limit_us);
    take_profile(caller, join->request.message);
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
    caller->ws =
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
    return caller_is_up(caller) && !caller->is_gone &&
           caller->is_single_pc == join->request.is_single_pc &&
           strcmp(caller->sid, join->request.participant_sid) == 0;
}

void caller_resume(struct caller *caller, struct room_join *take_join)
{
    AUTO(room_join) join = take_join;
    ws_close(caller->ws, WS_NORMAL, "resumed elsewhere");
    accept_signal(caller, join);
    log_info("room.resumed", LOG_S("room", caller->config.room->name));
    caller_send_reconnect(caller);
    caller_send_everyone(caller);
    caller_send_room(caller);
    caller->offer_waits = false;
    if (!caller->is_single_pc)
        caller_offer_downlink(caller);
}

void caller_turn_away(const struct caller_config *config, struct room_join *take_join)
{
    static const struct ws_fns fns = {0};
    static const struct ws_config ws_config = {0};
    AUTO(room_join) join = take_join;
    struct caller nobody = {.config = *config};
    nobody.ws = ws_accept(config->loop, &join->connection, &join->offer, &ws_config, &fns, NULL);
    join->connection.fd = -1;
    caller_send_leave(&nobody, LEAVE_STATE_MISMATCH, ACTION_RECONNECT);
    ws_close(nobody.ws, WS_NORMAL, NULL);
}

static void free_caller(void *arg)
{
    struct caller *caller = arg;
    token_clear(&caller->token);
    js_free(caller->attributes);
    mem_free(caller->name);
    mem_free(caller->metadata);
    mem_free(caller);
}

void caller_close(struct caller *caller, enum caller_leave_reason reason,
                  enum caller_leave_action action)
{
    if (!caller || caller->state == CALLER_CLOSED)
        return;
    caller->state = CALLER_CLOSED;
    if (caller->ws) {
        caller_send_leave(caller, reason, action);
        ws_close(caller->ws, WS_NORMAL, NULL);
        caller->ws = NULL;
    }
    timer_stop(&caller->join_timer);
    timer_stop(&caller->silence_timer);
    timer_stop(&caller->tick_timer);
    caller_media_close(caller);
    packet_reader_clear(&caller->reader);
    loop_defer(caller->config.loop, free_caller, caller);
}

const char *caller_identity(const struct caller *caller)
{
    return caller->token.claims.identity;
}

const char *caller_name(const struct caller *caller)
{
    return caller->name;
}

bool caller_is_up(const struct caller *caller)
{
    return caller && caller->state == CALLER_UP;
}

void caller_agent_changed(struct caller *caller)
{
    bool is_new = caller->up.result.track_mid[0] == 0 && caller->down.result.track_mid[0] == 0;
    caller_send_agent(caller);
    if (!is_new || caller->state == CALLER_CLOSED)
        return;
    if (!caller->is_single_pc)
        caller_offer_downlink(caller);
    else if (caller->up.has_remote)
        caller_send_sections_requirement(caller);
}
