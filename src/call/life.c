#include "call/life.h"

#include <stddef.h>

#include "base/attr.h"
#include "base/states.h"

static const struct states_row rows[] = {
    {CALL_CREATED, LIFE_AGENT_JOINED, CALL_ACTIVE},
    {CALL_CREATED, LIFE_END, CALL_ENDED},
    {CALL_ACTIVE, LIFE_END, CALL_ENDED},
};

bool life_move(enum call_status *status, enum life_event event, const char *call_id)
{
    static const char *const event_names[] = {
        [LIFE_AGENT_JOINED] = "agent joined", [LIFE_END] = "end"};
    _Static_assert(ARRAY_LEN(event_names) == LIFE_EVENT_COUNT, "a name for each event");
    static const struct states states = {.name = "call",
                                         .state_names = call_status_names,
                                         .event_names = event_names,
                                         .state_count = CALL_STATUS_COUNT,
                                         .event_count = LIFE_EVENT_COUNT,
                                         .rows = rows,
                                         .count = ARRAY_LEN(rows)};
    int next = states_next(&states, (int)*status, (int)event, call_id);
    if (next == STATES_REFUSED)
        return false;
    *status = (enum call_status)next;
    return true;
}
