/* All that a call needs to know, frozen when it starts: its row, what Start a call said, the agent
 * as it was saved. The API fills it in its start job and hands it over with calls_start(); the call
 * owns it to its end, on its own loop. Thread: its owner's, one after the other. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"

struct agent;
struct arena;
struct call;
struct call_start;

struct call_plan {
    struct arena *arena; /* everything pointed to from here; freed with the plan */
    /* As inserted: id, user_id, agent_id, room_name, source, created_wall_ms,
     * cost_per_minute_usd4, participant_identity. */
    const struct call *row;
    /* Checked, with the defaults of the contract; call.max_duration_s holds an embed's ceiling. */
    const struct call_start *start;
    /* As saved; tools: those switched on or mentioned, during_call and before_call. */
    const struct agent *agent;
    const char *language;       /* catalog id that the call runs in: the agent's or the one sent */
    bool is_language_sent;      /* another than the agent's: language rule 2 */
    int64_t join_until_wall_ms; /* the token's end: no-user when nobody has come by then */
};

struct call_plan *call_plan_new(void); /* with an empty arena of its own */
void call_plan_free(struct call_plan *plan);
DEFINE_AUTO(call_plan)
