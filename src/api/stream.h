/* Streams: answers in pieces that go on as long as there is something to tell of a running call.
 *
 *   handler (job) -> stream_begin(): a place, a watch -> job: the first piece, as of any answer in
 *   pieces -> stream_wait() .. news, or a second where the call is another node's -> job: a piece
 *                  '-- heartbeat, keys have changed: is the key still good? -> piece, or the end
 *
 * A piece is made when the one before has left: a slow reader holds one in memory, and the server
 * cuts who stands still. Thread: the control loop. */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "base/list.h"

struct request;
struct stream;

/* Of the call in the path. false: refused, too many are open. */
bool stream_begin(struct request *request) MUST_USE;
void stream_free(struct stream *stream);
/* A piece is wanted: send_piece() is called when there is something to tell. */
void stream_wait(struct stream *stream);
/* A piece was made: adds what came from the call's loop meanwhile. false: there is nothing to send,
 * and it waits on. */
bool stream_fill(struct stream *stream) MUST_USE;
/* The service ends. */
void streams_end(struct list_node *streams);
/* Keys or sessions have changed: ends those whose own is good no more. arg: the streams. */
void streams_look(void *arg);
