#include "call/life.h"

#include <stddef.h>

#include "base/attr.h"
#include "base/log.h"

static const struct {
    enum call_status from;
    enum life_event event;
    enum call_status to;
} moves[] = {
    {CALL_CREATED, LIFE_AGENT_JOINED, CALL_ACTIVE},
    {CALL_CREATED, LIFE_END, CALL_ENDED},
    {CALL_ACTIVE, LIFE_END, CALL_ENDED},
};

bool life_move(enum call_status *status, enum life_event event, const char *call_id)
{
    for (size_t i = 0; i < ARRAY_LEN(moves); i++) {
        if (moves[i].from != *status || moves[i].event != event)
            continue;
        log_debug("call.move", LOG_S("call", call_id), LOG_S("from", call_status_names[*status]),
                  LOG_S("to", call_status_names[moves[i].to]));
        *status = moves[i].to;
        return true;
    }
    return false;
}
