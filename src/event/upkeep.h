/* Housekeeping of the outbox, beside delivery: settled deliveries are kept for a while only, a
 * workspace has no more waiting than it may, and what waits for a removed subscription is dropped.
 * All in small jobs, one at a time. Thread: its loop. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct loop;
struct store;
struct upkeep;

struct upkeep_config {
    struct loop *loop;
    struct store *store;
    int64_t keep_ms;
    int64_t most_waiting; /* of one workspace; 0: no ceiling */
    void (*on_idle)(void *arg);
    void *arg;
};
struct upkeep *upkeep_new(const struct upkeep_config *config);
void upkeep_free(struct upkeep *upkeep); /* a job under way ends by itself */
void upkeep_drop(struct upkeep *upkeep, const char *webhook_id);
/* Begins nothing more; on_idle() tells when nothing is under way any more. */
void upkeep_stop(struct upkeep *upkeep);
bool upkeep_is_idle(const struct upkeep *upkeep);
