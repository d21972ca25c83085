/* One media loop's rooms, hosted here or elsewhere, and what they share. Thread: the media loop,
 * except where it says `any`. */
#pragma once

#include "base/attr.h"

struct dialer;
struct loop;
struct port;
struct room_join;
struct rooms;
struct token_signer;

struct rooms_config {
    struct loop *loop;
    struct port *port;                 /* this loop's UDP port, borrowed */
    const struct token_signer *signer; /* for refresh tokens, borrowed; NULL: no hosts */
    struct dialer *dialer;             /* for participants, borrowed; NULL: none */
};

struct rooms *rooms_new(const struct rooms_config *config);
void rooms_free(struct rooms *rooms); /* all rooms are closed */
DEFINE_AUTO(rooms)
/* Takes a connection that admission has checked: finds the room, writes the 101 or a refusal. */
void rooms_join(struct rooms *rooms, struct room_join *take_join);
