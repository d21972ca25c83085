/* All that a call needs to know, frozen when it starts: the agent as it was saved, what Start a
 * call said, and what follows from both. The API fills it in its start job and hands it over with
 * calls_start(); the call owns it to its end, on its own loop, with all it points to. Thread: its
 * owner's, one after the other. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/ids.h"

struct agent;
struct arena;
struct js;
struct tool;

enum call_source { CALL_SOURCE_API, CALL_SOURCE_EMBED };

/* `config` of Start a call, checked; defaults filled by call_plan_new(). */
struct call_settings {
    int64_t max_duration_s; /* 0: none of its own; an embed's ceiling is already in it */
    const char *system;     /* prompt.system, used as written; NULL: the agent's */
    const char *greeting_mode, *greeting_text,
        *greeting_instruction; /* prompt.greeting; NULL: the agent's */
    int64_t endpointing_ms;
    bool is_interruptible;
    double vad_threshold;
    int64_t vad_min_speech_ms, vad_min_silence_ms, vad_prefix_padding_ms;
};

struct call_plan {
    struct arena *arena; /* all that is pointed to, except js trees */
    char call_id[ID_SIZE], workspace_id[ID_SIZE], agent_id[ID_SIZE];
    const char *room, *identity; /* the caller's */
    enum call_source source;
    int64_t created_wall_ms;
    int64_t join_until_wall_ms; /* the token's end: no-user when nobody has come by then */
    int64_t cost_per_minute_usd4;
    const char *language;      /* catalog id that the call runs in: the agent's or the one sent */
    bool is_language_sent;     /* another than the agent's: language rule 2 */
    const struct agent *agent; /* with its variables' defaults */
    const struct tool *const *tools; /* switched on or mentioned: during_call and before_call */
    size_t tool_count;
    struct js *variables; /* as sent: object of strings; owned */
    struct call_settings settings;
};

struct call_plan *call_plan_new(void); /* with an empty arena and the defaults of the decisions */
void call_plan_free(struct call_plan *plan);
DEFINE_AUTO(call_plan)
