/* An answer that may be longer than memory should hold: its handler writes the first piece and says
 * how it goes on; each further piece is a job of its own, begun when the client has taken the piece
 * before. No job, connection or snapshot is held while the client reads.
 *
 *   handler: pieces_begin(), more() --whole--> sent as any answer
 *              '-- not yet whole --> head, piece --wanted--> job: more() --> piece ... end
 *                                                   '-- fault: cut, logged
 *
 * more() writes to request->answer.body until pieces_are_enough(), or calls pieces_end(). Between
 * pieces it knows only what stands in its place: plain data and what lives in the request's arena
 * or in `kept`. Thread: store threads, and the control loop between them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct http_answer;
struct request;

enum { PIECE_BYTES = 256 * 1024 };

struct pieces {
    void (*more)(struct request *request); /* NULL: the answer is no such one */
    void *place, *saved;                   /* saved: as the last piece left it */
    size_t place_len;
    struct arena *kept, *kept_saved; /* what the place points at and the next piece replaces */
    bool is_whole, is_broken;
};

/* In the handler's job: `place` (of len bytes, in the request's arena) is where the answer stands.
 * Sets the route's status, then calls more() for the first piece. */
void pieces_begin(struct request *request, void (*more)(struct request *request), void *place,
                  size_t len);
/* Is this piece long enough? */
bool pieces_are_enough(const struct request *request);
/* A fresh arena for what the place points at from now on; the one before lives until the piece is
 * sent. */
struct arena *pieces_keep(struct request *request);
void pieces_end(struct request *request); /* nothing is missing any more */
/* The answer cannot be finished: before the first piece was sent it becomes an error, later the
 * connection is cut. */
void pieces_fail(struct request *request);

/* ---- request.c ---- */
/* Sends head and first piece, and takes the request over to its end. */
void pieces_send(struct request *request, const struct http_answer *answer);
void pieces_clear(struct request *request);
