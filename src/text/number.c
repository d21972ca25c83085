/* The handful of written forms around digits that documents use. */
#include "text/number.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/attr.h"
#include "text/numeral.h"

enum {
    DIGITS_AS_NUMBER = 6, /* longer strings without commas are spelled: codes, telephones */
    CARDINAL_MAX_DIGITS = 15,
    WORDS_MAX_BYTES = 400,
};

static void put_word(struct buf *out, const char *word)
{
    char last = out->len > 0 ? out->data[out->len - 1] : ' ';
    if (isalnum((unsigned char)last) || (unsigned char)last >= 0x80)
        (void)buf_append_char(out, ' ');
    (void)buf_append_str(out, word);
}

/* With spaces for hyphens: a recogniser's words have none. */
static void put_cardinal(int64_t value, struct buf *out)
{
    AUTO_BUF words = BUF_INIT(WORDS_MAX_BYTES);
    (void)numeral_write(value, "en", NUMERAL_COUNT, &words);
    for (char *hyphen = words.data; hyphen && (hyphen = strchr(hyphen, '-'));)
        *hyphen = ' ';
    put_word(out, words.len ? words.data : "");
}

static void put_digits(const char *digits, size_t len, struct buf *out)
{
    for (size_t i = 0; i < len; i++)
        put_cardinal(digits[i] - '0', out);
}

/* Numbers in a text. */

/* One written number: "1,250.50" has whole 1250 and fraction "50". */
struct number {
    char whole[32];
    size_t whole_len;
    const char *fraction;
    size_t fraction_len;
    bool has_commas;
    const char *end;
};

static int small_number(const char *digits)
{
    return (int)strtol(digits, NULL, 10);
}

static size_t digit_run(const char *text)
{
    return strspn(text, "0123456789");
}

static bool is_group_comma(const char *at)
{
    return at[0] == ',' && digit_run(at + 1) >= 2 && digit_run(at + 1) <= 3;
}

static bool parse_number(const char *text, struct number *out)
{
    *out = (struct number){0};
    const char *at = text;
    for (;;) {
        size_t run = digit_run(at);
        if (run == 0 || out->whole_len + run >= sizeof(out->whole))
            return false;
        memcpy(out->whole + out->whole_len, at, run);
        out->whole_len += run;
        at += run;
        if (!is_group_comma(at))
            break;
        out->has_commas = true;
        at++;
    }
    if (at[0] == '.' && digit_run(at + 1) > 0) {
        out->fraction = at + 1;
        out->fraction_len = digit_run(at + 1);
        at = out->fraction + out->fraction_len;
    }
    out->end = at;
    return true;
}

static bool is_spelled(const struct number *number)
{
    return !number->has_commas && (number->whole_len > DIGITS_AS_NUMBER ||
                                   (number->whole_len > 1 && number->whole[0] == '0'));
}

static void put_number(const struct number *number, struct buf *out)
{
    if (is_spelled(number) || number->whole_len > CARDINAL_MAX_DIGITS)
        put_digits(number->whole, number->whole_len, out);
    else
        put_cardinal(strtoll(number->whole, NULL, 10), out);
    if (!number->fraction_len)
        return;
    put_word(out, "point");
    put_digits(number->fraction, number->fraction_len, out);
}

static const char *put_money(const struct number *number, bool is_dollars, struct buf *out)
{
    struct number whole = *number;
    bool has_cents = is_dollars && number->fraction_len == 2;
    if (has_cents)
        whole.fraction_len = 0;
    put_number(&whole, out);
    bool is_one = number->whole_len == 1 && number->whole[0] == '1' && !number->fraction_len;
    put_word(out, !is_dollars ? "rupees" : is_one ? "dollar" : "dollars");
    int cents = has_cents ? small_number(number->fraction) : 0;
    if (cents > 0) {
        put_cardinal(cents, out);
        put_word(out, "cents");
    }
    return number->end;
}

/* "9:30", "09:05", "17:00"; NULL: no time. */
static const char *put_time(const struct number *hours, struct buf *out)
{
    const char *at = hours->end;
    if (hours->whole_len > 2 || hours->fraction_len || *at != ':' || digit_run(at + 1) != 2)
        return NULL;
    int minutes = small_number(at + 1);
    put_cardinal(small_number(hours->whole), out);
    if (minutes > 0 && minutes < 10)
        put_word(out, "oh");
    if (minutes > 0)
        put_cardinal(minutes, out);
    return at + 3;
}

/* A year: "1998" is nineteen ninety eight. */
static bool put_year(const struct number *number, struct buf *out)
{
    int year = number->whole_len == 4 && !number->has_commas && !number->fraction_len
                   ? small_number(number->whole)
                   : 0;
    bool is_year = (year >= 1100 && year < 2000) || (year >= 2010 && year < 2100);
    if (!is_year)
        return false;
    put_cardinal(year / 100, out);
    if (year % 100 == 0)
        put_word(out, "hundred");
    else if (year % 100 < 10)
        put_word(out, "oh");
    if (year % 100)
        put_cardinal(year % 100, out);
    return true;
}

static const struct {
    const char *cardinal, *ordinal;
} ordinals[] = {
    {"one", "first"},    {"two", "second"}, {"three", "third"},    {"five", "fifth"},
    {"eight", "eighth"}, {"nine", "ninth"}, {"twelve", "twelfth"},
};

/* "22nd": the last word of the cardinal becomes an ordinal. */
static bool put_ordinal(const struct number *number, struct buf *out)
{
    static const char *const endings[] = {"st", "nd", "rd", "th"};
    bool is_ordinal = false;
    for (size_t i = 0; i < ARRAY_LEN(endings); i++)
        is_ordinal = is_ordinal || (strncasecmp(number->end, endings[i], 2) == 0 &&
                                    !isalnum((unsigned char)number->end[2]));
    if (!is_ordinal || number->fraction_len || number->whole_len > CARDINAL_MAX_DIGITS)
        return false;
    put_cardinal(strtoll(number->whole, NULL, 10), out);
    const char *space = memrchr(out->data, ' ', out->len);
    size_t last = space ? (size_t)(space + 1 - out->data) : 0;
    for (size_t i = 0; i < ARRAY_LEN(ordinals); i++) {
        if (strcmp(out->data + last, ordinals[i].cardinal) != 0)
            continue;
        out->len = last;
        (void)buf_append_str(out, ordinals[i].ordinal);
        return true;
    }
    if (out->data[out->len - 1] == 'y') {
        out->len--;
        (void)buf_append_str(out, "ie");
    }
    (void)buf_append_str(out, "th");
    return true;
}

/* " am", "p.m." after a number are read letter by letter. */
static const char *put_half_of_day(const char *at, struct buf *out)
{
    static const struct {
        const char *written, *spoken;
    } halves[] = {{"a.m.", "a m"}, {"p.m.", "p m"}, {"am", "a m"}, {"pm", "p m"}};
    const char *start = *at == ' ' ? at + 1 : at;
    for (size_t i = 0; i < ARRAY_LEN(halves); i++) {
        size_t len = strlen(halves[i].written);
        if (strncasecmp(start, halves[i].written, len) != 0 || isalnum((unsigned char)start[len]))
            continue;
        put_word(out, halves[i].spoken);
        return start + len;
    }
    return at;
}

static const char *currency_at(const char *at, bool *out_is_dollars)
{
    static const struct {
        const char *sign;
        bool is_dollars;
    } signs[] = {{"$", true}, {"₹", false}, {"Rs. ", false}, {"Rs ", false}, {"Rs.", false}};
    for (size_t i = 0; i < ARRAY_LEN(signs); i++) {
        size_t len = strlen(signs[i].sign);
        if (strncmp(at, signs[i].sign, len) == 0 && isdigit((unsigned char)at[len])) {
            *out_is_dollars = signs[i].is_dollars;
            return at + len;
        }
    }
    return NULL;
}

/* Groups joined by hyphens, "555-0199", are spelled. */
static const char *put_hyphenated(const struct number *number, struct buf *out)
{
    if (number->end[0] != '-' || digit_run(number->end + 1) < 3 || number->fraction_len)
        return NULL;
    put_digits(number->whole, number->whole_len, out);
    const char *at = number->end;
    while (at[0] == '-' && digit_run(at + 1) > 0) {
        put_digits(at + 1, digit_run(at + 1), out);
        at += 1 + digit_run(at + 1);
    }
    return at;
}

static const char *put_written(const struct number *number, struct buf *out)
{
    const char *end = put_time(number, out);
    if (end)
        return put_half_of_day(end, out);
    end = put_hyphenated(number, out);
    if (end)
        return end;
    if (put_ordinal(number, out))
        return number->end + 2;
    if (put_year(number, out))
        return number->end;
    put_number(number, out);
    if (*number->end != '%')
        return put_half_of_day(number->end, out);
    put_word(out, "percent");
    return number->end + 1;
}

void number_expand(const char *text, struct buf *out)
{
    char before = ' ';
    while (*text && !out->is_full) {
        bool is_dollars = false, is_word = isalnum((unsigned char)before) || before == '_';
        const char *amount = !is_word ? currency_at(text, &is_dollars) : NULL;
        struct number number;
        if (is_word || !parse_number(amount ? amount : text, &number)) {
            before = *text;
            (void)buf_append_char(out, *text++);
            continue;
        }
        text = amount ? put_money(&number, is_dollars, out) : put_written(&number, out);
        if (isalpha((unsigned char)*text))
            (void)buf_append_char(out, ' ');
        before = ' ';
    }
}
