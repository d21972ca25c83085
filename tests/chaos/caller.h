/* One caller of the chaos test: starts calls by the API one after another, joins their rooms as a
 * LiveKit client, talks in its manner, leaves, and writes down what came of it.
 *
 *     IDLE --> STARTING --201--> JOINING --media up--> GREETED --quiet--> PAUSING --> SPEAKING
 *       ^          |                |                                       ^             |
 *       |       refused           ended                                  HEARING <--- WAITING
 *       |                       PAUSING --> REJOINING --media up--> GREETED
 *       '---------- LEAVING <-------'---- no turn is left, or the call was ended ---------'
 *
 * What it writes is a JSON object a line on stdout, for tests/chaos/callers.mjs. Thread: its loop.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "audio/pacer.h"
#include "base/ids.h"
#include "base/loop.h"
#include "load_parts.h"
#include "speech.h"

struct room_link;

/* How a caller behaves; the names are the words of the command `call`. */
struct manner {
    const char *name;
    unsigned turns_least, turns_most; /* questions of a call */
    unsigned barge_percent;           /* of the replies are talked into */
    unsigned chat_percent;            /* of the questions are typed */
    unsigned mute_percent;            /* of the pauses are muted */
    unsigned offer_percent;           /* of the pauses bring a new offer, as of a changed track */
    unsigned rejoin_percent;          /* of the pauses bring a second session, which takes over */
    unsigned typed;                   /* texts, at once after the join */
    unsigned typed_chars;
    char typed_char;
    bool is_v0; /* two peer connections */
};

enum caller_state {
    CALLER_IDLE,
    CALLER_STARTING,
    CALLER_JOINING,
    CALLER_GREETED,
    CALLER_PAUSING,
    CALLER_REJOINING,
    CALLER_SPEAKING,
    CALLER_WAITING,
    CALLER_HEARING,
    CALLER_LEAVING
};

/* What all callers of the process share. */
struct crowd {
    struct loop *loop;
    struct load_parts parts;
    const char *url;
    struct utterance question, silence;
    bool is_over;  /* nobody starts another call */
    unsigned busy; /* callers that are not idle */
    loop_fn *on_all_idle;
    void *arg;
};

/* How the agent's packets came. */
struct caller_ear {
    bool has_heard;
    bool is_other_stream; /* the next packet begins one: another session */
    uint16_t last_sequence;
    uint32_t last_timestamp;
    int64_t last_us;
    uint64_t received, expected;
    int64_t worst_us; /* later than its 20 ms after the packet before it */
    unsigned gaps;    /* so late that it is heard */
};

/* One session in the room; while one takes over from another there are two. */
struct session {
    struct caller *caller;
    struct room_link *link; /* NULL: none */
};

struct caller {
    struct crowd *crowd;
    unsigned number;
    const struct manner *manner;
    char key[64], agent[ID_SIZE];
    uint64_t random;
    struct timer next;
    enum caller_state state;
    int64_t state_us, barge_us;
    struct session sessions[2], *session; /* the one in use */
    char url[300], token[1200];           /* to join by, again too */
    struct pacer_seat seat;
    struct caller_ear ear;
    char call[ID_SIZE];
    bool has_joined, is_ended;
    bool is_cut;       /* it went while a session took over, which the service may miss */
    bool leaves_later; /* once the session that takes over is up */
    int64_t posted_us, joined_us, left_us;
    int64_t began_us; /* to join: the service may know the caller is up before the caller does */
    int64_t framed_us, held_us; /* the frame before, and the longest that one was waited for */
    unsigned turns;
    size_t frame;
    uint32_t timestamp;
};

const struct manner *manner_find(const char *name); /* NULL: no such manner */

struct caller *caller_new(struct crowd *crowd, unsigned number, const struct manner *manner,
                          const char *key, const char *agent, uint64_t seed);
void caller_leave(struct caller *caller); /* hangs up; starts again unless the crowd is over */
void caller_free(struct caller *caller);  /* when it is idle */
