/* Ended calls, summed up by workspace, day, agent and end reason as they end, and their replies by
 * workspace, day, agent and size, so that a year is read from a few hundred rows however many calls
 * it had. Thread: inside a job. */
#pragma once

#include "base/attr.h"
#include "base/err.h"
#include "model/call.h"
#include "model/usage.h"

struct tx;

struct usage_call {
    const char *workspace_id, *agent_id;
    enum end_reason reason;
    int64_t ended_wall_ms, seconds, cost_usd4;
    const struct call_quality *quality; /* NULL: none */
};
/* A fault of the database is the job's. */
void store_usage_add(struct tx *tx, const struct usage_call *call);
/* The same for a call that has been ended by its row alone, as what that row says. */
void store_usage_add_row(struct tx *tx, const char *call_id, const struct call_quality *quality);

/* The last `days` days up to now, 1 to USAGE_DAYS_MAX. agent_id NULL: of all agents. */
enum err store_usage_read(struct tx *tx, const char *workspace_id, const char *agent_id,
                          int64_t days, struct usage *out) MUST_USE;
