#include "talk/turn.h"
#include "test.h"

/* Each pair of state and event, as the picture in the header has it: '-' no move. */
TEST(turn_moves_as_the_table_says)
{
    static const char want[TURN_STATE_COUNT][TURN_EVENT_COUNT + 1] = {
        /* JOINED LEFT VOICE WORDS COMMIT VOID SPEAK INSIST WAIT DONE RESUME RETHINK END */
        [TURN_ABSENT] = "L-----------O",   [TURN_LISTENING] = "-ACCT-SST---O",
        [TURN_CALLER] = "-A--TL-S----O",   [TURN_THINKING] = "-APC--SS-L--O",
        [TURN_SPEAKING] = "-APC----TL--O", [TURN_PAUSED] = "-A-CT--S-LSTO",
        [TURN_OVER] = "-------------",
    };
    static const char names[] = "ALCTSPO";
    for (int state = 0; state < TURN_STATE_COUNT; state++)
        for (int event = 0; event < TURN_EVENT_COUNT; event++) {
            enum turn_state to = (enum turn_state)state;
            bool has_moved = turn_move(&to, (enum turn_event)event);
            char got = has_moved ? names[to] : '-';
            if (got != want[state][event])
                test_fail(__FILE__, __LINE__, "%s, event %d: %c, not %c",
                          turn_state_name((enum turn_state)state), event, got, want[state][event]);
        }
}
