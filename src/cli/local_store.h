/* The store as the settings describe it. For the commands that work on it directly, beside a
 * running service or without one, and for the service itself. Thread: the main thread. */
#pragma once

#include "base/attr.h"
#include "base/err.h"
#include "store/store.h"

struct config;

enum err local_store_open(const struct config *config, struct store **out,
                          struct fault *fault) MUST_USE;
/* Opens, runs one job, closes. */
enum err local_store_run(const struct config *config, enum store_mode mode, store_fn *fn, void *arg,
                         struct fault *fault) MUST_USE;

/* "25", "0.5", at most 4 decimals, as 0.0001 USD. */
enum err parse_usd4(const char *text, int64_t *out, struct fault *fault) MUST_USE;
