/* Ordinals, in two ways: the last word of the number is bent ("twenty-one": "twenty-first"), or, in
 * Spanish and Portuguese and for the first of Italian, they have words of their own ("vigésimo
 * primero"). German, Polish and Russian ones go with the case of what is counted, which a number
 * does not tell: they are not written. */
#include <string.h>

#include "base/attr.h"
#include "text/numeral.h"

enum { TEN = 10 };

/* What the end of the number becomes: the first row of the language that fits. */
static const struct {
    const char *iso, *end, *ordinal;
} ends[] = {
    {"en", "one", "first"},
    {"en", "two", "second"},
    {"en", "three", "third"},
    {"en", "five", "fifth"},
    {"en", "eight", "eighth"},
    {"en", "nine", "ninth"},
    {"en", "twelve", "twelfth"},
    {"en", "y", "ieth"},
    {"en", "", "th"},
    {"fr", "cinq", "cinquième"},
    {"fr", "neuf", "neuvième"},
    {"fr", "quatre-vingts", "quatre-vingtième"},
    {"fr", "cents", "centième"},
    {"fr", "millions", "millionième"},
    {"fr", "e", "ième"},
    {"fr", "", "ième"},
    {"it", "tré", "treesimo"},
    {"it", "sei", "seiesimo"},
    {"it", "o", "esimo"},
    {"it", "e", "esimo"},
    {"it", "i", "esimo"},
    {"it", "a", "esimo"},
    {"nl", "een", "eerste"},
    {"nl", "twee", "tweede"},
    {"nl", "drie", "derde"},
    {"nl", "vier", "vierde"},
    {"nl", "vijf", "vijfde"},
    {"nl", "zes", "zesde"},
    {"nl", "zeven", "zevende"},
    {"nl", "acht", "achtste"},
    {"nl", "negen", "negende"},
    {"nl", "tien", "tiende"},
    {"nl", "elf", "elfde"},
    {"nl", "twaalf", "twaalfde"},
    {"nl", "", "ste"},
};

/* Words of their own: of 1, 2, 3 ..., then of the tens, after which the ones are said as well.
 * NULL: none of the tens. Numbers beyond them are bent, if the language has ends, or not written.
 */
static const struct own_words {
    const char *iso;
    enum numeral_form form; /* NUMERAL_COUNT: of any other thing, too */
    const char *ones, *tens;
} own[] = {
    {"fr", NUMERAL_FEMININE, "première", NULL},
    {"fr", NUMERAL_COUNT, "premier", NULL},
    {"it", NUMERAL_COUNT, "primo secondo terzo quarto quinto sesto settimo ottavo nono decimo",
     NULL},
    {"es", NUMERAL_COUNT,
     "primero segundo tercero cuarto quinto sexto séptimo octavo noveno décimo decimoprimero "
     "decimosegundo decimotercero decimocuarto decimoquinto decimosexto decimoséptimo decimoctavo "
     "decimonoveno",
     "décimo vigésimo trigésimo cuadragésimo quincuagésimo sexagésimo septuagésimo octogésimo "
     "nonagésimo"},
    {"pt", NUMERAL_COUNT, "primeiro segundo terceiro quarto quinto sexto sétimo oitavo nono",
     "décimo vigésimo trigésimo quadragésimo quinquagésimo sexagésimo septuagésimo octogésimo "
     "nonagésimo"},
};

/* The number-th of words; its bytes, 0: there are not so many. */
static size_t word_at(const char *words, int64_t number, const char **out)
{
    for (; number > 1 && words; number--) {
        words = strchr(words, ' ');
        words += words != NULL;
    }
    *out = words;
    return words ? strcspn(words, " ") : 0;
}

/* Its last o is an a of a feminine thing; Spanish "primer" and "tercer" lose it before a man. */
static void put_bent(const char *iso, const char *word, size_t len, enum numeral_form form,
                     struct buf *out)
{
    bool is_bent = form != NUMERAL_COUNT && word[len - 1] == 'o';
    bool is_short = form == NUMERAL_MASCULINE && strcmp(iso, "es") == 0 && len > 3 &&
                    strncmp(word + len - 3, "ero", 3) == 0;
    bool is_feminine = is_bent && form == NUMERAL_FEMININE;
    (void)buf_append(out, word, len - (is_feminine || is_short));
    if (is_feminine)
        (void)buf_append_char(out, 'a');
}

static bool put_own(int64_t value, const char *iso, enum numeral_form form, struct buf *out)
{
    for (size_t i = 0; i < ARRAY_LEN(own); i++) {
        const struct own_words *row = &own[i];
        const char *word = NULL, *one = NULL;
        if (strcmp(row->iso, iso) != 0 || (row->form != NUMERAL_COUNT && row->form != form))
            continue;
        size_t len = word_at(row->ones, value, &word), one_len = 0;
        if (!len && row->tens && value < TEN * TEN) {
            len = word_at(row->tens, value / TEN, &word);
            one_len = value % TEN ? word_at(row->ones, value % TEN, &one) : 0;
        }
        if (!len)
            continue;
        put_bent(iso, word, len, one_len && form != NUMERAL_FEMININE ? NUMERAL_COUNT : form, out);
        if (one_len) {
            (void)buf_append_char(out, ' ');
            put_bent(iso, one, one_len, form, out);
        }
        return true;
    }
    return false;
}

bool numeral_write_ordinal(int64_t value, const char *iso, enum numeral_form form, struct buf *out)
{
    const char *row = strncmp(iso, "en", 2) == 0 ? "en" : iso;
    if (value < 1)
        return false;
    if (put_own(value, row, form, out))
        return true;
    if (strcmp(row, "it") == 0 && value >= TEN * TEN)
        return false; /* "centodecimo": two words that are bent */
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        if (strcmp(ends[i].iso, row) != 0)
            continue;
        AUTO_BUF words = BUF_INIT(400);
        size_t end = strlen(ends[i].end);
        if (!numeral_write(value, iso, NUMERAL_COUNT, &words))
            return false;
        if (words.len < end || strcmp(words.data + words.len - end, ends[i].end) != 0)
            continue;
        (void)buf_append(out, words.data, words.len - end);
        put_bent(row, ends[i].ordinal, strlen(ends[i].ordinal), form, out);
        return true;
    }
    return false;
}
