#include "call/life.h"
#include "test.h"

/* Each pair of state and event; -1: no move. */
TEST(life_moves_as_the_table_says)
{
    static const int want[CALL_STATUS_COUNT][LIFE_EVENT_COUNT] = {
        [CALL_CREATED] = {CALL_ACTIVE, CALL_ENDED},
        [CALL_ACTIVE] = {-1, CALL_ENDED},
        [CALL_ENDED] = {-1, -1},
    };
    for (int state = 0; state < CALL_STATUS_COUNT; state++)
        for (int event = 0; event < LIFE_EVENT_COUNT; event++) {
            enum call_status status = (enum call_status)state;
            bool has_moved = life_move(&status, (enum life_event)event, "c1");
            CHECK_INT(has_moved ? (int)status : -1, want[state][event]);
        }
}
