/* This process as an owner of calls: its start (a new epoch, the calls of a dead one ended by
 * recovery.h), the lease that it renews where others share the database, the commands of other
 * nodes for its calls and its own for theirs. Thread: control loop. */
#pragma once

#include "call/calls.h"
#include "store/node.h"

struct node;

struct node *node_new(struct calls *calls, const struct calls_config *config);
void node_free(struct node *node);

void node_start(struct node *node, calls_done_fn *done, void *arg);
void node_stop(struct node *node, calls_done_fn *done, void *arg);
/* Asks the owner of a call that is not here. text: of say, or NULL. ERR_NOT_FOUND: nobody's, or
 * ended; ERR_TIMEOUT: the owner did not answer. */
void node_command(struct node *node, enum command_kind kind, const char *call_id, const char *text,
                  calls_done_fn *done, void *arg);

/* calls.c: */
bool calls_has(const struct calls *calls, const char *call_id);
void calls_end_all(struct calls *calls, enum end_reason reason);
