/* How many calls a workspace has, by agent, source and end reason, counted as they start and end:
 * a list's total is read from a few rows however many calls there are. Thread: inside a job. */
#pragma once

#include <stdint.h>

#include "store/call.h"

struct tx;

/* With the insertion of the call, in its transaction. */
void call_count_started(struct tx *tx, const struct call *call);
/* With the update that ends it, after it: the row itself says as what it is counted. */
void call_count_ended(struct tx *tx, const char *id);

/* All that match, `before` and `limit` aside. A fault of the database is the job's. */
int64_t call_count_matching(struct tx *tx, const struct call_filter *filter);
