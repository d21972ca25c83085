/* The worker processes of one loop: started when a session first needs one, at most so many of each
 * role, each with many sessions. When one dies its sessions are told, and the next session starts a
 * new one; one that dies again and again is left alone, each time for longer. One that owes an
 * answer and sends nothing for VOICE_DEADLINE_US hangs, and is killed. No workspace holds more than
 * half of the places of a role.
 * A worker tells which session's line it makes. One that dies of it (a fault of its own, or it
 * hangs; not one that was killed) counts against that workspace alone, which for VOICE_APART_US
 * speaks in one worker apart from the others', with pauses of its own.
 * Thread: its loop. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/list.h"
#include "engine/engine.h"
#include "vendor/voice_wire.h"

struct loop;
struct voice_pool;
struct voice_worker;

/* Hearing and speaking are apart, so that a long sentence does not keep the recogniser waiting. */
enum voice_role { VOICE_HEARING, VOICE_SPEAKING, VOICE_ROLE_COUNT };

enum {
    VOICE_WORKSPACE_SIZE = 40,
    VOICE_DEADLINE_US = 8 * 1000 * 1000, /* while it speaks, sound comes all the time */
    VOICE_REST_US = 5 * 1000 * 1000,     /* first pause after deaths, doubled up to */
    VOICE_REST_MAX_US = 80 * 1000 * 1000,
    VOICE_APART_US = 600 * 1000 * 1000,
};

struct voice_pool *voice_pool_new(struct loop *loop, const char *path, unsigned most_workers);
void voice_pool_free(struct voice_pool *pool); /* kills the workers; no session is told */

struct voice_session { /* a member of the adapter's session */
    struct list_node node;
    struct voice_worker *worker; /* NULL: not open, or lost */
    uint32_t id;
    uint32_t saying; /* generation of the line that is made for it, or was made last */
    unsigned owed;   /* utterances without their end */
    char workspace[VOICE_WORKSPACE_SIZE]; /* whose call it is; "": nobody's */
    void (*on_frame)(void *arg, const struct voice_frame *frame);
    /* The worker is gone, and so is the session. ENGINE_BAD_REQUEST: the line that it was making
     * was this session's; ENGINE_INTERRUPTED: another's, or its workspace has to go apart;
     * ENGINE_TRANSIENT: it made none, or did not die of it. */
    void (*on_lost)(void *arg, enum engine_error error, const char *why);
    void *arg;
};

/* The callbacks, arg and workspace are set before. ERR_BUSY: all workers are full, or die at once;
 * ERR_LIMIT: the workspace has its share, or its own worker dies again and again; ERR_IO: none can
 * be started. */
enum err voice_session_open(struct voice_pool *pool, enum voice_role role,
                            struct voice_session *session, struct fault *fault) MUST_USE;
enum engine_error voice_refusal(enum err err); /* of voice_session_open() */
/* session and its number are filled in here; to a lost session it is dropped. Never calls back. */
void voice_session_send(struct voice_session *session, enum voice_kind kind, uint32_t gen,
                        const void *body, size_t len);
void voice_session_close(struct voice_session *session); /* no callback comes any more */

/* For tests and `show`. */
int64_t voice_pool_rest_us(const struct voice_pool *pool); /* until a worker is started again */
unsigned voice_pool_workers(const struct voice_pool *pool, enum voice_role role);
void voice_pool_kill_workers(struct voice_pool *pool);
