/* What a workspace may hold (settings workspace.max_...). Counted from the rows' own columns, by
 * index, after the job has written: who is over it answers so and writes nothing after all. The
 * workspace's row is held meanwhile, so that two jobs never both find room for the last one.
 * Thread: inside a job. */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

struct config;
struct tx;

enum ceiling { CEILING_AGENTS, CEILING_TOOLS, CEILING_KEYS, CEILING_BYTES, CEILING_COUNT };

/* By enum ceiling. */
struct ceilings {
    int64_t most[CEILING_COUNT];
};
void ceilings_read(struct ceilings *ceilings, const struct config *config);

/* Last in a job that has added something. grown: bits 1 << enum ceiling of what it has added to (a
 * workspace that is over another one, since the setting was lowered, may still be edited).
 * ERR_LIMIT: the first ceiling that is passed in *out. ERR_NOT_FOUND: there is no such workspace.
 */
enum err store_ceilings_check(struct tx *tx, const char *workspace_id,
                              const struct ceilings *ceilings, unsigned grown,
                              enum ceiling *out) MUST_USE;
