#include "talk/turn.h"

#include <stddef.h>

#include "base/attr.h"
#include "base/log.h"

static const struct {
    enum turn_state from;
    enum turn_event event;
    enum turn_state to;
} moves[] = {
    {TURN_ABSENT, TURN_JOINED, TURN_LISTENING},  {TURN_LISTENING, TURN_VOICE, TURN_CALLER},
    {TURN_LISTENING, TURN_WORDS, TURN_CALLER},   {TURN_LISTENING, TURN_COMMIT, TURN_THINKING},
    {TURN_LISTENING, TURN_SPEAK, TURN_SPEAKING}, {TURN_LISTENING, TURN_INSIST, TURN_SPEAKING},
    {TURN_LISTENING, TURN_WAIT, TURN_THINKING},  {TURN_CALLER, TURN_COMMIT, TURN_THINKING},
    {TURN_CALLER, TURN_VOID, TURN_LISTENING},    {TURN_CALLER, TURN_INSIST, TURN_SPEAKING},
    {TURN_THINKING, TURN_VOICE, TURN_PAUSED},    {TURN_THINKING, TURN_WORDS, TURN_CALLER},
    {TURN_THINKING, TURN_SPEAK, TURN_SPEAKING},  {TURN_THINKING, TURN_INSIST, TURN_SPEAKING},
    {TURN_THINKING, TURN_DONE, TURN_LISTENING},  {TURN_SPEAKING, TURN_VOICE, TURN_PAUSED},
    {TURN_SPEAKING, TURN_WORDS, TURN_CALLER},    {TURN_SPEAKING, TURN_WAIT, TURN_THINKING},
    {TURN_SPEAKING, TURN_DONE, TURN_LISTENING},  {TURN_PAUSED, TURN_WORDS, TURN_CALLER},
    {TURN_PAUSED, TURN_COMMIT, TURN_THINKING},   {TURN_PAUSED, TURN_RESUME, TURN_SPEAKING},
    {TURN_PAUSED, TURN_RETHINK, TURN_THINKING},  {TURN_PAUSED, TURN_INSIST, TURN_SPEAKING},
    {TURN_PAUSED, TURN_DONE, TURN_LISTENING},
};

const char *turn_state_name(enum turn_state state)
{
    static const char *const names[] = {
        [TURN_ABSENT] = "absent",     [TURN_LISTENING] = "listening", [TURN_CALLER] = "caller",
        [TURN_THINKING] = "thinking", [TURN_SPEAKING] = "speaking",   [TURN_PAUSED] = "paused",
        [TURN_OVER] = "over",
    };
    _Static_assert(ARRAY_LEN(names) == TURN_STATE_COUNT, "a name for each state");
    return names[state];
}

static bool move_to(enum turn_state *state, enum turn_state to)
{
    log_debug("turn.move", LOG_S("from", turn_state_name(*state)),
              LOG_S("to", turn_state_name(to)));
    *state = to;
    return true;
}

bool turn_move(enum turn_state *state, enum turn_event event)
{
    if (*state == TURN_OVER)
        return false;
    if (event == TURN_END)
        return move_to(state, TURN_OVER);
    if (event == TURN_LEFT)
        return *state != TURN_ABSENT && move_to(state, TURN_ABSENT);
    for (size_t i = 0; i < ARRAY_LEN(moves); i++)
        if (moves[i].from == *state && moves[i].event == event)
            return move_to(state, moves[i].to);
    return false;
}
