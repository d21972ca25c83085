/* Words of a text in any script (ICU), folded and stemmed; and counting for cutting a reply where
 * the caller stopped hearing it. Thread: any. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum { WORD_MAX_BYTES = 128 };

/* One word. folded: case, accents of Latin and half/full width removed; stem: Snowball where it
 * knows the language, else folded. Both at most WORD_MAX_BYTES - 1 bytes. Returns 0 to go on. */
struct word {
    const char *text; /* as it stands there, not terminated */
    size_t len;
    const char *folded, *stem;
    bool is_number;
};
typedef int word_fn(void *arg, const struct word *word);
void words_each(const char *text, const char *iso, word_fn *fn, void *arg);

/* Appends the stems of a text, one space between. */
void words_stems(const char *text, const char *iso, struct buf *out);
/* A word that says nothing about what is asked (the, is, what; है, का, क्या). folded form. */
bool word_is_stop(const char *folded, const char *iso);

/* One of them names who or what does the other: "charger" and "charge", "trainer" and "train". */
bool word_is_doer(const char *a, const char *b);

/* The digits (of any script) that a word begins with, as ASCII, the first cap - 1 of them. Returns
 * how many bytes of the word they take. */
size_t word_digits(const char *folded, char *out, size_t cap);

size_t words_count(const char *text);
/* Bytes of text that were heard when `played` of `total` of its audio was: up to the end of the
 * last word that was begun for at least half of its length. */
size_t words_played(const char *text, size_t played, size_t total);
/* Case folded, code point by code point, for `strstr`: at most cap - 1 bytes, cut between two. */
void text_fold(const char *text, char *out, size_t cap);
/* Are two transcripts the same but for case, spaces and punctuation? */
bool words_equal(const char *a, const char *b);
/* Length in Unicode code points. */
size_t text_length(const char *text);
/* About as many tokens as a model makes of it, rather more; NULL: none. */
size_t text_tokens(const char *text);
/* Bytes of its first characters, at most so many: all of them, or the place to cut. */
size_t text_bytes(const char *text, size_t most_chars);
