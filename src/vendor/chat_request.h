/* The body of a chat request, and what a server has made known that it does not take. Thread: any.
 */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "engine/llm.h"

struct arena;

/* What to leave out or write in another way; learned from a server's 400 answers, kept for all
 * later requests. Bits. */
enum chat_quirk {
    CHAT_NO_TEMPERATURE = 1,
    CHAT_NO_STREAM_OPTIONS = 2,
    CHAT_COMPLETION_CAP = 4, /* max_completion_tokens, for max_tokens */
    CHAT_NO_CAP = 8,
    CHAT_NO_REASONING = 16,
    CHAT_ONE_SYSTEM = 32, /* system messages all at the front, in one */
    CHAT_NO_TOOLS = 64,
};

struct chat_settings {
    const char *model;
    const char *reasoning; /* reasoning_effort, or "" */
    unsigned quirks;
};

/* ERR_LIMIT: the buffer is full. */
enum err chat_request_write(const struct llm_request *request, const struct chat_settings *settings,
                            struct buf *out) MUST_USE;

/* A copy that outlives start(), for another attempt. Passages are left out: they are in the
 * messages as well. */
const struct llm_request *chat_request_copy(const struct llm_request *request, struct arena *arena);

/* The quirk that an error text of a 400 points to, other than those known; 0: none. */
unsigned chat_quirk_of(const char *message, unsigned known);
