/* Reading one file in a process of its own, seen from the service: starts it, takes its blocks in,
 * and ends it when it takes too long, says too much or breaks the protocol.
 *
 *   service --spawn--> `PROGRAM extract KIND`: file as descriptor 0, frames (block.h) out of 1
 *
 * Thread: its loop. */
#pragma once

#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/err.h"
#include "base/loop.h"
#include "extract/block.h"
#include "extract/kind.h"

struct extraction;

/* Pages done of all, 0: not known; at most ten times a second. */
typedef void extraction_progress_fn(void *arg, unsigned done, unsigned pages);
/* Once. blocks: in the arena; none unless EXTRACT_DONE. Then extraction_close(). */
typedef void extraction_done_fn(void *arg, enum extract_outcome outcome,
                                const struct block_list *blocks, size_t chars);

struct extraction_spec {
    const char *program; /* path of earshot, which runs itself again */
    enum extract_kind kind;
    int fd;              /* the file, to be read from its beginning; not closed here */
    int64_t deadline_us; /* how long it may take by the clock; 0: two minutes */
    struct arena *arena; /* the blocks go there; its owner's */
    extraction_progress_fn *on_progress;
    extraction_done_fn *on_done;
    void *arg;
};

/* ERR_IO: the process could not be started; the fault says why. */
enum err extraction_open(struct loop *loop, const struct extraction_spec *spec,
                         struct extraction **out, struct fault *fault) MUST_USE;
void extraction_close(struct extraction *extraction); /* kills it if it still runs */
