/* The words of an agent that a recogniser would otherwise mishear: names and numbers out of its own
 * text (instructions, greeting, documents), the most frequent first. Vendors take them as key
 * terms, hints or a prompt. Found by their capitals, so of scripts without capitals there are none.
 * Thread: any. */
#pragma once

#include <stddef.h>

#include "base/attr.h"

struct arena;

enum { TERMS_MAX = 50, TERM_MAX_BYTES = 60 };

/* At most `most` terms; texts live in the arena. text may be NULL. Only its first 64 KiB are read.
 */
size_t terms_find(const char *text, struct arena *arena, const char *out[], size_t most);
/* All of them in one line, commas between; "" when there are none. */
const char *terms_line(const char *text, struct arena *arena, size_t most);
