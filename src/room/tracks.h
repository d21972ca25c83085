/* What a caller publishes: announced by AddTrack, bound to a section by the msid of its next offer,
 * gone when that section falls silent in a later one (LiveKit, Unpublish). Thread: its owner's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/ids.h"
#include "rtc/sdp.h"

struct Lk__AddTrackRequest;

enum { TRACKS = 8, TRACK_FEATURES = 8, TRACK_NAME_SIZE = 129 };

/* Numbers of the wire. */
enum track_type { TRACK_AUDIO = 0 };
enum track_source { SOURCE_MICROPHONE = 2 };

struct track {
    bool is_used;
    char sid[ID_SIZE];
    char cid[TRACK_NAME_SIZE], name[TRACK_NAME_SIZE], stream[TRACK_NAME_SIZE];
    int type, source;
    bool is_muted, is_stereo, has_no_dtx, has_no_red;
    int32_t features[TRACK_FEATURES];
    size_t feature_count;
    char mid[SDP_MID_SIZE]; /* "" until an offer carries it */
    uint32_t ssrc;          /* 0: not said */
};

struct tracks {
    struct track all[TRACKS];
};

/* NULL: there are as many as may be, or its name is too long. */
const struct track *tracks_add(struct tracks *tracks, const struct Lk__AddTrackRequest *request);
/* False: there is none of that sid, or it is so already. */
bool tracks_mute(struct tracks *tracks, const char *sid, bool is_muted);

/* What an offer has changed. */
struct tracks_bound {
    bool has_changed;
    const struct track *added[TRACKS]; /* borrowed from tracks */
    unsigned added_count;
};
struct tracks_bound tracks_bind(struct tracks *tracks, const struct sdp *offer);

/* The first that calls itself one, or else the first with sound; NULL: there is none. */
const struct track *tracks_microphone(const struct tracks *tracks);
/* Who has no microphone is as good as muted. */
bool tracks_are_muted(const struct tracks *tracks);
