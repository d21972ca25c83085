/* Calls that a page's visitors have started and nobody has joined: counted for the agent's
 * publishable key and the visitor's address, of which only a keyed hash is kept.
 * Thread: inside a job that holds the agent's row. */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

struct tx;

/* site: the address as limits count it. */
enum err store_visitor_waiting(struct tx *tx, const char *agent_id, const char *site,
                               int64_t *out_count) MUST_USE;
/* The call, just inserted, is this visitor's. */
enum err store_visitor_mark(struct tx *tx, const char *call_id, const char *site) MUST_USE;
