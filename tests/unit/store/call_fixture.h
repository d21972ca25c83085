/* A call as the API starts it, for tests. */
#pragma once

#include <stdint.h>

struct fix;
struct tx;

/* A created call of fix->agent_id at this rate (0.0001 USD a minute), with one webhook of its own.
 * Returns its id. */
const char *fix_call(struct fix *fix, struct tx *tx, int64_t rate_usd4);
const char *fix_embed_call(struct fix *fix, struct tx *tx, int64_t rate_usd4);
