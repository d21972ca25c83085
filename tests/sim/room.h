/* The room of a simulated call: a scripted caller who speaks and hears real Opus over a network
 * with delay, jitter and loss. Implements room/host.h for the service, the far end for the test.
 * What the caller hears is decoded as it comes, so that silence is silence to the ear. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum { SIM_HEARD = 20000 };

struct sim_frame {
    int64_t at_us;
    uint32_t timestamp;
    bool is_loud, is_first;
    uint32_t sum;       /* of its bytes (sim_sum()) */
    int loudest, bytes; /* sample */
};

struct sim_caller;

/* Rooms that refuse: so many of the next are not opened, or not listed. Reset with the world. */
struct sim_rooms {
    int open_refusals, list_refusals;
};
extern struct sim_rooms sim_rooms;

/* The network, both ways. */
struct sim_network {
    int64_t delay_us, jitter_us;
    int loss_percent;
    bool is_cut;
};

/* The caller of the call with this room name; made when the service has opened the room. */
struct sim_caller *sim_caller(const char *room);
bool sim_room_is_open(const char *room); /* hosted, and in the directory */
struct sim_network *sim_network(struct sim_caller *caller);
void sim_join(struct sim_caller *caller);
void sim_leave(struct sim_caller *caller);  /* hangs up */
void sim_refuse(struct sim_caller *caller); /* the room wants no more of it: a bad offer */
void sim_cut(struct sim_caller *caller);    /* no packet goes through; noticed after 10 s */
void sim_mute(struct sim_caller *caller);   /* says so, and sends nothing more */
void sim_return(struct sim_caller *caller);
void sim_room_close(struct sim_caller *caller); /* from outside the call */
void sim_chat(struct sim_caller *caller, const char *text);
/* From now on, for so long: a voice, or steady noise; then silence. */
void sim_speak(struct sim_caller *caller, int64_t ms);
void sim_noise(struct sim_caller *caller, int64_t ms);

/* What was heard: loud frames by their arrival. Times in ms of the simulated clock. */
int sim_loud(const struct sim_caller *caller, int64_t from_ms, int64_t to_ms);
int64_t sim_first_loud_ms(const struct sim_caller *caller, int64_t from_ms); /* -1: none */
int64_t sim_last_loud_ms(const struct sim_caller *caller, int64_t to_ms);
const struct sim_frame *sim_frames(const struct sim_caller *caller, size_t *out_count);
/* "<ms> <what> <text>" of states and live lines. */
const char *sim_lines(const struct sim_caller *caller);
const char *sim_agent_words(const struct sim_caller *caller); /* the agent's live words, joined */
