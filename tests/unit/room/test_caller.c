/* The states of both roles; what they do on the wire is in test_link.c. */
#include "room/caller_internal.h"
#include "room/participant_internal.h"
#include "test.h"

enum { NO = STATES_REFUSED };

TEST(a_caller_moves_as_the_table_says)
{
    static const int want[CALLER_STATES][CALLER_EVENTS] = {
        /* connected, media_closed, gone, close */
        [CALLER_JOINING] = {CALLER_UP, CALLER_JOINING, CALLER_REFUSED, CALLER_CLOSED},
        [CALLER_UP] = {NO, CALLER_ENDING, CALLER_LEFT, CALLER_CLOSED},
        [CALLER_ENDING] = {NO, NO, CALLER_LEFT, CALLER_CLOSED},
        [CALLER_REFUSED] = {CALLER_REFUSED, CALLER_REFUSED, CALLER_REFUSED, CALLER_CLOSED},
        [CALLER_LEFT] = {NO, CALLER_LEFT, CALLER_LEFT, CALLER_CLOSED},
        [CALLER_CLOSED] = {NO, NO, CALLER_CLOSED, NO},
    };
    for (int state = 0; state < CALLER_STATES; state++)
        for (int event = 0; event < CALLER_EVENTS; event++)
            CHECK_INT(states_next(&caller_states, state, event, NULL), want[state][event]);
}

TEST(a_caller_is_up_from_its_first_packet_until_it_is_closed)
{
    static const bool want[CALLER_STATES] = {
        [CALLER_UP] = true, [CALLER_ENDING] = true, [CALLER_LEFT] = true};
    for (int state = 0; state < CALLER_STATES; state++) {
        struct caller caller = {.state = (enum caller_state)state};
        CHECK_INT(caller_is_up(&caller), want[state]);
    }
}

TEST(a_participant_moves_as_the_table_says)
{
    static const int want[PARTICIPANT_STATES][PARTICIPANT_EVENTS] = {
        /* joined, connected, end, close */
        [PARTICIPANT_DIALLING] = {PARTICIPANT_JOINING, NO, PARTICIPANT_ENDED, PARTICIPANT_CLOSED},
        [PARTICIPANT_JOINING] = {NO, PARTICIPANT_UP, PARTICIPANT_ENDED, PARTICIPANT_CLOSED},
        [PARTICIPANT_UP] = {NO, NO, PARTICIPANT_ENDED, PARTICIPANT_CLOSED},
        [PARTICIPANT_ENDED] = {NO, PARTICIPANT_ENDED, PARTICIPANT_ENDED, PARTICIPANT_CLOSED},
        [PARTICIPANT_CLOSED] = {NO, NO, PARTICIPANT_CLOSED, PARTICIPANT_CLOSED},
    };
    for (int state = 0; state < PARTICIPANT_STATES; state++)
        for (int event = 0; event < PARTICIPANT_EVENTS; event++)
            CHECK_INT(states_next(&participant_states, state, event, NULL), want[state][event]);
}
