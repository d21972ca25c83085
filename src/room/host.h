/* Rooms that this process hosts: it is the LiveKit server of one caller and one agent, and the
 * agent is in the process. `struct room_media` is one media loop's set of rooms; a host implements
 * struct room_link. Thread: the media loop, except where it says `any`.
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

struct dialer;
struct port;
struct room_join;
struct room_media;

struct room_media_config {
    struct loop *loop;
    struct port *port;                 /* this loop's UDP port, borrowed */
    const struct token_signer *signer; /* for refresh tokens, borrowed; NULL: no hosts */
    struct dialer *dialer;             /* for participants, borrowed; NULL: none */
};

struct room_media *room_media_new(const struct room_media_config *config);
void room_media_free(struct room_media *media); /* all rooms are closed */
DEFINE_AUTO(room_media)
struct loop *room_media_loop(const struct room_media *media); /* any */
/* Takes a connection that admission has checked: finds the room, writes the 101 or a refusal. */
void room_media_join(struct room_media *media, struct room_join *take_join);

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
enum err room_host_open(struct room_media *media, const struct room_host_config *config,
                        struct room_link **out) MUST_USE;
/* The loop's calls are in rooms of this process. */
struct room_provider room_host_provider(struct room_media *media);
