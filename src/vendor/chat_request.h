/* The body of a chat request. Thread: any. */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "engine/llm.h"

struct arena;

struct chat_settings {
    const char *model;
    const char *reasoning; /* reasoning_effort, or "" */
    unsigned quirks;       /* chat_lesson.h */
};

/* ERR_LIMIT: the buffer is full. */
enum err chat_request_write(const struct llm_request *request, const struct chat_settings *settings,
                            struct buf *out) MUST_USE;

/* Does a request name its tools, with what is known of the server? */
bool chat_request_names_tools(const struct llm_request *request, unsigned quirks);

/* A copy that outlives start(), for another attempt; of tools the list alone, for their texts live
 * as long as the session. Passages are left out: they are in the
 * messages as well. */
const struct llm_request *chat_request_copy(const struct llm_request *request, struct arena *arena);
