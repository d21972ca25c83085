/* Calls whose process has died are ended here: of this node's earlier starts, and of other nodes
 * that share the database. In batches, so that neither the start nor anybody's writes wait long;
 * one that fails is tried alone, and if that goes on failing, only its row is marked as ended.
 *
 *   the node has started --> batch, batch, ... --> on_first (or after 3 s: the rest in the
 *                                                  background)
 *   each second --> look at the other nodes' rows --> unchanged for 10 s: fenced --> batch, ...
 *
 * Thread: control loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/loop.h"

struct recovery;
struct store;

struct recovery *recovery_new(struct store *store, struct loop *control, bool is_shared);
void recovery_free(struct recovery *recovery); /* no job is under way (store_drain()) */

/* After the node's start. on_first comes once, whatever becomes of it. */
void recovery_start(struct recovery *recovery, loop_fn *on_first, void *arg);
/* While it holds its own lease: others' rows, once a second; only where the database is shared. */
void recovery_look(struct recovery *recovery);
/* The URL of another node that lives, as far as is known; NULL past the last one. */
const char *recovery_other_url(const struct recovery *recovery, size_t i);
/* Nothing more is begun; on_first does not come any more. */
void recovery_stop(struct recovery *recovery);
