/* The reading of text/aloud_amount.c: one amount with all that belongs to it on both sides. */
#include <ctype.h>
#include <string.h>

#include "base/attr.h"
#include "text/aloud_internal.h"

enum {
    DIGITS_MAX = 15,
    GROUP_INDIAN = 2,
};

static const struct numbers all_numbers[] = {
#define NUMBERS(...) {__VA_ARGS__},
#define CURRENCY(...)
#define SIGN(...)
#define UNIT(...)
#define SCALE(...)
#include "text/aloud_number.def"
#undef NUMBERS
#undef CURRENCY
};

static const struct thing currencies[] =
    {
#define NUMBERS(...)
#define CURRENCY(iso_, sign_, form_, forms_, part_, parts_)                                        \
    {iso_, sign_, NUMERAL_##form_, forms_, NUMERAL_##part_, parts_},
#include "text/aloud_number.def"
#undef CURRENCY
#undef UNIT
},
                          units[] = {
#define CURRENCY(...)
#define UNIT(iso_, sign_, form_, forms_)                                                           \
    {iso_, sign_, NUMERAL_##form_, forms_, NUMERAL_COUNT, NULL},
#include "text/aloud_number.def"
#undef UNIT
#undef SIGN
};

static const struct {
    const char *written, *sign;
} signs[] = {
#define UNIT(...)
#define SIGN(written_, sign_) {written_, sign_},
#include "text/aloud_number.def"
#undef SIGN
#undef SCALE
};

static const struct {
    const char *iso;
    bool is_said;
    const char *words;
} scales[] = {
#define SIGN(...)
#define SCALE(iso_, is_said_, words_) {iso_, is_said_, words_},
#include "text/aloud_number.def"
};

static size_t digit_run(const char *text)
{
    return strspn(text, "0123456789");
}

/* The bytes of a sign at text; 0: it is not there. A blank one is any space of that kind. */
static size_t sign_len(const char *text, const char *sign)
{
    if (*sign == ' ')
        return aloud_blank_len(text);
    return strncmp(text, sign, strlen(sign)) == 0 ? strlen(sign) : 0;
}

/* The digits after a sign of thousands; 0: no group stands there. */
static size_t group_len(const char *text, const char *sign, size_t *out_sign)
{
    *out_sign = sign_len(text, sign);
    size_t run = *out_sign ? digit_run(text + *out_sign) : 0;
    bool is_group = run == GROUP || (*sign == ',' && run == GROUP_INDIAN);
    return is_group ? run : 0;
}

bool aloud_read_number(const struct numbers *row, const char *text, struct number *out)
{
    *out = (struct number){.text = text, .digits = digit_run(text)};
    size_t at = out->digits, sign, run, last = GROUP;
    bool is_short = at > 0 && at <= GROUP;
    while (is_short && (run = group_len(text + at, row->thousands, &sign)) > 0) {
        if (last == GROUP && out->is_grouped && run == GROUP_INDIAN)
            return false;
        out->is_indian = out->is_indian || run == GROUP_INDIAN;
        out->is_grouped = true;
        out->digits += run;
        last = run;
        at += sign + run;
    }
    for (size_t i = 0; i < at && out->digits <= DIGITS_MAX; i++)
        if (isdigit((unsigned char)text[i]))
            out->value = out->value * 10 + (text[i] - '0');
    sign = sign_len(text + at, row->decimals);
    out->fraction_len = sign ? digit_run(text + at + sign) : 0;
    out->fraction = text + at + sign;
    out->len = at + (out->fraction_len ? sign + out->fraction_len : 0);
    return out->digits > 0 && out->digits <= DIGITS_MAX && last == GROUP;
}

static const struct thing *find_thing(const struct thing *things, size_t count, const char *iso,
                                      const char *sign)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(things[i].iso, iso) == 0 && strcmp(things[i].sign, sign) == 0)
            return &things[i];
    return NULL;
}

const struct thing *aloud_read_currency(const char *iso, const char *at, size_t *out_len)
{
    for (size_t i = 0; i < ARRAY_LEN(signs); i++) {
        size_t len = strlen(signs[i].written);
        if (strncmp(at, signs[i].written, len) != 0) /* it may end before so many bytes */
            continue;
        if (isalpha((unsigned char)at[len - 1]) && isalpha((unsigned char)at[len]))
            continue;
        *out_len = len;
        if (strcmp(iso, "es") == 0 && strcmp(signs[i].written, "$") == 0)
            return NULL; /* a dollar or one of many pesos */
        return find_thing(currencies, ARRAY_LEN(currencies), iso, signs[i].sign);
    }
    return NULL;
}

static const struct thing *read_unit(const char *iso, const char *at, size_t *out_len)
{
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        *out_len = strlen(units[i].sign);
        if (strcmp(units[i].iso, iso) == 0 && strncmp(at, units[i].sign, *out_len) == 0 &&
            aloud_is_end(at + *out_len))
            return &units[i];
    }
    return NULL;
}

int aloud_find_scale(const char *iso, const char *word, size_t len)
{
    for (size_t i = 0; i < ARRAY_LEN(scales); i++)
        if (strcmp(scales[i].iso, iso) == 0 && aloud_is_one_of(word, len, scales[i].words))
            return (int)i;
    return -1;
}

/* Reads "million" after a number. False: one that is not said here, or two ("lakh crore"). */
static bool read_scale(struct amount *amount, const char *at)
{
    const char *end = at + amount->len, *iso = amount->row->iso;
    size_t blank = aloud_blank_len(end), len = aloud_word_len(end + blank);
    int scale = blank ? aloud_find_scale(iso, end + blank, len) : -1;
    if (scale < 0)
        return true;
    amount->scale = end + blank;
    amount->scale_len = len;
    amount->len += blank + len;
    const char *next = at + amount->len + aloud_blank_len(at + amount->len);
    return scales[scale].is_said && aloud_find_scale(iso, next, aloud_word_len(next)) < 0;
}

/* "500/-", "€ 12,-": no hundredths. */
static size_t stroke_len(const char *at)
{
    static const char *const strokes[] = {"/-", ",--", ",-", ",–", ",—"};
    for (size_t i = 0; i < ARRAY_LEN(strokes); i++)
        if (strncmp(at, strokes[i], strlen(strokes[i])) == 0)
            return strlen(strokes[i]);
    return 0;
}

/* Whether a word is one of the forms of what is counted. */
static bool is_form(const char *forms, const char *word, size_t len)
{
    while (*forms) {
        size_t run = strcspn(forms, "|");
        if (run == len && strncmp(forms, word, len) == 0)
            return true;
        forms += run + (forms[run] == '|');
    }
    return false;
}

/* The currency that stands after "12,-", by its sign or its name. */
static const struct thing *read_stroked(const char *iso, const char *at, size_t *out_len)
{
    const struct thing *thing = aloud_read_currency(iso, at, out_len);
    size_t len = aloud_word_len(at);
    for (size_t i = 0; i < ARRAY_LEN(currencies) && !thing && len > 0; i++)
        if (strcmp(currencies[i].iso, iso) == 0 && is_form(currencies[i].forms, at, len)) {
            thing = &currencies[i];
            *out_len = len;
        }
    return thing;
}

static void read_stroke(struct amount *amount, const char *at)
{
    size_t stroke = stroke_len(at + amount->len), len = 0;
    size_t blank = stroke ? aloud_blank_len(at + amount->len + stroke) : 0;
    const char *next = at + amount->len + stroke + blank;
    amount->thing = stroke ? read_stroked(amount->row->iso, next, &len) : NULL;
    amount->is_money = amount->thing != NULL;
    amount->len += amount->is_money ? stroke + blank + len : 0;
}

/* What is counted, where it stands after the number. */
static void read_thing(struct amount *amount, const char *at)
{
    size_t blank = aloud_blank_len(at + amount->len), len;
    const char *next = at + amount->len + blank;
    if (*next == '%' && !amount->scale) {
        amount->is_percent = true;
        amount->len += blank + 1;
        return;
    }
    amount->thing = amount->scale ? NULL : read_unit(amount->row->iso, next, &len);
    if (!amount->thing) {
        amount->thing = aloud_read_currency(amount->row->iso, next, &len);
        amount->is_money = amount->thing != NULL;
    }
    if (amount->thing)
        amount->len += blank + len;
    else if (!amount->scale)
        read_stroke(amount, at);
}

/* "10-12", "₹500-₹1,000". False: a dash, but no span. */
static bool read_span(struct amount *amount, const char *at)
{
    size_t dash = aloud_dash_len(at + amount->len), sign = 0;
    if (!dash)
        return true;
    if (amount->is_money)
        (void)aloud_read_currency(amount->row->iso, at + amount->len + dash, &sign);
    const char *next = at + amount->len + dash + sign;
    amount->is_span = amount->row->to && aloud_read_number(amount->row, next, &amount->last) &&
                      amount->last.value > amount->first.value && *next != '0' && *at != '0';
    amount->len += dash + sign + amount->last.len;
    return amount->is_span && !aloud_dash_len(next + amount->last.len);
}

bool aloud_read_amount(const struct aloud *aloud, const char *at, struct amount *amount)
{
    size_t len = 0, minus = sign_len(at, "-");
    minus = minus ? minus : sign_len(at, "−");
    amount->thing = aloud_read_currency(amount->row->iso, at + minus, &len);
    amount->is_money = amount->thing != NULL;
    amount->is_negative = minus > 0 && (at == aloud->text || strchr(" (", at[-1]));
    amount->len = minus + (amount->is_money ? len + aloud_blank_len(at + minus + len) : 0);
    if ((minus && !amount->is_negative) ||
        !aloud_read_number(amount->row, at + amount->len, &amount->first))
        return false;
    amount->len += amount->first.len;
    if (!read_span(amount, at))
        return false;
    size_t before = amount->len;
    bool is_said = read_scale(amount, at);
    if (!amount->is_money)
        read_thing(amount, at);
    if (amount->scale && !amount->is_money) { /* "5 million" of something else is a plain 5 */
        amount->len = before;
        amount->scale = NULL;
        is_said = true;
    }
    if (amount->is_money)
        amount->len += stroke_len(at + amount->len);
    return is_said &&
           (aloud_is_end(at + amount->len) || (amount->is_money && at[amount->len] == '/'));
}

size_t aloud_sign_len(const char *text)
{
    static const char *const others[] = {"$", "¥", "¢", "৳", "฿", "﷼"};
    for (size_t i = 0; i < ARRAY_LEN(signs); i++)
        if (!isalpha((unsigned char)*text) && sign_len(text, signs[i].written))
            return strlen(signs[i].written);
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (sign_len(text, others[i]))
            return strlen(others[i]);
    bool is_block = text[0] == '\xe2' && (text[1] == '\x82' || text[1] == '\x83');
    bool is_currency = is_block && ((unsigned char)text[2] >= 0xa0 || text[1] == '\x83');
    return is_currency ? 3 : 0; /* U+20A0 to U+20FF */
}

bool aloud_is_currency(const char *at)
{
    size_t len = 0;
    (void)aloud_read_currency("", at, &len);
    return len > 0 || aloud_sign_len(at);
}

const struct numbers *aloud_numbers_of(const char *iso)
{
    for (size_t i = 0; i < ARRAY_LEN(all_numbers); i++)
        if (strcmp(all_numbers[i].iso, iso) == 0)
            return &all_numbers[i];
    return NULL;
}
