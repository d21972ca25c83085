/* The engines' failures: what the tenant is told of them, when the next one takes over, and when
 * one is tried again. What an engine says of its own failure is the operator's: it may name
 * addresses, accounts and keys. Sans-I/O. Thread: its owner's. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"
#include "talk/talk.h"

struct actions;

struct engine_health {
    int failures;
    int interruptions; /* in a row, by another's fault */
    int64_t failed_us;
    bool is_told; /* call.error was sent for this outage */
    bool has_more;
    bool is_closed; /* until health_opened() */
    bool wants_fallback;
    int64_t retry_us; /* REOPEN then; INT64_MAX: nothing */
};

struct health {
    struct actions *actions; /* set by the owner */
    struct engine_health engines[TALK_TTS + 1];
};

void health_init(struct health *health, struct actions *actions);
void health_settle(struct health *health, int64_t now_us);
int64_t health_deadline_us(const struct health *health);
/* It is closed, and opened again at once: what it owes, another may still bring. */
bool health_is_passing(const struct health *health, enum talk_engine engine, int64_t now_us);
bool health_is_closed(const struct health *health, enum talk_engine engine);
bool health_has_more(const struct health *health, enum talk_engine engine); /* to fall back on */

struct talk_failure {
    enum talk_engine engine;
    enum talk_stage stage;
    enum engine_error error;
    const char *detail; /* for the operator; it may name addresses, and never reaches a tenant */
    bool is_fatal;      /* the session is of no more use */
};
/* The one way to call.error, fallback and retry. False: it does not count, as another's fault does
 * not a few times in a row. */
bool health_failed(struct health *health, const struct talk_failure *failure, int64_t now_us);
void health_worked(struct health *health, enum talk_engine engine);
void health_opened(struct health *health, enum talk_engine engine, bool has_more);
