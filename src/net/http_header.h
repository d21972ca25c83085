/* One header field of a message, as client, server and WebSocket see it. Thread: any. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct http_header {
    const char *name; /* as sent */
    const char *value;
};

/* The first header of that name in any case, or NULL. */
const char *http_header_find(const struct http_header *headers, size_t count, const char *name);
/* Is `token` in a comma-separated list such as Connection's? list: may be NULL. */
bool http_list_has(const char *list, const char *token);
