/* What the parts of aloud.h share: how one language says what is written in signs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum { MONTHS = 12 };

struct manner {
    const char *iso, *at, *dot, *dash, *underscore, *slash, *plus, *date;
    const char *months[MONTHS];
};

/* A text that is being written. */
struct aloud {
    const char *text, *iso;
    const char *numerals; /* of text/numeral.h: "en-IN" for Hindi in Latin letters */
    const struct manner *manner;
    struct buf *out;
};

/* Each writes what stands at `at` and returns its bytes; 0: that is not what it is for, or could be
 * read in two ways, and nothing is written. */
size_t aloud_date(const struct aloud *aloud, const char *at);
size_t aloud_time(const struct aloud *aloud, const char *at);
size_t aloud_amount(const struct aloud *aloud, const char *at); /* money, percent, units, numbers */

const char *aloud_to(const struct aloud *aloud); /* "to" between two numbers; NULL: none here */
/* The word that stands count words before a place: its bytes, and where it begins. 0: none. */
size_t aloud_word_before(const struct aloud *aloud, const char *at, unsigned count,
                         const char **out_word);
/* The bytes of the word at a place, to the blank or sign that ends it. */
size_t aloud_word_len(const char *at);
/* Is it one of the words, which are parted by spaces? In small letters, where they are Latin. */
bool aloud_is_one_of(const char *word, size_t len, const char *words);
/* Can nothing of the same number or word follow here? */
bool aloud_is_end(const char *at);
/* The bytes of a space at a place, of one that keeps a line together as well, and of one that ends
 * there; 0: none. */
size_t aloud_blank_len(const char *at);
size_t aloud_blank_before(const char *text, const char *at);
/* The bytes of digits with what joins them, and of the groups of thousands behind them. */
size_t aloud_figure_len(const char *at);
/* Does a currency's sign stand here, of one that is not said as well? */
bool aloud_is_currency(const char *at);
