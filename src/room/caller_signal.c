/* One function for each SignalRequest that a caller may send; what is not in the table is ignored,
 * as LiveKit's server does. */
#include <string.h>

#include "base/js.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "net/ws.h"
#include "room/caller_internal.h"
#include "room/livekit.pb-c.h"

bool caller_may_ask(struct caller *caller, int64_t units)
{
    if (bucket_take(&caller->asks, CALLER_ASK_EVERY_US, CALLER_ASK_UNITS, units,
                    loop_now_us(caller->config.loop)))
        return true;
    metric_add(METRIC_REQUESTS_DROPPED, 1);
    if (++caller->excess == CALLER_EXCESS_MOST)
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

static void on_add_track(struct caller *caller, const Lk__SignalRequest *request)
{
    caller_add_track(caller, request->add_track);
}

static void on_mute(struct caller *caller, const Lk__SignalRequest *request)
{
    caller_mute_track(caller, request->mute->sid, request->mute->muted);
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
        caller->wants_audio = update->subscribe;
}

static void on_track_setting(struct caller *caller, const Lk__SignalRequest *request)
{
    const Lk__UpdateTrackSettings *update = request->track_setting;
    if (names_agent(caller, update->track_sids, update->n_track_sids))
        caller->is_paused = update->disabled;
}

static void on_leave(struct caller *caller, const Lk__SignalRequest *request)
{
    (void)request;
    ws_close(caller->ws, WS_NORMAL, NULL);
    caller->ws = NULL;
    caller_gone(caller, ROOM_LEFT_CLEAN);
}

static void on_ping(struct caller *caller, const Lk__SignalRequest *request)
{
    caller_send_pong(caller, request->ping, true);
}

static void on_ping_req(struct caller *caller, const Lk__SignalRequest *request)
{
    caller_send_pong(caller, request->ping_req->timestamp, false);
}

static size_t attributes_bytes(const struct js *attributes)
{
    size_t bytes = 0;
    for (void *it = js_first(attributes); it; it = js_next(attributes, it))
        bytes += strlen(js_key(it)) + js_text_len(js_value(it));
    return bytes;
}

/* False: there would be too many, or too much of them; those before it are set. */
bool caller_set_attributes(struct caller *caller, Lk__Pair *const *pairs, size_t count)
{
    size_t bytes = attributes_bytes(caller->attributes);
    for (size_t i = 0; i < count; i++) {
        const struct js *old = js_get(caller->attributes, pairs[i]->key);
        size_t key = strlen(pairs[i]->key);
        bytes -= old ? key + js_text_len(old) : 0;
        js_remove(caller->attributes, pairs[i]->key);
        if (pairs[i]->value[0] == 0)
            continue;
        bytes += key + strlen(pairs[i]->value);
        if (js_count(caller->attributes) >= CALLER_ATTRIBUTES ||
            bytes > CALLER_ATTRIBUTES_MAX_BYTES)
            return false;
        js_set(caller->attributes, pairs[i]->key, js_string(pairs[i]->value));
    }
    return true;
}

/* Clients always send metadata and name along (LiveKit, Keep-alive). */
static void on_update_metadata(struct caller *caller, const Lk__SignalRequest *request)
{
    const Lk__UpdateParticipantMetadata *update = request->update_metadata;
    if (!caller->token.claims.can_update_own_metadata) {
        caller_send_metadata_result(caller, update->request_id, REQUEST_NOT_ALLOWED);
        return;
    }
    if (strlen(update->metadata) + strlen(update->name) > CALLER_METADATA_MAX_BYTES ||
        !caller_set_attributes(caller, update->attributes, update->n_attributes)) {
        caller_send_metadata_result(caller, update->request_id, REQUEST_LIMIT_EXCEEDED);
        return;
    }
    mem_free(caller->name);
    mem_free(caller->metadata);
    caller->name = mem_strdup(update->name);
    caller->metadata = mem_strdup(update->metadata);
    caller_send_self(caller);
    caller_send_metadata_result(caller, update->request_id, REQUEST_OK);
}

static void on_publish_data_track(struct caller *caller, const Lk__SignalRequest *request)
{
    caller_send_data_track_refusal(caller, request->publish_data_track->pub_handle);
}

/* Lets a client's tests provoke what a server may do. */
static void on_simulate(struct caller *caller, const Lk__SignalRequest *request)
{
    if (request->simulate->scenario_case ==
        LK__SIMULATE_SCENARIO__SCENARIO_LEAVE_REQUEST_FULL_RECONNECT)
        caller_send_leave(caller, LEAVE_STATE_MISMATCH, ACTION_RECONNECT);
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
