#include "base/states.h"

#include "base/log.h"
#include "base/metrics.h"

int states_next(const struct states *states, int from, int event, const char *subject)
{
    const char *who = subject ? subject : "";
    for (size_t i = 0; i < states->count; i++) {
        const struct states_row *row = &states->rows[i];
        if (row->from != from || row->event != event)
            continue;
        if (row->to != from)
            log_debug("state.moved", LOG_S("machine", states->name), LOG_S("subject", who),
                      LOG_S("from", states->state_names[from]),
                      LOG_S("to", states->state_names[row->to]));
        return row->to;
    }
    metric_add_label(METRIC_MOVES_REFUSED, states->name, 1);
    log_debug("state.refused", LOG_S("machine", states->name), LOG_S("subject", who),
              LOG_S("state", states->state_names[from]),
              LOG_S("event", states->event_names[event]));
    return STATES_REFUSED;
}
