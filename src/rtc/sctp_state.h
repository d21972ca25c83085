/* Where an association stands, and what leads on (RFC 9260 section 4). A row that ends where it
 * begins is a chunk that was repeated: its answer was lost, or both sides spoke at once.
 *
 *                connect               INIT ACK                  COOKIE ACK
 *     CLOSED --------------> COOKIE_WAIT ------> COOKIE_ECHOED ---------------> OPEN
 *        '------ COOKIE ECHO ----'----- COOKIE ECHO ---'-------------------------^
 *
 *          ours              all is acknowledged
 *     OPEN ----> SHUTDOWN_PENDING ------> SHUTDOWN_SENT -----> ENDED
 *       '------> SHUTDOWN_RECEIVED -----> SHUTDOWN_ACK_SENT ----^
 *         the peer's
 *
 * Thread: its owner's. */
#pragma once

#include <stdbool.h>

#include "base/attr.h"

enum sctp_state {
    SCTP_CLOSED,
    SCTP_COOKIE_WAIT,
    SCTP_COOKIE_ECHOED,
    SCTP_OPEN,
    SCTP_SHUTDOWN_PENDING,
    SCTP_SHUTDOWN_SENT,
    SCTP_SHUTDOWN_RECEIVED,
    SCTP_SHUTDOWN_ACK_SENT,
    SCTP_ENDED,
    SCTP_STATE_COUNT
};

enum sctp_move {
    SCTP_CONNECT,
    SCTP_GOT_INIT_ACK,
    SCTP_GOT_COOKIE_ECHO,
    SCTP_GOT_COOKIE_ACK,
    SCTP_SHUT_DOWN, /* ours */
    SCTP_DRAINED,   /* all is acknowledged */
    SCTP_GOT_SHUTDOWN,
    SCTP_GOT_SHUTDOWN_ACK,
    SCTP_GOT_SHUTDOWN_COMPLETE,
    SCTP_END, /* abort of either side, or given up */
    SCTP_MOVE_COUNT
};

/* False: the table has no such move (base/states.h), and *state is left as it is. */
bool sctp_move(enum sctp_state *state, enum sctp_move move) MUST_USE;
