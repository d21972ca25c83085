/* One function for each SignalRequest that a caller may send; what is not in the table is ignored,
 * as LiveKit's server does. */
#include <string.h>

#include "base/log.h"
#include "base/metrics.h"
#include "net/ws.h"
#include "room/caller_internal.h"
#include "room/livekit.pb-c.h"

enum {
    /* What a caller may ask by signalling: units (a request, each KB of it, and what its row says),
     * at once and a second. A join takes some 60 with its candidates. */
    ASK_UNITS = 300,
    ASK_EVERY_US = 50 * 1000,
    EXCESS_MAX = 300 /* requests dropped; then the caller is put out */
};

bool caller_may_ask(struct caller *caller, int64_t units)
{
    if (bucket_take(&caller->asks, ASK_EVERY_US, ASK_UNITS, units,
                    loop_now_us(caller->config.loop)))
        return true;
    metric_add(METRIC_REQUESTS_DROPPED, 1);
    if (++caller->excess == EXCESS_MAX)
        caller_put_out(caller, "more requests than a caller may send");
    return false;
}

static void on_offer(struct caller *caller, const Lk__SignalRequest *request)
{
    caller_offered(caller, request->offer->sdp, request->offer->id);
}

static void on_answer(struct caller *caller, const Lk__SignalRequest *request)
{
    caller_answered(caller, request->answer->sdp);
}

void caller_add_track(struct caller *caller, const Lk__AddTrackRequest *request)
{
    const struct track *track =
        caller->member.token.claims.can_publish ? tracks_add(&caller->tracks, request) : NULL;
    if (track)
        signal_send_published(&caller->signal, track);
    else
        log_info("room.track_refused", LOG_S("caller", caller->member.sid));
}

static void on_add_track(struct caller *caller, const Lk__SignalRequest *request)
{
    caller_add_track(caller, request->add_track);
}

static void on_mute(struct caller *caller, const Lk__SignalRequest *request)
{
    if (!tracks_mute(&caller->tracks, request->mute->sid, request->mute->muted))
        return;
    caller_tell_self(caller);
    caller_tell_muted(caller);
}

static bool names_agent(const struct caller *caller, char *const *sids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(sids[i], caller->config.room->agent_track_sid) == 0)
            return true;
    }
    return false;
}

static void on_subscription(struct caller *caller, const Lk__SignalRequest *request)
{
    const Lk__UpdateSubscription *update = request->subscription;
    if (names_agent(caller, update->track_sids, update->n_track_sids))
        caller->legs.wants_audio = update->subscribe;
}

static void on_track_setting(struct caller *caller, const Lk__SignalRequest *request)
{
    const Lk__UpdateTrackSettings *update = request->track_setting;
    if (names_agent(caller, update->track_sids, update->n_track_sids))
        caller->legs.is_paused = update->disabled;
}

static void on_leave(struct caller *caller, const Lk__SignalRequest *request)
{
    (void)request;
    ws_close(TAKE(caller->signal.ws), WS_NORMAL, NULL);
    caller_gone(caller, ROOM_LEFT_CLEAN);
}

static void on_ping(struct caller *caller, const Lk__SignalRequest *request)
{
    signal_send_pong(&caller->signal, request->ping, true);
}

static void on_ping_req(struct caller *caller, const Lk__SignalRequest *request)
{
    signal_send_pong(&caller->signal, request->ping_req->timestamp, false);
}

static void on_update_metadata(struct caller *caller, const Lk__SignalRequest *request)
{
    const Lk__UpdateParticipantMetadata *update = request->update_metadata;
    enum request_reason reason = member_update(&caller->member, update);
    if (reason == REQUEST_OK)
        caller_tell_self(caller);
    signal_send_metadata_result(&caller->signal, update->request_id, reason);
}

static void on_publish_data_track(struct caller *caller, const Lk__SignalRequest *request)
{
    signal_send_data_track_refusal(&caller->signal, request->publish_data_track->pub_handle);
}

/* Lets a client's tests provoke what a server may do. */
static void on_simulate(struct caller *caller, const Lk__SignalRequest *request)
{
    if (request->simulate->scenario_case ==
        LK__SIMULATE_SCENARIO__SCENARIO_LEAVE_REQUEST_FULL_RECONNECT)
        signal_send_leave(&caller->signal, LEAVE_STATE_MISMATCH, ACTION_RECONNECT);
}

static const struct {
    Lk__SignalRequest__MessageCase type;
    void (*on)(struct caller *caller, const Lk__SignalRequest *request);
    int64_t units; /* beside its length: what it makes us do */
} handlers[] = {
    {LK__SIGNAL_REQUEST__MESSAGE_OFFER, on_offer, 10},
    {LK__SIGNAL_REQUEST__MESSAGE_ANSWER, on_answer, 10},
    {LK__SIGNAL_REQUEST__MESSAGE_ADD_TRACK, on_add_track, 2},
    {LK__SIGNAL_REQUEST__MESSAGE_MUTE, on_mute},
    {LK__SIGNAL_REQUEST__MESSAGE_SUBSCRIPTION, on_subscription},
    {LK__SIGNAL_REQUEST__MESSAGE_TRACK_SETTING, on_track_setting},
    {LK__SIGNAL_REQUEST__MESSAGE_LEAVE, on_leave},
    {LK__SIGNAL_REQUEST__MESSAGE_PING, on_ping},
    {LK__SIGNAL_REQUEST__MESSAGE_PING_REQ, on_ping_req},
    {LK__SIGNAL_REQUEST__MESSAGE_UPDATE_METADATA, on_update_metadata, 5},
    {LK__SIGNAL_REQUEST__MESSAGE_PUBLISH_DATA_TRACK, on_publish_data_track},
    {LK__SIGNAL_REQUEST__MESSAGE_SIMULATE, on_simulate},
};

void caller_handle(struct caller *caller, const Lk__SignalRequest *request)
{
    for (size_t i = 0; i < ARRAY_LEN(handlers); i++) {
        if (handlers[i].type != request->message_case)
            continue;
        if (handlers[i].units == 0 || caller_may_ask(caller, handlers[i].units))
            handlers[i].on(caller, request);
        return;
    }
}
