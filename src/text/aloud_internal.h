/* What the parts of aloud.h share: how one language says what is written in signs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "text/numeral.h"

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
size_t aloud_dash_len(const char *at);
/* The bytes of digits with what joins them, and of the groups of thousands after them. */
size_t aloud_figure_len(const char *at);
/* Does a currency's sign stand here, of one that is not said as well? */
bool aloud_is_currency(const char *at);

/* Amounts: read by text/aloud_read.c, written by text/aloud_amount.c. */

enum { GROUP = 3 }; /* digits between two signs of thousands */

/* Whole numbers that are left to the voice where no thing is known: those that end in 1 (but 11),
 * in 2, hundreds from 200 on, 1 alone, all; and those before a full stop, which may be ordinals. */
enum left {
    LEFT_ONES = 1,
    LEFT_TWOS = 2,
    LEFT_HUNDREDS = 4,
    LEFT_ONE = 8,
    LEFT_ALL = 16,
    LEFT_STOPS = 32,
};

struct numbers {
    const char *iso, *thousands, *decimals, *minus, *point, *percent, *to;
    unsigned left;
    const char *cases, *codes;
};

/* A currency or a unit. */
struct thing {
    const char *iso, *sign;
    enum numeral_form form;
    const char *forms;
    enum numeral_form part_form;
    const char *parts; /* of a hundredth */
};

/* "1,25,000.50" */
struct number {
    int64_t value;
    const char *text, *fraction; /* fraction: its digits */
    size_t len, digits, fraction_len;
    bool is_grouped, is_indian;
};

struct amount {
    const struct numbers *row;
    const struct thing *thing;
    bool is_money, is_percent, is_negative, is_span;
    struct number first, last;
    const char *scale; /* "million"; NULL: none */
    size_t scale_len, len;
};

const struct numbers *aloud_numbers_of(const char *iso); /* NULL: none */
/* False: what was read of it goes on as no amount does. */
bool aloud_read_amount(const struct aloud *aloud, const char *at, struct amount *amount);
/* False: digits that are grouped as no number is. */
bool aloud_read_number(const struct numbers *row, const char *text, struct number *out);
/* NULL: it is not said in that language, or out_len is untouched and there is none. */
const struct thing *aloud_read_currency(const char *iso, const char *at, size_t *out_len);
/* The row of a word at a place, -1: it is no scale. */
int aloud_find_scale(const char *iso, const char *word, size_t len);
/* The bytes of a currency's sign at text, of one that is not known here as well. */
size_t aloud_sign_len(const char *text);
