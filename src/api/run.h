/* A request from its body to its answer: jobs in the store, and what comes between them.
 *
 *   job: body -> Idempotency-Key -> handler                                       store thread
 *     STEP_ANSWERED --commit--> answer                                            control loop
 *     STEP_AFTER    --commit--> after() (network, calls) -> run_job() or run_finish()
 *     STEP_RESOLVE  --undone--> names are resolved -> the same job again
 *     STEP_UNDO     --undone--> answer (a refusal)
 *     STEP_NONE     --undone--> 500, logged: the handler is at fault
 *
 * With an Idempotency-Key a refusal is kept for it, so that job is committed; what the handler had
 * written before is undone in a savepoint of its own.
 *
 * Thread: the control loop; handlers of routes with a store run inside the job. */
#pragma once

#include "api/route.h"
#include "store/store.h"

struct request;

/* The body is there: runs the route's handler. The deadline counts from here. */
void run_start(struct request *request);
/* Runs `handler` in a job; then goes on by the step that it leaves. */
void run_job(struct request *request, enum store_mode mode, handler_fn *handler);
/* The answer is ready: keeps it for its Idempotency-Key, and sends it. */
void run_finish(struct request *request);
/* In a job that has written: its answer is made by `handler` in a reading one, so that writers do
 * not wait for it. once.shown is set before where it may be too long to be kept. */
void run_show(struct request *request, handler_fn *handler);

enum { RUN_ANSWER_US = 15 * 1000 * 1000 /* contract, Deadline: where the route says none */ };
