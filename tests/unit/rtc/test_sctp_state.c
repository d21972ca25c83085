#include "rtc/sctp_state.h"
#include "test.h"

/* Each pair of state and move, as the picture in the header has it: '-' no move. */
TEST(sctp_moves_as_the_table_says)
{
    static const char want[SCTP_STATE_COUNT][SCTP_MOVE_COUNT + 1] = {
        /* CONNECT INIT_ACK COOKIE_ECHO COOKIE_ACK SHUT_DOWN DRAINED SHUTDOWN SHUTDOWN_ACK
         * SHUTDOWN_COMPLETE END */
        [SCTP_CLOSED] = "W-O------X",
        [SCTP_COOKIE_WAIT] = "-EO------X",
        [SCTP_COOKIE_ECHOED] = "-EOO-----X",
        [SCTP_OPEN] = "OOOOP-R--X",
        [SCTP_SHUTDOWN_PENDING] = "--PPPSR--X",
        [SCTP_SHUTDOWN_SENT] = "--S-S-AX-X",
        [SCTP_SHUTDOWN_RECEIVED] = "--R-RAR--X",
        [SCTP_SHUTDOWN_ACK_SENT] = "--A-A-AXXX",
        [SCTP_ENDED] = "----X----X",
    };
    static const char names[] = "CWEOPSRAX";
    for (int state = 0; state < SCTP_STATE_COUNT; state++)
        for (int what = 0; what < SCTP_MOVE_COUNT; what++) {
            enum sctp_state to = (enum sctp_state)state;
            char got = sctp_move(&to, (enum sctp_move)what) ? names[to] : '-';
            if (got != want[state][what])
                test_fail(__FILE__, __LINE__, "%c, move %d: %c, not %c", names[state], what, got,
                          want[state][what]);
        }
}
