/* Stems by Snowball, where it knows the language. Only words.c uses it: a word is folded before it
 * is stemmed. Thread: its owner's. */
#pragma once

struct stem;

struct stem *stem_new(const char *iso); /* NULL: a language without stems, or NULL */
void stem_free(struct stem *stem);
/* Borrowed until the next call; the word itself when stem is NULL. */
const char *stem_word(struct stem *stem, const char *folded);
