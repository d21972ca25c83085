/* The answer on its way out: headers that every answer has, metrics, the deadline. Thread: the
 * control loop. */
#pragma once

struct request;

/* Sends the answer as it is; the request is gone. Nothing is sent to one that was told 503 before.
 */
void send_answer(struct request *request);
/* A timer's function: the request has no answer at its deadline. It is told 503; what it has under
 * way goes on to its end, of which only its Idempotency-Key hears, and is freed by send_answer().
 */
void send_late(void *arg);
/* Of an answer in pieces: the next one is made; it ends where it stands. */
void send_piece(struct request *request);
void send_end(struct request *request);
