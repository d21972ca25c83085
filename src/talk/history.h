/* What was said in a call, as the model reads it: the caller's turns, the agent's as far as they
 * were heard, and the tools that were run. Bounded, and cut to what the model can hold: results of
 * tools are shortened before people's words go, the oldest words go first, and the caller's last
 * ones stay beside what tools say to them. It is cut by a quarter at a time, so that between two
 * cuts each request begins as the one before did, which is what vendors' caches live on. The full
 * transcript is the store's. Thread: its owner's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "engine/llm.h"

enum {
    HISTORY_MAX_ENTRIES = 200,
    HISTORY_MAX_BYTES = 64 * 1024,
    HISTORY_RESULT_CHARS = 200, /* of a result that was shortened */
};

struct history {
    struct list_node entries;
    size_t count, bytes, tokens;
};

/* What a model asked to be run. */
struct history_call {
    const struct llm_tool_call *call;
    const char *result;
    uint32_t run; /* it still runs: its result is told by history_settle(); 0: it does not */
};

void history_init(struct history *history);
void history_clear(struct history *history);
void history_add(struct history *history, enum llm_role role, const char *text);
/* The model's calls of one answer, each followed by its result. */
void history_add_calls(struct history *history, const struct history_call *calls, size_t count);
bool history_has_call(const struct history *history, const char *id);
/* A run has ended: its result stands wherever it was waited for. */
void history_settle(struct history *history, uint32_t run, const char *result);
/* Cuts what is longer than so many tokens. The caller's last words stay while the results that
 * came after them can be shortened instead; the newest entry stays in any case. */
void history_fit(struct history *history, size_t most_tokens);
/* The messages in order, borrowed texts; room for them is in `out` from *count on. */
void history_write(const struct history *history, struct llm_message *out, size_t *count);
size_t history_message_count(const struct history *history);
