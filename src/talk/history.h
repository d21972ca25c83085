/* What was said in a call, as the model reads it: the caller's turns, the agent's as far as they
 * were heard, and the tools that were run. Bounded: the oldest exchanges go first. The full
 * transcript is the store's. Thread: its owner's. */
#pragma once

#include <stddef.h>

#include "base/list.h"
#include "engine/llm.h"

enum {
    HISTORY_MAX_ENTRIES = 200,
    HISTORY_MAX_BYTES = 64 * 1024,
};

struct history {
    struct list_node entries;
    size_t count, bytes;
};

void history_init(struct history *history);
void history_clear(struct history *history);
void history_add(struct history *history, enum llm_role role, const char *text);
/* The model's calls of one answer, each followed by its result. */
void history_add_calls(struct history *history, const struct llm_tool_call *calls,
                       const char *const *results, size_t count);
/* The messages in order, borrowed texts; room for them is in `out` from *count on. */
void history_write(const struct history *history, struct llm_message *out, size_t *count);
size_t history_message_count(const struct history *history);
