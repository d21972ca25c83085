/* What the files of a caller share: caller.c (life), caller_signal.c (requests), caller_send.c
 * (responses), caller_media.c (peers, descriptions, audio), caller_tracks.c (what it publishes). */
#pragma once

#include "base/bucket.h"
#include "base/list.h"
#include "base/loop.h"
#include "room/caller.h"
#include "room/join.h"
#include "room/leg.h"
#include "room/packet.h"

struct Lk__AddTrackRequest;
struct Lk__Pair;
struct Lk__SignalRequest;
struct js;
struct peer;
struct peer_event;

enum {
    CALLER_TRACKS = 8,
    CALLER_FEATURES = 8,
    CALLER_NAME_SIZE = 129,
    CALLER_BACKLOG_MAX_BYTES = 65536,
    CALLER_METADATA_MAX_BYTES = 65536,   /* with the name */
    CALLER_ATTRIBUTES_MAX_BYTES = 49152, /* all of them: both fit into one response */
    /* What a caller may ask by signalling: units (a request, each KB of it, and what its row says),
     * at once and a second. A join takes some 60 with its candidates. */
    CALLER_ASK_UNITS = 300,
    CALLER_ASK_EVERY_US = 50 * 1000,
    CALLER_ASK_UNIT_BYTES = 1024,
    CALLER_PACKETS = 150, /* data packets, at once and a second */
    CALLER_PACKET_EVERY_US = 20 * 1000,
    CALLER_EXCESS_MOST = 300, /* requests dropped; then the caller is put out */
    CALLER_ATTRIBUTES = 64,
    SOURCE_MICROPHONE = 2,
    PING_INTERVAL_S = 5,
    PING_TIMEOUT_S = 15
};

enum caller_state { CALLER_JOINING, CALLER_UP, CALLER_CLOSED };
enum request_reason { REQUEST_OK = 0, REQUEST_NOT_ALLOWED = 2, REQUEST_LIMIT_EXCEEDED = 3 };
enum connection_quality { QUALITY_POOR = 0, QUALITY_GOOD = 1, QUALITY_EXCELLENT = 2 };

struct caller_track {
    bool is_used;
    char sid[ID_SIZE];
    char cid[CALLER_NAME_SIZE], name[CALLER_NAME_SIZE], stream[CALLER_NAME_SIZE];
    int type, source;
    bool is_muted, is_stereo, has_no_dtx, has_no_red;
    int32_t features[CALLER_FEATURES];
    size_t feature_count;
    char mid[SDP_MID_SIZE]; /* "" until an offer carries it */
    uint32_t ssrc;          /* 0: not said */
};

struct caller {
    struct caller_config config;
    enum caller_state state;
    bool is_media_closed; /* by the caller; its leave is waited for */
    bool is_gone;         /* the host is to be told gone_how */
    enum room_left gone_how;
    bool told_muted;
    struct ws *ws; /* NULL: signalling is gone */
    struct token token;
    bool is_single_pc, wants_audio, is_paused; /* is_paused: by track settings */
    char sid[ID_SIZE];
    char *name, *metadata;
    struct js *attributes;
    uint32_t version;
    int64_t joined_wall_ms;
    struct caller_track tracks[CALLER_TRACKS];

    struct leg up;     /* single, or the publisher's */
    struct leg down;   /* the subscriber's; dual only */
    uint32_t offer_id; /* of our last downlink offer */
    bool offer_waits, offer_wanted;
    struct list_node backlog; /* packets until _reliable is open */
    size_t backlog_bytes;
    struct packet_reader reader;
    struct bucket asks, packets;
    unsigned excess;

    int64_t last_signal_us;
    struct timer join_timer, silence_timer, tick_timer;
    unsigned ticks;
    int level_dbov; /* loudest of this tick */
    unsigned loud_ticks, quiet_ticks;
    bool is_speaking, agent_was_speaking;
    int quality; /* last one told; -1: none */
    uint64_t quality_received, quality_lost;
};

/* caller.c */
void caller_gone(struct caller *caller, enum room_left how);
void caller_up(struct caller *caller);
void caller_refuse(struct caller *caller, enum caller_leave_reason reason, const char *why);

/* One who floods; as if they had hung up. */
void caller_put_out(struct caller *caller, const char *why);

/* caller_signal.c */
/* False: it is over what the caller may ask; it is dropped and counted. */
bool caller_may_ask(struct caller *caller, int64_t units);
void caller_handle(struct caller *caller, const struct Lk__SignalRequest *request);
bool caller_set_attributes(struct caller *caller, struct Lk__Pair *const *pairs, size_t count);

/* caller_tracks.c */
struct caller_track *caller_microphone(struct caller *caller);
void caller_add_track(struct caller *caller, const struct Lk__AddTrackRequest *request);
void caller_mute_track(struct caller *caller, const char *sid, bool is_muted);
void caller_bind_tracks(struct caller *caller, const struct sdp *offer);

/* caller_media.c */
bool caller_media_open(struct caller *caller);
void caller_media_close(struct caller *caller);
void caller_offered(struct caller *caller, const char *text, uint32_t id);
void caller_answered(struct caller *caller, const char *text);
void caller_offer_downlink(struct caller *caller);
struct leg *caller_out(struct caller *caller); /* where audio and data leave */

/* caller_tick.c */
void caller_tick(struct caller *caller);

/* caller_send.c */
void caller_send_join(struct caller *caller);
void caller_send_description(struct caller *caller, const char *type, const char *sdp, uint32_t id);
void caller_send_self(struct caller *caller);
void caller_send_everyone(struct caller *caller);
void caller_send_reconnect(struct caller *caller);
void caller_send_room(struct caller *caller);
void caller_send_agent(struct caller *caller);
void caller_send_sections_requirement(struct caller *caller);
void caller_send_published(struct caller *caller, const struct caller_track *track);
void caller_send_subscribed(struct caller *caller, const struct caller_track *track);
void caller_send_leave(struct caller *caller, enum caller_leave_reason reason,
                       enum caller_leave_action action);
void caller_send_refresh_token(struct caller *caller);
void caller_send_pong(struct caller *caller, int64_t timestamp, bool is_old_form);
void caller_send_metadata_result(struct caller *caller, uint32_t request_id,
                                 enum request_reason reason);
void caller_send_data_track_refusal(struct caller *caller, uint32_t handle);
void caller_send_speakers(struct caller *caller, bool has_caller, bool has_agent);
void caller_send_quality(struct caller *caller, enum connection_quality quality);
