/* What the files of a caller share: caller.c (life), caller_requests.c (what it asks),
 * caller_media.c (its peer connections). Each of its parts is a module of its own, which is handed
 * what it needs and says what it found; these three files join them. */
#pragma once

#include "base/bucket.h"
#include "base/loop.h"
#include "base/states.h"
#include "room/backlog.h"
#include "room/caller.h"
#include "room/legs.h"
#include "room/member.h"
#include "room/meter.h"
#include "room/packet.h"
#include "room/signal.h"
#include "room/tracks.h"

struct Lk__AddTrackRequest;
struct Lk__SignalRequest;

enum caller_state {
    CALLER_JOINING,
    CALLER_UP,
    CALLER_ENDING,  /* its media is closed; its leave is waited for */
    CALLER_REFUSED, /* was never up; the host is to be told */
    CALLER_LEFT,    /* was up; the host is to be told */
    CALLER_CLOSED
};
enum caller_event {
    CALLER_CONNECTED,    /* the primary peer connection is up */
    CALLER_MEDIA_CLOSED, /* by its side */
    CALLER_GONE,         /* for whatever reason */
    CALLER_CLOSE         /* the host lets go of it */
};
enum { CALLER_STATES = CALLER_CLOSED + 1, CALLER_EVENTS = CALLER_CLOSE + 1 };
extern const struct states caller_states;

struct caller {
    struct caller_config config;
    enum caller_state state;
    enum room_left gone_how; /* REFUSED, LEFT: what the host is to be told */
    bool told_muted;
    struct signal signal;
    struct member member;
    struct tracks tracks;
    struct legs legs;
    struct backlog backlog; /* packets until _reliable is open */
    struct packet_reader reader;
    struct meter meter;
    struct bucket asks, packets;
    unsigned excess;
    int64_t last_signal_us;
    struct timer join_timer, silence_timer, tick_timer;
};

/* caller.c */
/* False: nothing has changed. */
bool caller_move(struct caller *caller, enum caller_event event);
void caller_gone(struct caller *caller, enum room_left how);
void caller_up(struct caller *caller);
void caller_refuse(struct caller *caller, enum caller_leave_reason reason, const char *why);
void caller_put_out(struct caller *caller, const char *why); /* one who floods */
void caller_tell_self(struct caller *caller);
void caller_tell_muted(struct caller *caller); /* the host, if it has changed */

/* caller_requests.c */
/* False: it is over what the caller may ask; it is dropped and counted. */
bool caller_may_ask(struct caller *caller, int64_t units);
void caller_handle(struct caller *caller, const struct Lk__SignalRequest *request);
void caller_add_track(struct caller *caller, const struct Lk__AddTrackRequest *request);

/* caller_media.c */
bool caller_media_open(struct caller *caller);
void caller_offered(struct caller *caller, const char *text, uint32_t id);
void caller_answered(struct caller *caller, const char *text);
void caller_offer_downlink(struct caller *caller);
