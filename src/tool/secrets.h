/* What a tool's request carries that nobody is to read back: its credential, and values of headers
 * and of the URL's query that are one by their name, or that their owner wrote there and that look
 * like one. What is filled in is the caller's. An endpoint may send them back (many test servers
 * do), as they are or escaped as JSON may: what the model and operators are shown has stars in
 * their place. Thread: any. */
#pragma once

#include <stddef.h>

#include "base/buf.h"

struct arena;
struct tool;
struct tool_request;

struct tool_secrets {
    const char **items;
    size_t count;
};

/* Copies into the arena. */
void tool_secrets_gather(struct arena *arena, const struct tool *tool,
                         const struct tool_request *request, struct tool_secrets *out);
/* Appends the text with stars for each of them. */
void tool_secrets_hide(const struct tool_secrets *secrets, const char *text, size_t len,
                       struct buf *out);
