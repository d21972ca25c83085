/* Rooms that this process hosts: it is the LiveKit server of one caller and one agent, and the
 * agent is in the process. A host implements struct room_link. Thread: the media loop, except where
 * it says `any`.
 *
 * The agent participant appears in the room with the first set_agent_state(): before that a caller
 * who joins is alone (and on_joined comes all the same).
 *
 *     WAITING --join--> JOINING --ICE and DTLS up--> JOINED --silence, leave, other join--> WAITING
 *     any --close--> CLOSED */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/loop.h"
#include "room/link.h"
#include "room/token.h"

struct rooms;

struct room_host_config {
    const char *room;     /* name, copied as all texts here */
    const char *metadata; /* of the room, may be NULL */
    const char *agent_identity, *agent_name;
    int64_t silence_limit_us;         /* 0: 10 s (architecture, Network) */
    int64_t join_limit_us;            /* from 101 to media up, then JOIN_FAILURE; 0: 60 s */
    const struct room_events *events; /* borrowed, lives as long as the link */
    void *arg;
};

/* Opens a room. The link lives until on_closed. ERR_CONFLICT: the name is in use on this loop. */
enum err room_host_open(struct rooms *rooms, const struct room_host_config *config,
                        struct room_link **out) MUST_USE;
/* The loop's calls are in rooms of this process. */
struct room_provider room_host_provider(struct rooms *rooms);
