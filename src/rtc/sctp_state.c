#include "rtc/sctp_state.h"

#include "base/states.h"

static const char *const state_names[] = {
    [SCTP_CLOSED] = "closed",
    [SCTP_COOKIE_WAIT] = "cookie_wait",
    [SCTP_COOKIE_ECHOED] = "cookie_echoed",
    [SCTP_OPEN] = "open",
    [SCTP_SHUTDOWN_PENDING] = "shutdown_pending",
    [SCTP_SHUTDOWN_SENT] = "shutdown_sent",
    [SCTP_SHUTDOWN_RECEIVED] = "shutdown_received",
    [SCTP_SHUTDOWN_ACK_SENT] = "shutdown_ack_sent",
    [SCTP_ENDED] = "ended",
};

static const char *const move_names[] = {
    [SCTP_CONNECT] = "connect",
    [SCTP_GOT_INIT_ACK] = "init_ack",
    [SCTP_GOT_COOKIE_ECHO] = "cookie_echo",
    [SCTP_GOT_COOKIE_ACK] = "cookie_ack",
    [SCTP_SHUT_DOWN] = "shut_down",
    [SCTP_DRAINED] = "drained",
    [SCTP_GOT_SHUTDOWN] = "shutdown",
    [SCTP_GOT_SHUTDOWN_ACK] = "shutdown_ack",
    [SCTP_GOT_SHUTDOWN_COMPLETE] = "shutdown_complete",
    [SCTP_END] = "end",
};
_Static_assert(ARRAY_LEN(state_names) == SCTP_STATE_COUNT, "a name for each");
_Static_assert(ARRAY_LEN(move_names) == SCTP_MOVE_COUNT, "a name for each");

static const struct states_row rows[] = {
    {SCTP_CLOSED, SCTP_CONNECT, SCTP_COOKIE_WAIT},
    {SCTP_CLOSED, SCTP_GOT_COOKIE_ECHO, SCTP_OPEN},
    {SCTP_CLOSED, SCTP_END, SCTP_ENDED},

    {SCTP_COOKIE_WAIT, SCTP_GOT_INIT_ACK, SCTP_COOKIE_ECHOED},
    {SCTP_COOKIE_WAIT, SCTP_GOT_COOKIE_ECHO, SCTP_OPEN},
    {SCTP_COOKIE_WAIT, SCTP_END, SCTP_ENDED},

    {SCTP_COOKIE_ECHOED, SCTP_GOT_INIT_ACK, SCTP_COOKIE_ECHOED},
    {SCTP_COOKIE_ECHOED, SCTP_GOT_COOKIE_ECHO, SCTP_OPEN},
    {SCTP_COOKIE_ECHOED, SCTP_GOT_COOKIE_ACK, SCTP_OPEN},
    {SCTP_COOKIE_ECHOED, SCTP_END, SCTP_ENDED},

    {SCTP_OPEN, SCTP_CONNECT, SCTP_OPEN}, /* the peer was first */
    {SCTP_OPEN, SCTP_GOT_INIT_ACK, SCTP_OPEN},
    {SCTP_OPEN, SCTP_GOT_COOKIE_ECHO, SCTP_OPEN},
    {SCTP_OPEN, SCTP_GOT_COOKIE_ACK, SCTP_OPEN},
    {SCTP_OPEN, SCTP_SHUT_DOWN, SCTP_SHUTDOWN_PENDING},
    {SCTP_OPEN, SCTP_GOT_SHUTDOWN, SCTP_SHUTDOWN_RECEIVED},
    {SCTP_OPEN, SCTP_END, SCTP_ENDED},

    {SCTP_SHUTDOWN_PENDING, SCTP_GOT_COOKIE_ECHO, SCTP_SHUTDOWN_PENDING},
    {SCTP_SHUTDOWN_PENDING, SCTP_GOT_COOKIE_ACK, SCTP_SHUTDOWN_PENDING},
    {SCTP_SHUTDOWN_PENDING, SCTP_SHUT_DOWN, SCTP_SHUTDOWN_PENDING},
    {SCTP_SHUTDOWN_PENDING, SCTP_DRAINED, SCTP_SHUTDOWN_SENT},
    {SCTP_SHUTDOWN_PENDING, SCTP_GOT_SHUTDOWN, SCTP_SHUTDOWN_RECEIVED},
    {SCTP_SHUTDOWN_PENDING, SCTP_END, SCTP_ENDED},

    {SCTP_SHUTDOWN_SENT, SCTP_GOT_COOKIE_ECHO, SCTP_SHUTDOWN_SENT},
    {SCTP_SHUTDOWN_SENT, SCTP_SHUT_DOWN, SCTP_SHUTDOWN_SENT},
    {SCTP_SHUTDOWN_SENT, SCTP_GOT_SHUTDOWN, SCTP_SHUTDOWN_ACK_SENT},
    {SCTP_SHUTDOWN_SENT, SCTP_GOT_SHUTDOWN_ACK, SCTP_ENDED},
    {SCTP_SHUTDOWN_SENT, SCTP_END, SCTP_ENDED},

    {SCTP_SHUTDOWN_RECEIVED, SCTP_GOT_COOKIE_ECHO, SCTP_SHUTDOWN_RECEIVED},
    {SCTP_SHUTDOWN_RECEIVED, SCTP_SHUT_DOWN, SCTP_SHUTDOWN_RECEIVED},
    {SCTP_SHUTDOWN_RECEIVED, SCTP_DRAINED, SCTP_SHUTDOWN_ACK_SENT},
    {SCTP_SHUTDOWN_RECEIVED, SCTP_GOT_SHUTDOWN, SCTP_SHUTDOWN_RECEIVED},
    {SCTP_SHUTDOWN_RECEIVED, SCTP_END, SCTP_ENDED},

    {SCTP_SHUTDOWN_ACK_SENT, SCTP_GOT_COOKIE_ECHO, SCTP_SHUTDOWN_ACK_SENT},
    {SCTP_SHUTDOWN_ACK_SENT, SCTP_SHUT_DOWN, SCTP_SHUTDOWN_ACK_SENT},
    {SCTP_SHUTDOWN_ACK_SENT, SCTP_GOT_SHUTDOWN, SCTP_SHUTDOWN_ACK_SENT},
    {SCTP_SHUTDOWN_ACK_SENT, SCTP_GOT_SHUTDOWN_ACK, SCTP_ENDED},
    {SCTP_SHUTDOWN_ACK_SENT, SCTP_GOT_SHUTDOWN_COMPLETE, SCTP_ENDED},
    {SCTP_SHUTDOWN_ACK_SENT, SCTP_END, SCTP_ENDED},

    {SCTP_ENDED, SCTP_SHUT_DOWN, SCTP_ENDED},
    {SCTP_ENDED, SCTP_END, SCTP_ENDED},
};

static const struct states states = {.name = "sctp",
                                     .state_names = state_names,
                                     .event_names = move_names,
                                     .state_count = SCTP_STATE_COUNT,
                                     .event_count = SCTP_MOVE_COUNT,
                                     .rows = rows,
                                     .count = ARRAY_LEN(rows)};

bool sctp_move(enum sctp_state *state, enum sctp_move move)
{
    int to = states_next(&states, *state, move, NULL);
    if (to == STATES_REFUSED)
        return false;
    *state = (enum sctp_state)to;
    return true;
}
