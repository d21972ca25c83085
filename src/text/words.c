/* A word is a run of letters, marks and digits, with apostrophes inside; each Han character is one.
 * That is how the search index cuts too (FTS5 unicode61 over the categories L, N, Co, Mc, Mn), and
 * it needs no break iterator. */
#include "text/words.h"

#include <stdlib.h>
#include <string.h>
#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/uscript.h>
#include <unicode/ustring.h>
#include <unicode/utf8.h>

#include "base/attr.h"
#include "text/internal.h"
#include "text/stem.h"
#include "text/stop_words.h"

enum {
    COMBINING_FIRST = 0x0300, /* accents of Latin, Greek and Cyrillic; Indic signs are elsewhere */
    COMBINING_LAST = 0x036F,
    ZERO_WIDTH_NON_JOINER = 0x200C, /* inside words of Indic scripts */
    ZERO_WIDTH_JOINER = 0x200D,
    RIGHT_QUOTE = 0x2019,
};

static bool is_word_char(UChar32 c)
{
    if (c < 0)
        return false;
    uint32_t mask = U_GET_GC_MASK(c);
    return (mask & (U_GC_L_MASK | U_GC_N_MASK | U_GC_MN_MASK | U_GC_MC_MASK)) ||
           c == ZERO_WIDTH_JOINER || c == ZERO_WIDTH_NON_JOINER;
}

static bool is_han(UChar32 c)
{
    UErrorCode status = U_ZERO_ERROR;
    return c >= 0x2E80 && uscript_getScript(c, &status) == USCRIPT_HAN;
}

/* Reads the next word; false at the end of the text. */
static bool next_word(const char *text, int32_t len, int32_t *at, int32_t *out_start)
{
    UChar32 c = -1;
    int32_t start = *at;
    while (*at < len) {
        start = *at;
        c = text_next(text, len, at);
        if (is_word_char(c))
            break;
        c = -1;
    }
    if (c < 0)
        return false;
    *out_start = start;
    while (*at < len && !is_han(c)) {
        int32_t before = *at;
        c = text_next(text, len, at);
        if ((c == '\'' || c == RIGHT_QUOTE) && *at < len) {
            int32_t peek = *at;
            c = text_next(text, len, &peek);
            if (is_word_char(c))
                continue;
            c = -1;
        }
        if (!is_word_char(c) || is_han(c)) {
            *at = before;
            return true;
        }
    }
    return true;
}

static bool fold_ascii(const char *text, size_t len, char out[WORD_MAX_BYTES])
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0x80)
            return false;
        out[i] = (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
    }
    out[len] = '\0';
    return true;
}

/* Case and width, then decomposed, accents out, composed again. */
static bool fold_unicode(const char *text, size_t len, char out[WORD_MAX_BYTES])
{
    enum { UNITS = 2 * WORD_MAX_BYTES };
    UErrorCode status = U_ZERO_ERROR;
    UChar a[UNITS], b[UNITS];
    int32_t n = 0;
    u_strFromUTF8(a, UNITS, &n, text, (int32_t)len, &status);
    n = unorm2_normalize(unorm2_getNFKCCasefoldInstance(&status), a, n, b, UNITS, &status);
    n = unorm2_normalize(unorm2_getNFDInstance(&status), b, n, a, UNITS, &status);
    if (U_FAILURE(status))
        return false;
    int32_t kept = 0;
    for (int32_t i = 0; i < n; i++)
        if (a[i] < COMBINING_FIRST || a[i] > COMBINING_LAST)
            a[kept++] = (UChar)(a[i] == RIGHT_QUOTE ? '\'' : a[i]);
    n = unorm2_normalize(unorm2_getNFCInstance(&status), a, kept, b, UNITS, &status);
    u_strToUTF8(out, WORD_MAX_BYTES, &n, b, n, &status);
    return U_SUCCESS(status) && n < WORD_MAX_BYTES;
}

static void fold(const char *text, size_t len, char out[WORD_MAX_BYTES])
{
    len = MIN(len, WORD_MAX_BYTES - 1);
    while (len > 0 && U8_IS_TRAIL(text[len]))
        len--;
    if (fold_ascii(text, len, out) || fold_unicode(text, len, out))
        return;
    memcpy(out, text, len);
    out[len] = '\0';
}

static bool is_number(const char *folded)
{
    return *folded && folded[strspn(folded, "0123456789")] == '\0';
}

static void each(const char *text, struct stem *stem, word_fn *fn, void *arg)
{
    int32_t len = (int32_t)strlen(text), at = 0, start = 0;
    while (next_word(text, len, &at, &start)) {
        char folded[WORD_MAX_BYTES];
        struct word word = {.text = text + start, .len = (size_t)(at - start), .folded = folded};
        fold(word.text, word.len, folded);
        if (!*folded)
            continue; /* nothing but accents */
        word.stem = stem_word(stem, folded);
        word.is_number = is_number(folded);
        if (fn(arg, &word) != 0)
            return;
    }
}

void words_each(const char *text, const char *iso, word_fn *fn, void *arg)
{
    struct stem *stem = stem_new(iso);
    each(text, stem, fn, arg);
    stem_free(stem);
}

static int append_stem(void *arg, const struct word *word)
{
    struct buf *out = arg;
    if (out->len > 0)
        (void)buf_append_char(out, ' ');
    (void)buf_append_str(out, word->stem);
    return out->is_full;
}

void words_stems(const char *text, const char *iso, struct buf *out)
{
    words_each(text, iso, append_stem, out);
}

static int compare_text(const void *a, const void *b)
{
    return strcmp(a, *(const char *const *)b);
}

bool word_is_stop(const char *folded, const char *iso)
{
    for (size_t i = 0; iso && i < ARRAY_LEN(stop_words); i++)
        if (strcmp(stop_words[i].iso, iso) == 0)
            return bsearch(folded, stop_words[i].words, stop_words[i].count, sizeof(char *),
                           compare_text) != NULL;
    return false;
}

static bool does(const char *doer, const char *deed)
{
    static const char *const endings[] = {"", "e", "s", "es", "ed", "ing", "ings"};
    size_t stem = strlen(doer);
    if (stem < 5 || strcmp(doer + stem - 2, "er") != 0 || strncmp(doer, deed, stem - 2) != 0)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(endings); i++)
        if (strcmp(deed + stem - 2, endings[i]) == 0)
            return true;
    return false;
}

bool word_is_doer(const char *a, const char *b)
{
    return does(a, b) || does(b, a);
}

size_t word_digits(const char *folded, char *out, size_t cap)
{
    size_t count = 0;
    int32_t at = 0, len = (int32_t)strlen(folded);
    while (at < len) {
        int32_t next = at;
        int32_t digit = u_charDigitValue(text_next(folded, len, &next));
        if (digit < 0)
            break;
        if (count + 1 < cap)
            out[count++] = (char)('0' + digit);
        at = next;
    }
    out[count] = '\0';
    return (size_t)at;
}

static int count_one(void *arg, const struct word *word)
{
    (void)word;
    (*(size_t *)arg)++;
    return 0;
}

size_t words_count(const char *text)
{
    size_t count = 0;
    each(text, NULL, count_one, &count);
    return count;
}

/* Characters stand for time: voices take about as long for each. */
size_t words_played(const char *text, size_t played, size_t total)
{
    size_t bytes = strlen(text);
    if (played >= total)
        return bytes;
    double heard = (double)utf8_count(text) * (double)played / (double)total;
    size_t cut = 0, chars = 0;
    int32_t at = 0, start = 0, seen = 0;
    while (next_word(text, (int32_t)bytes, &at, &start)) {
        for (; seen < start; seen++)
            chars += !U8_IS_TRAIL(text[seen]);
        size_t first = chars;
        for (; seen < at; seen++)
            chars += !U8_IS_TRAIL(text[seen]);
        if ((double)(first + chars) / 2 > heard)
            break;
        cut = (size_t)at;
    }
    return cut;
}

void text_fold(const char *text, char *out, size_t cap)
{
    enum { CHAR_MAX_BYTES = 4 };
    int32_t at = 0, len = (int32_t)strlen(text);
    size_t n = 0;
    while (at < len && n + CHAR_MAX_BYTES < cap) {
        UChar32 c = text_next(text, len, &at);
        if (c >= 0)
            n += utf8_encode((uint32_t)u_foldCase(c, U_FOLD_CASE_DEFAULT), out + n);
    }
    out[n] = '\0';
}

static int append_folded(void *arg, const struct word *word)
{
    struct buf *out = arg;
    (void)buf_append_str(out, word->folded);
    (void)buf_append_char(out, ' ');
    return out->is_full;
}

bool words_equal(const char *a, const char *b)
{
    AUTO_BUF left = BUF_INIT(64 * 1024);
    AUTO_BUF right = BUF_INIT(64 * 1024);
    each(a, NULL, append_folded, &left);
    each(b, NULL, append_folded, &right);
    return left.len == right.len && (left.len == 0 || memcmp(left.data, right.data, left.len) == 0);
}

size_t text_length(const char *text)
{
    return utf8_count(text);
}

/* Latin letters share a token by threes and fours, letters of most other scripts have one each. */
size_t text_tokens(const char *text)
{
    size_t ascii = 0, others = 0;
    for (const char *at = text ? text : ""; *at; at++) {
        ascii += (unsigned char)*at < 0x80;
        others += (unsigned char)*at >= 0xc0; /* a lead byte */
    }
    return ascii / 3 + others + 1;
}

size_t text_bytes(const char *text, size_t most_chars)
{
    size_t at = 0, len = strlen(text);
    while (at < len && most_chars-- > 0) {
        size_t step = utf8_decode(text + at, len - at, NULL);
        at += step ? step : 1; /* a stray byte counts as one, as in text_length() */
    }
    return at;
}
