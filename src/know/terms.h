/* From words to what the index holds: the stem, the word as it stands where that differs, and the
 * word's n-grams, which find inflected words of languages without a stemmer and misheard ones.
 * and a term for each concept (know/concepts.h) that it speaks of. N-grams begin with U+E000 and
 * concepts with U+E002 (private use; the index takes them for letters), so that they never meet a
 * word. Thread: any. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct passage;

enum {
    TERMS_VERSION = 1, /* of what know_terms() gives: another one makes the indexes anew */
    GRAM_CHARS = 3,
    GRAM_BYTES = 4 * GRAM_CHARS + 4, /* U+E000, three characters, NUL */
    GRAMS_MAX = 48,                  /* of one word */
    CONCEPT_BYTES = 8,
};

/* Of a passage, for the index (store/word_index.h). */
void know_terms(const struct passage *passage, struct buf *out);

/* The n-grams of one folded word with its ends marked (^ and $ become U+E001): "^bo boo ook ok$".
 * None for a word of fewer than four characters. Returns how many. */
size_t terms_grams(const char *folded, char out[GRAMS_MAX][GRAM_BYTES]);
void terms_concept(unsigned concept, char out[CONCEPT_BYTES]);
bool terms_is_word(const char *term); /* neither n-gram nor concept */
/* How alike two words are, by their n-grams: 0 to 1 (Dice). */
double terms_likeness(const char *a, const char *b);
