/* One caller of the load generator: starts a call by the API, joins its room as a LiveKit client,
 * and asks in a scripted rhythm.
 *
 *     STARTING --201--> JOINING --media up--> GREETED --quiet--> PAUSING --> SPEAKING --> WAITING
 *                                                                   ^                        |
 *                                                                   '-- HEARING <--reply-----'
 *
 * The microphone is open all the time: between questions it sends encoded silence. Thread: its
 * loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audio/pacer.h"
#include "speech.h"

struct http_client;
struct room_link;
struct rooms;

enum load_state {
    LOAD_STARTING,
    LOAD_JOINING,
    LOAD_GREETED,
    LOAD_PAUSING,
    LOAD_SPEAKING,
    LOAD_WAITING,
    LOAD_HEARING,
    LOAD_OVER
};

/* Milliseconds, in the order in which they came. */
struct load_samples {
    double *values;
    size_t count, cap;
};
void load_samples_add(struct load_samples *samples, double value);
double load_samples_at(struct load_samples *samples, double quantile); /* sorts; -1: none */
void load_samples_clear(struct load_samples *samples);

/* What all callers share. */
struct load {
    struct loop *loop;
    struct http_client *http;
    struct rooms *rooms;
    struct pacer *pacer;
    const char *url, *key, *agent;
    struct utterance question, silence;
    bool is_measuring;
    struct load_samples ready, greeting, reply; /* from the POST, the POST, the end of a question */
    unsigned joined, refused, failed, unanswered, questions;
    unsigned open; /* links that are not closed */
    char last_fault[200];
};

struct load_call {
    struct load *load;
    struct room_link *link;
    struct pacer_seat seat;
    enum load_state state;
    bool has_heard;
    int64_t posted_us, state_us, last_heard_us;
    size_t frame;
    uint32_t timestamp;
};

void load_call_start(struct load_call *call, struct load *load);
void load_call_close(struct load_call *call);
