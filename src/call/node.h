/* This process as an owner of calls: its start (a new epoch, the calls of a dead one ended by
 * recovery.h), the lease that it renews where others share the database, the commands of other
 * nodes for its calls and its own for theirs. Thread: control loop. */
#pragma once

#include "call/calls.h"
#include "store/node.h"

struct node;

struct node *node_new(struct calls *calls, const struct calls_config *config);
void node_free(struct node *node); /* no job of it is under way (store_drain()) */

void node_start(struct node *node, calls_done_fn *done, void *arg);
void node_stop(struct node *node, calls_done_fn *done, void *arg);

/* The URL of another node that lives; NULL past the last one. */
const char *node_other_url(const struct node *node, size_t i);

struct node_command {
    enum command_kind kind;
    const char *workspace_id, *call_id;
    const char *text; /* of say; else "" */
};
/* Asks the owner of a call that is not here; all is copied. done comes with what the owner said, or
 * ERR_NOT_FOUND: nobody's, or ended; ERR_CLOSED: its owner is dead; ERR_LIMIT: too many lines wait;
 * ERR_TIMEOUT: the owner did not answer within 10 s. */
void node_command(struct node *node, const struct node_command *command, calls_done_fn *done,
                  void *arg);
