/* Words that callers and documents use for the same thing ("hours", "open"; "price", "cost"), and
 * words that are hardly ever what is asked about ("bring", "get"). English and Hindi.
 * Thread: any. */
#pragma once

#include <stdbool.h>

/* The groups that a folded word belongs to, one bit each; 0: none. */
unsigned long concepts_of(const char *folded);
/* Says little about what is asked. */
bool concept_is_weak(const char *folded);
