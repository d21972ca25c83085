/* Who has the floor. Decides nothing but the state: what happens goes in as an event, the table
 * says where to; what must be done then is its caller's matter.
 *
 *               joined                 voice                 commit
 *     ABSENT ----------> LISTENING ------------> CALLER ---------------> THINKING
 *        ^ left (any)      ^   | speak             ^ words                 | speak
 *                          |   v                   |                       v
 *                          '- SPEAKING --voice--> PAUSED --false alarm--> SPEAKING
 *                              done                 ^ voice --- THINKING
 *
 * PAUSED is the first step of a barge-in: the agent has stopped in mid-word, and either words
 * follow (the caller has the floor) or none (it goes on at the same sample). A move that the table
 * lacks is an answer, not a fault (style rule 29): the caller asks whether it may. Thread: its
 * owner's. */
#pragma once

#include <stdbool.h>

enum turn_state {
    TURN_ABSENT,    /* no caller in the room */
    TURN_LISTENING, /* nobody speaks */
    TURN_CALLER,    /* the caller has the floor, until the endpoint decides */
    TURN_THINKING,  /* a reply is being made */
    TURN_SPEAKING,  /* the agent is heard */
    TURN_PAUSED,    /* the caller's voice has stopped the agent; undecided */
    TURN_OVER,
    TURN_STATE_COUNT
};

enum turn_event {
    TURN_JOINED,
    TURN_LEFT,
    TURN_VOICE,   /* the caller is heard, and may interrupt */
    TURN_WORDS,   /* ... and says something that is no acknowledgement */
    TURN_COMMIT,  /* the caller has finished a turn that wants a reply */
    TURN_VOID,    /* the caller's sound was nothing */
    TURN_SPEAK,   /* something to say is ready to be heard */
    TURN_INSIST,  /* ... and is heard even while the caller speaks (a line of Speak into a call) */
    TURN_WAIT,    /* all is said so far, more is being made */
    TURN_DONE,    /* all is said */
    TURN_RESUME,  /* a false alarm while the agent was speaking */
    TURN_RETHINK, /* a false alarm while the agent was thinking */
    TURN_END,
    TURN_EVENT_COUNT
};

const char *turn_state_name(enum turn_state state);
/* The state that follows; false: the table has no such move, and *state is left as it is. */
bool turn_move(enum turn_state *state, enum turn_event event);
