/* What language a text is in, and its words that say nothing about what is asked, as far as a
 * search needs to know. Thread: any. */
#pragma once

#include <stdbool.h>

/* Hindi, Tamil or Bengali written in Latin letters. */
#define LANGUAGE_LATIN_OF_INDIA "hi-latn"

/* The ISO code of the language that a text is most likely in; "" without letters, or
 * LANGUAGE_LATIN_OF_INDIA. */
const char *language_guess(const char *text);
/* An article, a pronoun, a question word: in no question what is asked about. folded: text/words.h.
 */
bool language_is_small_word(const char *folded, const char *iso);
