#include "room/tracks.h"

#include <stdio.h>
#include <string.h>

#include "room/livekit.pb-c.h"

static bool is_audio(const struct track *track)
{
    return track->is_used && track->type == TRACK_AUDIO;
}

const struct track *tracks_microphone(const struct tracks *tracks)
{
    const struct track *found = NULL;
    for (unsigned i = 0; i < TRACKS; i++) {
        const struct track *track = &tracks->all[i];
        if (!is_audio(track))
            continue;
        if (track->source == SOURCE_MICROPHONE)
            return track;
        found = found ? found : track;
    }
    return found;
}

bool tracks_are_muted(const struct tracks *tracks)
{
    const struct track *track = tracks_microphone(tracks);
    return !track || track->is_muted;
}

static void copy_name(char to[TRACK_NAME_SIZE], const char *from)
{
    snprintf(to, TRACK_NAME_SIZE, "%s", from);
}

const struct track *tracks_add(struct tracks *tracks, const Lk__AddTrackRequest *request)
{
    struct track *track = NULL;
    for (unsigned i = 0; i < TRACKS && !track; i++) {
        if (!tracks->all[i].is_used)
            track = &tracks->all[i];
    }
    if (!track || strlen(request->cid) >= TRACK_NAME_SIZE)
        return NULL;
    *track = (struct track){
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
    track->feature_count = MIN(request->n_audio_features, (size_t)TRACK_FEATURES);
    for (size_t i = 0; i < track->feature_count; i++)
        track->features[i] = request->audio_features[i];
    return track;
}

bool tracks_mute(struct tracks *tracks, const char *sid, bool is_muted)
{
    for (unsigned i = 0; i < TRACKS; i++) {
        struct track *track = &tracks->all[i];
        if (!track->is_used || strcmp(track->sid, sid) != 0 || track->is_muted == is_muted)
            continue;
        track->is_muted = is_muted;
        return true;
    }
    return false;
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

static bool is_taken(const struct tracks *tracks, const struct sdp_section *section)
{
    for (unsigned i = 0; i < TRACKS; i++) {
        const struct track *track = &tracks->all[i];
        if (track->is_used &&
            (strcmp(track->mid, section->mid) == 0 || strcmp(track->cid, section->msid_track) == 0))
            return true;
    }
    return false;
}

/* The section whose msid names the track; browsers may rewrite ids, so else the first sending one
 * of the kind that belongs to no track. */
static const struct sdp_section *section_of(const struct tracks *tracks, const struct sdp *offer,
                                            const struct track *track)
{
    const struct sdp_section *spare = NULL;
    enum sdp_kind kind = track->type == TRACK_AUDIO ? SDP_AUDIO : SDP_VIDEO;
    for (unsigned i = 0; i < offer->section_count; i++) {
        const struct sdp_section *section = &offer->sections[i];
        if (section->kind != kind || !sending_section(offer, section->mid))
            continue;
        if (strcmp(section->msid_track, track->cid) == 0)
            return section;
        if (!spare && !is_taken(tracks, section))
            spare = section;
    }
    return spare;
}

static void bind(struct tracks *tracks, struct track *track, const struct sdp *offer,
                 struct tracks_bound *out)
{
    if (track->mid[0]) { /* bound: it goes with its section */
        track->is_used = sending_section(offer, track->mid) != NULL;
        out->has_changed |= !track->is_used;
        return;
    }
    const struct sdp_section *section = section_of(tracks, offer, track);
    if (!section)
        return;
    memcpy(track->mid, section->mid, sizeof(track->mid));
    track->ssrc = section->ssrc;
    out->added[out->added_count++] = track;
    out->has_changed = true;
}

struct tracks_bound tracks_bind(struct tracks *tracks, const struct sdp *offer)
{
    struct tracks_bound bound = {0};
    for (unsigned i = 0; i < TRACKS; i++) {
        if (tracks->all[i].is_used)
            bind(tracks, &tracks->all[i], offer, &bound);
    }
    return bound;
}
