/* Connections to a vendor over which the voice sessions of a loop speak: several over one where the
 * vendor tells sentences apart by a context (Cartesia), else one each. A session takes its seat
 * when it is opened, so that no sentence waits for a connection; a shared one that nobody sits on
 * is kept for a while.
 *
 *   trunk_enter -> [connection of this kind with a free seat, or a new one] -> trunk_begin
 *               -> trunk_send ... on_message ... -> trunk_end -> trunk_leave
 *
 * What comes is given to the seat whose context it names. A name is random and never used again,
 * and is forgotten as soon as its sentence is over or is not wanted any more: what names another is
 * dropped, so that nobody hears what was said to somebody else. What names none, which only a
 * failure may, is for each seat that still waits for an answer.
 *
 * The end of a connection is told to each seat. A connection that has said nothing at all since a
 * sentence that is given up, or that may still be busy with as many as it takes, is retired: who
 * says nothing moves to another at once, the others after their sentence. Thread: its loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "engine/engine.h"
#include "vendor/socket.h"

struct account;
struct js;
struct loop;
struct trunk;
struct vendor_loop;

enum { TRUNK_CONTEXT_SIZE = 33 };

/* What a connection is for; lives as long as its engine. */
struct trunk_kind {
    const struct account *account;
    size_t seats_max;    /* 1: not shared */
    size_t contexts_max; /* that one takes at once, those that were given up included; 0: many */
    int64_t idle_us;     /* a shared one that nobody uses is kept for so long */
    const char *farewell;
    const char *(*context_of)(const struct js *message); /* NULL: it names none */
    void (*on_message)(void *owner, const struct js *message);
    /* The seat is nobody's by then. has_lived: it was up for a while. */
    void (*on_ended)(void *owner, enum engine_error error, const char *message, bool has_lived);
};

/* A member of a session. */
struct trunk_seat {
    struct list_node node;
    struct trunk *trunk;              /* NULL: its connection has ended */
    char context[TRUNK_CONTEXT_SIZE]; /* of the sentence under way; "": none */
    int64_t begun_us;                 /* it */
    bool has_answer;                  /* of it */
    unsigned round;                   /* of what was told to all */
    void *owner;
};

/* plan: what is fixed for a connection; copied, but for its headers, which live as long as the
 * kind. Connections of one kind are the same when their URLs are. */
void trunk_enter(struct trunk_seat *seat, const struct trunk_kind *kind, struct loop *loop,
                 const struct socket_plan *plan);
/* Its sentence is given up. Nothing if it has no connection. */
void trunk_leave(struct trunk_seat *seat);
/* A sentence begins; it has a connection. The name of its context. */
const char *trunk_begin(struct trunk_seat *seat);
/* It is over; is_given_up: before its end. */
void trunk_end(struct trunk_seat *seat, bool is_given_up);
void trunk_send(struct trunk_seat *seat, const char *text);

/* Of a loop that has ended, or whose connections nobody uses: they are closed with their farewell.
 */
void trunks_close(struct vendor_loop *here);
