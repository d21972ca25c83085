/* The caller of a hosted room: one joined client with its signalling connection and its one (v1) or
 * two (v0) peer connections. The host owns it and is told what matters by struct caller_fns.
 *
 *     JOINING --primary peer connected--> UP --its media closed--> ENDING
 *        '-- leave, loss, limit --> REFUSED    '-- leave, loss --> LEFT <--'
 *     any --caller_close()--> CLOSED
 *
 * REFUSED and LEFT wait for the end of the turn, when the host is told. Signalling may be lost
 * while UP: as long as packets come the caller stays (LiveKit, Server-side timers). Thread: its
 * loop. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/ids.h"
#include "room/link.h"
#include "room/packet.h"

struct caller;
struct loop;
struct port;
struct room_join;
struct token_signer;

/* LeaveRequest.reason, .action; DisconnectReason of the wire. */
enum caller_leave_reason {
    LEAVE_DUPLICATE_IDENTITY = 2,
    LEAVE_SERVER_SHUTDOWN = 3,
    LEAVE_ROOM_DELETED = 5,
    LEAVE_STATE_MISMATCH = 6,
    LEAVE_JOIN_FAILURE = 7,
    LEAVE_CONNECTION_TIMEOUT = 14,
    LEAVE_AGENT_ERROR = 16
};
enum caller_leave_action { ACTION_DISCONNECT = 0, ACTION_RESUME = 1, ACTION_RECONNECT = 2 };

/* The room and its agent as a caller is told of them; the host's, borrowed. */
struct room_view {
    const char *name, *sid, *metadata;
    int64_t created_wall_ms;
    bool has_agent;
    const char *agent_identity, *agent_name, *agent_sid, *agent_track_sid, *agent_state;
    uint32_t agent_version; /* rises with each change */
};

struct caller_fns {
    void (*on_up)(void *arg);
    /* The host calls caller_close() in or after it. */
    void (*on_gone)(void *arg, enum room_left how);
    void (*on_opus)(void *arg, const uint8_t *payload, size_t len, uint16_t sequence,
                    uint32_t timestamp, int64_t now_us);
    void (*on_muted)(void *arg, bool is_muted);
    void (*on_chat)(void *arg, const char *text);
};

struct caller_config {
    struct loop *loop;
    struct port *port;
    const struct token_signer *signer;
    const struct room_view *room;
    int64_t silence_limit_us, join_limit_us;
    const struct caller_fns *fns;
    void *arg;
};

/* Writes the 101 and the JoinResponse. */
struct caller *caller_open(const struct caller_config *config, struct room_join *take_join);
/* Is this the session of that sid, with its media path still up? */
bool caller_can_resume(const struct caller *caller, const struct room_join *join);
/* The same session over a new signalling connection; its peer connections go on (LiveKit, Resume
 * exchange). */
void caller_resume(struct caller *caller, struct room_join *take_join);
/* A client that wants to resume a session that is not here: 101, then a leave at which it joins
 * anew (LiveKit, Resume exchange). */
void caller_turn_away(const struct caller_config *config, struct room_join *take_join);
/* Tells the client to leave (unless its signalling is gone) and frees at the end of the turn. NULL
 * is fine. */
void caller_close(struct caller *caller, enum caller_leave_reason reason,
                  enum caller_leave_action action);

const char *caller_identity(const struct caller *caller);
const char *caller_name(const struct caller *caller);
const char *caller_track_sid(const struct caller *caller); /* of the microphone; "TR_none" */
bool caller_is_up(const struct caller *caller); /* it has been, and is not closed; NULL: no */
int64_t caller_last_packet_us(const struct caller *caller);
void caller_stats(const struct caller *caller, struct room_stats *out);

void caller_agent_changed(struct caller *caller); /* the view says how */
void caller_send_opus(struct caller *caller, const uint8_t *payload, size_t len, uint32_t timestamp,
                      bool is_first);
/* A packet for `_reliable`; waits until the channel is open (64 KB at most, then dropped). */
void caller_send_packet(struct caller *caller, const uint8_t *packet, size_t len);
