/* What a caller publishes: announced by AddTrack, bound to a section by the msid of its next offer,
 * gone when that section falls silent in a later one (LiveKit, Unpublish). */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "room/caller_internal.h"
#include "room/livekit.pb-c.h"

static bool is_audio(const struct caller_track *track)
{
    return track->is_used && track->type == 0;
}

struct caller_track *caller_microphone(struct caller *caller)
{
    struct caller_track *found = NULL;
    for (unsigned i = 0; i < CALLER_TRACKS; i++) {
        struct caller_track *track = &caller->tracks[i];
        if (!is_audio(track))
            continue;
        if (track->source == SOURCE_MICROPHONE)
            return track;
        found = found ? found : track;
    }
    return found;
}

const char *caller_track_sid(const struct caller *caller)
{
    const struct caller_track *track = caller_microphone((struct caller *)(uintptr_t)caller);
    return track ? track->sid : "TR_none";
}

static void copy_name(char to[CALLER_NAME_SIZE], const char *from)
{
    snprintf(to, CALLER_NAME_SIZE, "%s", from);
}

/* Without a microphone the caller is as good as muted; who has not published yet is not. */
static void tell_muted(struct caller *caller)
{
    const struct caller_track *track = caller_microphone(caller);
    bool is_muted = !track || track->is_muted;
    if (is_muted == caller->told_muted)
        return;
    caller->told_muted = is_muted;
    caller->config.fns->on_muted(caller->config.arg, is_muted);
}

void caller_add_track(struct caller *caller, const Lk__AddTrackRequest *request)
{
    struct caller_track *track = NULL;
    for (unsigned i = 0; i < CALLER_TRACKS && !track; i++) {
        if (!caller->tracks[i].is_used)
            track = &caller->tracks[i];
    }
    if (!track || strlen(request->cid) >= CALLER_NAME_SIZE || !caller->token.claims.can_publish) {
        log_info("room.track_refused", LOG_S("caller", caller->sid));
        return;
    }
    *track = (struct caller_track){
        .is_used = true,
        .type = request->type,
        .source = request->source,
        .is_muted = request->muted,
        .is_stereo = request->stereo,
        .has_no_dtx = request->disable_dtx,
        .has_no_red = true,
    };
    id_new("TR_", track->sid);
    copy_name(track->cid, request->cid);
    copy_name(track->name, request->name);
    copy_name(track->stream, request->stream);
    track->feature_count = MIN(request->n_audio_features, (size_t)CALLER_FEATURES);
    for (size_t i = 0; i < track->feature_count; i++)
        track->features[i] = request->audio_features[i];
    caller_send_published(caller, track);
}

void caller_mute_track(struct caller *caller, const char *sid, bool is_muted)
{
    for (unsigned i = 0; i < CALLER_TRACKS; i++) {
        struct caller_track *track = &caller->tracks[i];
        if (!track->is_used || strcmp(track->sid, sid) != 0 || track->is_muted == is_muted)
            continue;
        track->is_muted = is_muted;
        caller_send_self(caller);
        tell_muted(caller);
        return;
    }
}

static const struct sdp_section *sending_section(const struct sdp *offer, const char *mid)
{
    for (unsigned i = 0; i < offer->section_count; i++) {
        const struct sdp_section *section = &offer->sections[i];
        bool is_sending = section->direction == SDP_SENDONLY || section->direction == SDP_SENDRECV;
        if (!section->is_rejected && is_sending && strcmp(section->mid, mid) == 0)
            return section;
    }
    return NULL;
}

/* The section whose msid names the track; browsers may rewrite ids, so else the first sending one
 * of the kind that belongs to no track. */
static const struct sdp_section *section_of(const struct caller *caller, const struct sdp *offer,
                                            const struct caller_track *track)
{
    const struct sdp_section *spare = NULL;
    enum sdp_kind kind = track->type == 0 ? SDP_AUDIO : SDP_VIDEO;
    for (unsigned i = 0; i < offer->section_count; i++) {
        const struct sdp_section *section = &offer->sections[i];
        if (section->kind != kind || !sending_section(offer, section->mid))
            continue;
        if (strcmp(section->msid_track, track->cid) == 0)
            return section;
        bool is_taken = false;
        for (unsigned k = 0; k < CALLER_TRACKS; k++)
            is_taken |= caller->tracks[k].is_used &&
                        (strcmp(caller->tracks[k].mid, section->mid) == 0 ||
                         strcmp(caller->tracks[k].cid, section->msid_track) == 0);
        if (!is_taken && !spare)
            spare = section;
    }
    return spare;
}

static void unpublish(struct caller *caller, struct caller_track *track)
{
    track->is_used = false;
    tell_muted(caller);
}

static bool bind(struct caller *caller, struct caller_track *track, const struct sdp *offer)
{
    const struct sdp_section *section =
        track->mid[0] ? sending_section(offer, track->mid) : section_of(caller, offer, track);
    if (!section && track->mid[0]) {
        unpublish(caller, track);
        return true;
    }
    if (!section || track->mid[0])
        return false;
    memcpy(track->mid, section->mid, sizeof track->mid);
    track->ssrc = section->ssrc;
    caller_send_subscribed(caller, track);
    tell_muted(caller);
    return true;
}

void caller_bind_tracks(struct caller *caller, const struct sdp *offer)
{
    bool has_changed = false;
    for (unsigned i = 0; i < CALLER_TRACKS; i++) {
        if (caller->tracks[i].is_used)
            has_changed |= bind(caller, &caller->tracks[i], offer);
    }
    if (has_changed)
        caller_send_self(caller);
}
