/* How English words are said: CMU's dictionary as PocketSphinx ships it, and flite's
 * letter-to-sound rules for what it lacks. */
#pragma once

#include <stdbool.h>

#include "base/buf.h"

/* Appends the lines "word PH ON ES" of all the pronunciations of a word (lower case, a-z and ').
 * False: none, and nothing was appended. */
bool dictionary_lines(const char *word, struct buf *out);
/* Is it in CMU's dictionary? */
bool dictionary_has(const char *word);
