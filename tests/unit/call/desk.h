/* A workspace with an agent and calls of it in a real store, and the loop of a call. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/ids.h"
#include "base/loop.h"
#include "store/store.h"

enum { DESK_BALANCE_USD4 = 100000, DESK_RATE_USD4 = 60000 /* a minute: the balance is 100 s */ };

struct desk {
    char dir[64];
    struct store *store;
    struct loop *loop;
    struct timer limit;
    char workspace_id[ID_SIZE], agent_id[ID_SIZE], call_id[ID_SIZE];
};

void desk_open(struct desk *desk); /* with one call, created */
void desk_close(struct desk *desk);
/* Runs the loop until somebody stops it; fails the test after 20 s. */
void desk_run(struct desk *desk);
void desk_write(struct desk *desk, store_fn *fn, void *arg);
void desk_read(struct desk *desk, store_fn *fn, void *arg);
/* One more call of the agent; its id is desk->call_id from now on. */
void desk_add_call(struct desk *desk);
/* The process begins anew: calls of before are no longer this node's. */
void desk_start_again(struct desk *desk);
