/* All that a call needs to know, frozen when it starts: its row, what Start a call said, the agent
 * as it was saved, its tools. What calls of one agent have in common they share (call/snapshot.h).
 * Made by call_plan_load() once the call's row is stored, handed over with calls_start(); the call
 * owns it to its end, on its own loop. Thread: its owner's, one after the other. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "model/field.h"

struct agent;
struct arena;
struct call;
struct call_start;
struct loop;
struct shelf_item;
struct snapshots;
struct store;
struct tool_definition;
struct tool_head_list;

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
    /* Beside each of agent->tools; NULL: to be made by whoever needs them. */
    const struct tool_definition *definitions;
    struct text_list left_out; /* names of tools for which there was no room */
    const char *refusal;       /* why the call cannot begin; NULL: it can */
    struct shelf_item **held;
    size_t held_count;
};

struct call_plan *call_plan_new(void); /* with an empty arena of its own */
void call_plan_free(struct call_plan *plan);
DEFINE_AUTO(call_plan)

/* What a plan is made of. */
struct call_plan_source {
    const struct call *row;
    const struct call_start *start;
    const struct agent *agent;          /* as it was when the row was stored; without tools */
    const struct tool_head_list *tools; /* those that are on; each is read as it is now */
    const char *language;
    bool is_language_sent;
    int64_t join_until_wall_ms;
};
typedef void call_plan_fn(void *arg, struct call_plan *take_plan);
/* Reads the tools, in a job, and makes the plan; fn comes on the loop, always with a plan. The
 * source is borrowed until then. Thread: the loop's. */
void call_plan_load(struct store *store, struct snapshots *snapshots,
                    const struct call_plan_source *source, struct loop *loop, call_plan_fn *fn,
                    void *arg);
