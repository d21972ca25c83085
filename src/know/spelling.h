/* Everyday words of a question that were typed wrong ("whta", "hunddred", "kitn"): as themselves
 * they would be asked about, and nothing answers them. Thread: any. */
#pragma once

#include <stdbool.h>

#include "base/arena.h"

/* Do the documents have this word, or another one that it is as much like as the right one?
 * likeness: 0-1. */
typedef bool spelling_known_fn(void *arg, const char *folded, const char *right, double likeness);

/* The question with its everyday words as they are written, in the arena. iso: its language as
 * language_guess() says. */
const char *spelling_mend(const char *question, const char *iso, spelling_known_fn *is_known,
                          void *arg, struct arena *arena);
