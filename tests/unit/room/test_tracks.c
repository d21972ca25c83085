#include "room/tracks.h"

#include <stdio.h>
#include <string.h>

#include "room/livekit.pb-c.h"
#include "test.h"

static const struct track *add(struct tracks *tracks, const char *cid, int type, int source)
{
    char text[64];
    Lk__AddTrackRequest request = LK__ADD_TRACK_REQUEST__INIT;
    snprintf(text, sizeof(text), "%s", cid);
    request.cid = text;
    request.type = type;
    request.source = source;
    return tracks_add(tracks, &request);
}

static void add_section(struct sdp *offer, const char *mid, const char *track, bool is_sending)
{
    struct sdp_section *section = &offer->sections[offer->section_count++];
    section->kind = SDP_AUDIO;
    section->direction = is_sending ? SDP_SENDONLY : SDP_INACTIVE;
    snprintf(section->mid, sizeof(section->mid), "%s", mid);
    snprintf(section->msid_track, sizeof(section->msid_track), "%s", track);
}

TEST(the_microphone_is_the_track_that_says_so)
{
    struct tracks tracks = {0};
    CHECK(!tracks_microphone(&tracks));
    CHECK(tracks_are_muted(&tracks));
    add(&tracks, "camera", 1, 1);
    CHECK(!tracks_microphone(&tracks));
    const struct track *screen = add(&tracks, "screen", TRACK_AUDIO, 4);
    CHECK(tracks_microphone(&tracks) == screen);
    const struct track *microphone = add(&tracks, "mic", TRACK_AUDIO, SOURCE_MICROPHONE);
    CHECK(tracks_microphone(&tracks) == microphone);
    CHECK(!tracks_are_muted(&tracks));
}

TEST(no_more_tracks_than_there_are_places)
{
    struct tracks tracks = {0};
    for (int i = 0; i < TRACKS; i++)
        CHECK(add(&tracks, "t", TRACK_AUDIO, 0));
    CHECK(!add(&tracks, "t", TRACK_AUDIO, 0));
}

TEST(muting_tells_once)
{
    struct tracks tracks = {0};
    const struct track *track = add(&tracks, "mic", TRACK_AUDIO, SOURCE_MICROPHONE);
    CHECK(!tracks_mute(&tracks, "TR_unknown", true));
    CHECK(tracks_mute(&tracks, track->sid, true));
    CHECK(!tracks_mute(&tracks, track->sid, true));
    CHECK(tracks_are_muted(&tracks));
}

TEST(a_track_is_bound_by_the_section_that_names_it)
{
    struct tracks tracks = {0};
    AUTO(sdp) offer = sdp_new();
    add_section(offer, "0", "other", true);
    add_section(offer, "1", "mic", true);
    const struct track *track = add(&tracks, "mic", TRACK_AUDIO, SOURCE_MICROPHONE);
    struct tracks_bound bound = tracks_bind(&tracks, offer);
    CHECK(bound.has_changed);
    CHECK_INT(bound.added_count, 1);
    CHECK(bound.added[0] == track);
    CHECK_TEXT(track->mid, "1");
    CHECK(!tracks_bind(&tracks, offer).has_changed);
}

TEST(a_track_whose_id_was_rewritten_takes_a_spare_section)
{
    struct tracks tracks = {0};
    AUTO(sdp) offer = sdp_new();
    add_section(offer, "0", "mic", true);
    add_section(offer, "1", "rewritten", true);
    add(&tracks, "mic", TRACK_AUDIO, SOURCE_MICROPHONE);
    const struct track *second = add(&tracks, "second", TRACK_AUDIO, 0);
    CHECK_INT(tracks_bind(&tracks, offer).added_count, 2);
    CHECK_TEXT(second->mid, "1");
}

TEST(a_section_that_falls_silent_takes_its_track_along)
{
    struct tracks tracks = {0};
    AUTO(sdp) offer = sdp_new();
    AUTO(sdp) later = sdp_new();
    add_section(offer, "0", "mic", true);
    add_section(later, "0", "mic", false);
    add(&tracks, "mic", TRACK_AUDIO, SOURCE_MICROPHONE);
    CHECK(tracks_bind(&tracks, offer).has_changed);
    struct tracks_bound bound = tracks_bind(&tracks, later);
    CHECK(bound.has_changed);
    CHECK_INT(bound.added_count, 0);
    CHECK(!tracks_microphone(&tracks));
}
