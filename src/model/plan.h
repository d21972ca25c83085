/* The plan of a call: all that the call needs to run, frozen when it starts, as plain data. What
 * the agent says is already as this call runs it: the language rules and config.prompt are applied.
 * Owned by whoever holds it; freed with its arena. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/agent.h"
#include "model/call.h"
#include "model/tool.h"

struct call_plan {
    struct arena *arena;    /* owns everything below, the plan included */
    struct call call;       /* as inserted: status created */
    struct agent agent;     /* as saved, but with greeting, instruction and language of this call */
    struct tool_list tools; /* offered in this call: switched on or mentioned; before_call ones too.
                               Empty when config.prompt.system is set */
    struct call_config config;
    const char *language;    /* catalog id that the call speaks */
    const char *iso;         /* its iso code */
    struct text_list listen; /* iso codes to listen for, the first is the main one */
    bool has_language; /* a different language than the agent's was sent: writing rules apply */
    bool is_instruction_final;       /* config.prompt.system: variables are not filled in */
    struct text_pair_list variables; /* sent ones, then the agent's defaults for the others */
    const char *participant_name;
    int64_t ttl_s;            /* of the join token */
    int64_t max_duration_s;   /* from the caller's joining; 0: none but the 24 hours */
    bool is_balance_limited;  /* embed: the day's spend bounds the call as well */
    int64_t spend_limit_usd4; /* embed: what this call may still cost; 0 when not limited */
};

static inline void call_plan_free(struct call_plan *plan)
{
    if (plan)
        arena_free(plan->arena);
}
DEFINE_AUTO(call_plan)
