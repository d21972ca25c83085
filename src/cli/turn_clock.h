/* Measures the turns of a call as the caller hears them: from the end of the caller's speech to the
 * beginning of the agent's. Fed with 20 ms frames of both sides. Sans-I/O. Thread: its owner's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct turn {
    int number;          /* 0: the greeting */
    int64_t asked_us;    /* when the caller's last word ended; of a greeting: the join */
    int64_t answered_us; /* when the agent's first sound was heard */
};

struct turn_clock {
    int64_t joined_us;
    int64_t caller_voice_us, agent_voice_us; /* end of the last frame with voice; 0: none */
    int turns;
    bool has_asked; /* since the agent's last onset */
};

void turn_clock_init(struct turn_clock *clock, int64_t joined_us);
void turn_clock_caller(struct turn_clock *clock, const int16_t *samples, size_t count,
                       int64_t now_us);
/* True when this frame begins an answer. */
bool turn_clock_agent(struct turn_clock *clock, const int16_t *samples, size_t count,
                      int64_t now_us, struct turn *out);
/* How long the agent has been silent. */
int64_t turn_clock_agent_quiet_us(const struct turn_clock *clock, int64_t now_us);
