/* Numbers and what is counted by them: money, shares, units, spans. A whole number is read first,
 * with all that belongs to it on both sides, and only then written: what could be a year, a room or
 * a code, or whose form goes with a word that is not known here, is left as it is. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "text/aloud_internal.h"

enum {
    DIGITS_PLAIN =
        3,           /* of a number without signs of thousands; longer ones may be years or codes */
    DIGITS_CODE = 3, /* the fewest of a code */
    SURE_ORDINAL_MAX = 12, /* "25º" may be degrees */
    HUNDRED = 100,
    MILLION = 1000000,
};

/* Writing. */

static const char *numerals_of(const struct aloud *aloud, const struct amount *amount)
{
    bool is_indian = amount->first.is_indian || amount->last.is_indian ||
                     (amount->is_money && strcmp(amount->thing->sign, "₹") == 0);
    return is_indian && strcmp(aloud->numerals, "en") == 0 ? "en-IN" : aloud->numerals;
}

static void put_digits(const struct aloud *aloud, const char *digits, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        (void)buf_append_char(aloud->out, ' ');
        (void)numeral_write(digits[i] - '0', aloud->numerals, NUMERAL_COUNT, aloud->out);
    }
}

static void put_number(const struct aloud *aloud, const struct amount *amount,
                       const struct number *number, enum numeral_form form)
{
    bool is_own = strcmp(amount->row->iso, "it") != 0 || number->value == 1; /* "un", "ventuno" */
    form = number->fraction_len || !is_own ? NUMERAL_COUNT : form;
    (void)numeral_write(number->value, numerals_of(aloud, amount), form, aloud->out);
    if (!number->fraction_len)
        return;
    (void)buf_printf(aloud->out, " %s", amount->row->point);
    put_digits(aloud, number->fraction, number->fraction_len);
}

static void put_counted(const struct aloud *aloud, const struct number *number, const char *forms)
{
    (void)buf_append_char(aloud->out, ' ');
    numeral_write_counted(number->value, number->fraction_len > 0, aloud->numerals, forms,
                          aloud->out);
}

/* The hundredths of an amount that has them; it is whole from then on. */
static struct number take_hundredths(struct number *number)
{
    struct number parts = {.value = strtol(number->fraction, NULL, 10)};
    number->fraction_len = 0;
    return parts;
}

static void put_money(const struct aloud *aloud, struct amount *amount)
{
    const struct thing *thing = amount->thing;
    struct number *number = amount->is_span ? &amount->last : &amount->first, parts = {0};
    bool has_parts = !amount->scale && !amount->is_span && number->fraction_len == 2;
    if (has_parts)
        parts = take_hundredths(number);
    if (number->value > 0 || parts.value == 0) {
        put_number(aloud, amount, number, amount->scale ? NUMERAL_COUNT : thing->form);
        if (amount->scale)
            (void)buf_printf(aloud->out, " %.*s", (int)amount->scale_len, amount->scale);
        struct number many = {.value = 0};
        put_counted(aloud, amount->scale ? &many : number, thing->forms);
    }
    if (parts.value > 0) {
        (void)buf_append_str(aloud->out, number->value > 0 ? " " : "");
        put_number(aloud, amount, &parts, thing->part_form);
        put_counted(aloud, &parts, thing->parts);
    }
}

static void put_amount(const struct aloud *aloud, struct amount *amount)
{
    if (amount->is_negative)
        (void)buf_printf(aloud->out, "%s ", amount->row->minus);
    enum numeral_form form = amount->thing ? amount->thing->form : NUMERAL_COUNT;
    if (amount->is_span) {
        put_number(aloud, amount, &amount->first, form);
        (void)buf_printf(aloud->out, " %s ", amount->row->to);
    }
    const struct number *number = amount->is_span ? &amount->last : &amount->first;
    if (amount->is_money) {
        put_money(aloud, amount);
        return;
    }
    put_number(aloud, amount, number, form);
    if (amount->thing)
        put_counted(aloud, number, amount->thing->forms);
    if (amount->is_percent)
        put_counted(aloud, number, amount->row->percent);
}

/* Whole numbers without a thing. */

static bool is_left(const struct amount *amount, const struct number *number, const char *after)
{
    int64_t value = number->value, ones = value % 10, tens = value % HUNDRED;
    unsigned left = amount->row->left;
    return (left & LEFT_ALL) || ((left & LEFT_ONES) && ones == 1 && tens != 11) ||
           ((left & LEFT_TWOS) && ones == 2 && tens != 12) ||
           ((left & LEFT_HUNDREDS) && value % 1000 >= 200) || ((left & LEFT_ONE) && tens == 1) ||
           ((left & LEFT_STOPS) && *after == '.' && after[1]) ||
           (!number->is_grouped && number->digits > DIGITS_PLAIN) ||
           (number->digits > 1 && number->text[0] == '0');
}

/* "your code is 4821", "dial 112" */
static bool is_code(const struct aloud *aloud, const char *at, const struct amount *amount)
{
    const struct number *number = &amount->first;
    bool is_one = !amount->is_span && !number->is_grouped && !number->fraction_len;
    if (!is_one || amount->is_negative || number->digits < DIGITS_CODE)
        return false;
    for (unsigned i = 1; i <= 2; i++) {
        const char *word = NULL;
        size_t len = aloud_word_before(aloud, at, i, &word);
        if (len && aloud_is_one_of(word, len, amount->row->codes))
            return true;
    }
    return number->text[0] == '0';
}

/* "1 250 000", "4 5": figures in a row are one thing that is not known. */
static bool is_in_row(const struct aloud *aloud, const char *at, const struct amount *amount)
{
    size_t before = aloud_blank_before(aloud->text, at);
    bool is_hours = amount->thing && !amount->is_money && /* "1 h 30 min" */
                    aloud_is_one_of(amount->thing->sign, strlen(amount->thing->sign), "h ч");
    size_t after = is_hours ? 0 : aloud_blank_len(at + amount->len);
    bool can_go_on = isdigit((unsigned char)*at) || !amount->is_money;
    bool follows_figure = can_go_on && before && (size_t)(at - aloud->text) > before &&
                          isdigit((unsigned char)at[-(ptrdiff_t)before - 1]);
    return follows_figure || (after && isdigit((unsigned char)at[amount->len + after]));
}

/* "1,500": three digits after a sign of decimals may be thousands, as others write them. */
static bool is_unsure(const struct amount *amount, const struct number *number)
{
    bool is_comma = *amount->row->decimals == ',';
    return (amount->is_money || is_comma) && number->fraction_len == GROUP && number->value > 0 &&
           number->digits <= GROUP;
}

/* "CHF": who knows a word of three capitals? */
static bool is_capitals(const char *word, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!isupper((unsigned char)word[i]))
            return false;
    return len == 3;
}

/* "CHF 500", "500 ₩", "$500 CAD": money that is not known here. */
static bool is_foreign(const struct aloud *aloud, const char *at, const struct amount *amount)
{
    if (amount->is_percent || (amount->thing && !amount->is_money))
        return false;
    const char *end = at + amount->len, *next = end + aloud_blank_len(end);
    size_t len = 0, back = aloud_blank_before(aloud->text, at);
    while (isalpha((unsigned char)next[len]))
        len++;
    size_t known = 0;
    bool is_known = !amount->is_money && aloud_read_currency(amount->row->iso, next, &known);
    if (next > end && !is_known && (is_capitals(next, len) || aloud_sign_len(next) || known))
        return true;
    const char *before = at - back, *word = before;
    while (word > aloud->text && isalpha((unsigned char)word[-1]))
        word--;
    if (is_capitals(word, (size_t)(before - word)))
        return true;
    for (size_t i = 1; i <= 3 && before - aloud->text >= (ptrdiff_t)i; i++)
        if (aloud_sign_len(before - i) == i)
            return true;
    return false;
}

static size_t put_code(const struct aloud *aloud, const struct number *number)
{
    for (size_t i = 0; i < number->digits; i++)
        (void)buf_printf(aloud->out, "%s%c", i > 0 ? " " : "", number->text[i]);
    return number->len;
}

struct ordinal_end {
    const char *iso, *end;
    enum numeral_form form;
};

/* "22nd", "2e", "5वीं", "1.ª": the ending; NULL: none. */
static const struct ordinal_end *ordinal_end(const char *iso, const char *at)
{
    static const struct ordinal_end ends[] = {
        {"en", "st", NUMERAL_COUNT},     {"en", "nd", NUMERAL_COUNT},
        {"en", "rd", NUMERAL_COUNT},     {"en", "th", NUMERAL_COUNT},
        {"fr", "er", NUMERAL_COUNT},     {"fr", "re", NUMERAL_FEMININE},
        {"fr", "ère", NUMERAL_FEMININE}, {"fr", "e", NUMERAL_COUNT},
        {"fr", "ème", NUMERAL_COUNT},    {"hi", "वां", NUMERAL_COUNT},
        {"hi", "वाँ", NUMERAL_COUNT},     {"hi", "वें", NUMERAL_COUNT},
        {"hi", "वीं", NUMERAL_COUNT},     {"es", ".º", NUMERAL_COUNT},
        {"es", "º", NUMERAL_COUNT},      {"es", ".er", NUMERAL_MASCULINE},
        {"es", "er", NUMERAL_MASCULINE}, {"es", ".ª", NUMERAL_FEMININE},
        {"es", "ª", NUMERAL_FEMININE},   {"it", "º", NUMERAL_COUNT},
        {"it", "ª", NUMERAL_FEMININE},   {"pt", ".º", NUMERAL_COUNT},
        {"pt", "º", NUMERAL_COUNT},      {"pt", ".ª", NUMERAL_FEMININE},
        {"pt", "ª", NUMERAL_FEMININE},   {"nl", "e", NUMERAL_COUNT},
        {"nl", "ste", NUMERAL_COUNT},    {"nl", "de", NUMERAL_COUNT},
    };
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        size_t len = strlen(ends[i].end);
        if (strcmp(ends[i].iso, iso) == 0 && strncmp(at, ends[i].end, len) == 0 &&
            aloud_is_end(at + len))
            return &ends[i];
    }
    return NULL;
}

/* "3.ª" ends as a number before a full stop does. */
static bool is_ordinal_at(const struct amount *amount, const char *at)
{
    const struct number *number = &amount->first;
    return number->digits > 0 && number->text == at && !amount->is_span &&
           ordinal_end(amount->row->iso, at + number->len) != NULL;
}

/* 0: it has no word. */
static size_t put_ordinal(const struct aloud *aloud, const struct amount *amount)
{
    const struct number *number = &amount->first;
    const char *end = number->text + number->len;
    const struct ordinal_end *found = ordinal_end(amount->row->iso, end);
    bool is_hindi = strcmp(amount->row->iso, "hi") == 0;
    bool is_regular = !is_hindi || (number->value >= 5 && number->value != 6);
    bool is_degree = strcmp(found->end, "º") == 0 && number->value > SURE_ORDINAL_MAX;
    if (number->fraction_len || number->value < 1 || !is_regular || is_degree)
        return 0;
    if (is_hindi && numeral_write(number->value, aloud->numerals, NUMERAL_COUNT, aloud->out))
        (void)buf_append_str(aloud->out, found->end);
    else if (!numeral_write_ordinal(number->value, aloud->numerals, found->form, aloud->out))
        return 0;
    return number->len + strlen(found->end);
}

const char *aloud_to(const struct aloud *aloud)
{
    const struct numbers *row = aloud_numbers_of(aloud->manner->iso);
    return row ? row->to : NULL;
}

/* "2 000 000 €" has a word between the two ("millions d'euros"), or a gender of its own. */
static bool is_many_bent(const struct amount *amount, const struct number *number)
{
    const char *iso = amount->row->iso;
    if (!amount->thing)
        return false;
    if (strcmp(iso, "de") == 0)
        return amount->scale ? number->value == 1 : number->value == MILLION;
    return aloud_is_one_of(iso, strlen(iso), "fr es it pt") && number->value >= MILLION;
}

/* "in 1 h", "через 21 мин": one of a feminine unit shows its case, and only some words before it
 * tell which that is; "un'ora" has lost its vowel. */
static bool is_one_bent(const struct amount *amount, const struct number *number)
{
    const char *iso = amount->row->iso;
    if (!amount->thing || amount->is_money || amount->thing->form != NUMERAL_FEMININE)
        return false;
    int64_t value = number->value;
    return strcmp(iso, "ru") == 0 ? value % 10 == 1 && value % HUNDRED != 11
                                  : value == 1 && aloud_is_one_of(iso, strlen(iso), "de pl it");
}

/* "5,5 km", "5,125 zł" in Polish: a fraction bends what is counted. */
static bool is_fraction_bent(const struct amount *amount, const struct number *number)
{
    bool is_hundredths = amount->is_money && !amount->is_span && number->fraction_len == 2;
    return strcmp(amount->row->iso, "pl") == 0 && (amount->thing || amount->is_percent) &&
           number->fraction_len > 0 && !is_hundredths;
}

/* What was read but could be something else, or has a form that is not known here. */
static bool is_refused(const struct aloud *aloud, const char *at, const struct amount *amount)
{
    const struct number *first = &amount->first;
    const struct number *last = amount->is_span ? &amount->last : first;
    const char *word = NULL;
    size_t word_len = aloud_word_before(aloud, at, 1, &word);
    bool has_case = word_len && aloud_is_one_of(word, word_len, amount->row->cases);
    bool has_point = !first->fraction_len || amount->row->point ||
                     (amount->is_money && !amount->is_span && first->fraction_len == 2);
    return has_case || !has_point || is_in_row(aloud, at, amount) || is_unsure(amount, first) ||
           is_unsure(amount, last) || is_many_bent(amount, last) || is_one_bent(amount, last) ||
           is_fraction_bent(amount, last);
}

/* "$5 to $10 million": the scale goes with both. The bytes of all that; 0: there is none. */
static size_t shared_scale_len(const char *at, const struct amount *amount)
{
    static const char links[] = "to and or a y o e ed ou à et bis und oder tot "
                                "en of se aur ya से और या";
    const char *next = at + amount->len + aloud_blank_len(at + amount->len);
    size_t dash = aloud_dash_len(next), link = dash ? dash : aloud_word_len(next), sign = 0;
    if (!amount->is_money || amount->scale || !link ||
        (!dash && !aloud_is_one_of(next, link, links)))
        return 0;
    next += link + aloud_blank_len(next + link);
    (void)aloud_read_currency(amount->row->iso, next, &sign);
    next += sign + aloud_blank_len(next + sign);
    struct number number;
    if (!aloud_read_number(amount->row, next, &number))
        return 0;
    next += number.len + aloud_blank_len(next + number.len);
    size_t len = aloud_word_len(next);
    return aloud_find_scale(amount->row->iso, next, len) >= 0 ? (size_t)(next + len - at) : 0;
}

/* Leaves all that was read to the voice, for a part of it would be something else. */
static size_t put_left(const struct aloud *aloud, const char *at, const struct amount *amount)
{
    if (!amount->first.digits)
        return 0;
    size_t before = (size_t)(amount->first.text - at);
    size_t len = MAX(amount->len, before + aloud_figure_len(amount->first.text));
    (void)buf_append(aloud->out, at, len);
    return len;
}

size_t aloud_amount(const struct aloud *aloud, const char *at)
{
    struct amount amount = {.row = aloud_numbers_of(aloud->manner->iso)};
    if (!amount.row)
        return 0;
    bool is_read = aloud_read_amount(aloud, at, &amount);
    bool is_bare = !amount.thing && !amount.is_percent;
    bool is_ordinal = is_bare && is_ordinal_at(&amount, at);
    size_t ordinal = is_ordinal ? put_ordinal(aloud, &amount) : 0;
    if (ordinal)
        return ordinal;
    size_t shared = is_read ? shared_scale_len(at, &amount) : 0;
    amount.len = MAX(amount.len, shared);
    if (!is_read || is_ordinal || shared || is_refused(aloud, at, &amount))
        return put_left(aloud, at, &amount);
    if (is_bare && is_code(aloud, at, &amount))
        return put_code(aloud, &amount.first);
    const struct number *last = amount.is_span ? &amount.last : &amount.first;
    bool is_whole = is_bare && !last->fraction_len;
    bool is_number_left = is_whole && (is_left(&amount, last, at + amount.len) ||
                                       (amount.is_span && is_left(&amount, &amount.first, "")));
    if (is_number_left || is_foreign(aloud, at, &amount))
        return put_left(aloud, at, &amount);
    put_amount(aloud, &amount);
    return amount.len;
}
