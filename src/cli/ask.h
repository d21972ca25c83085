/* What the running service says of itself, over its Unix socket. Thread: the main thread; waits at
 * most 5 s. */
#pragma once

#include "base/attr.h"
#include "base/err.h"
#include "base/js.h"

struct buf;
struct config;

/* The tree of `earshot show`; text (NULL is fine): the same as it was sent. ERR_NOT_FOUND: no
 * service runs on this data directory. ERR_IO: its answer broke off or did not come. */
enum err ask_service(const struct config *config, struct js **out_tree, struct buf *text,
                     struct fault *fault) MUST_USE;
