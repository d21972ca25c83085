/* An answer that may be longer than memory should hold: its handler writes the first piece and says
 * how it goes on; each further piece is a job of its own, begun when the client has taken the piece
 * before. No job, connection or snapshot is held while the client reads.
 *
 *   handler: request_answer_pieces(), more() --whole--> sent as any answer
 *              '-- not yet whole --> head, piece --wanted--> job: more() --> piece ... end
 *                                                   '-- fault: cut, logged
 *
 * more() writes to request->answer.body until request_piece_is_full(), or calls pieces_end().
 * Between pieces it knows only what stands in its place: plain data and what lives in the request's
 * arena or in `kept`. Here is the state of it; request.c begins it, send.c sends it.
 * Thread: store threads, and the control loop between them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct request;

enum { PIECE_BYTES = 256 * 1024 };

typedef void more_fn(struct request *request);

struct pieces {
    more_fn *more;       /* NULL: the answer is no such one */
    void *place, *saved; /* saved: as the last piece left it */
    size_t place_len;
    struct arena *kept, *kept_saved; /* what the place points at and the next piece replaces */
    bool is_whole, is_broken;
};

/* `place` (of len bytes) is where the answer stands; arena: of the request. */
void pieces_init(struct pieces *pieces, struct arena *arena, more_fn *more, void *place,
                 size_t len);
void pieces_clear(struct pieces *pieces);
/* A fresh arena for what the place points at from now on; the one before lives until the piece is
 * sent. */
struct arena *pieces_keep(struct pieces *pieces);
void pieces_end(struct pieces *pieces); /* nothing is missing any more */
/* It cannot be finished. */
void pieces_break(struct pieces *pieces);
bool pieces_has_more(const struct pieces *pieces); /* than what the answer's body holds */
/* What this piece has left is where the next one begins. */
void pieces_settle(struct pieces *pieces);
/* Back to where the piece began: a job may run again from its start (PostgreSQL). */
void pieces_restore(struct pieces *pieces);
